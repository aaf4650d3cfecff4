"""The manifest of an index: its source, configuration and contents, with the field names of Mimir."""

from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay import __version__
from scrubjay.code_index.bundle.paths import printable_path
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.index.statistics import left_out_of
from scrubjay.code_index.store import IndexedFile, IndexRecord

# Increment when a bundle of the same index would be read differently.
FORMAT = 1
PATHS: Mapping[str, str] = {
    "repomap": "repomap.json",
    "serena_graph": "serena_graph.jsonl",
    "leann_index": "leann.index",
    "vectors": "vectors.bin",
    "chunks": "chunks.json",
    "snippets": "snippets.jsonl",
    "vendor_types": "types/",
    "vendor_sources": "vendor_src/",
    "bundle": "bundle.tar.zst",
}


def build_manifest(record: IndexRecord, files: Sequence[IndexedFile], counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the manifest of an index; `counts` are those that the record lacks."""
    details, options = record.details, IndexOptions.of(record.options)
    return {
        "index_id": record.id,
        "repo": {
            "root": printable_path(record.root),
            "rev": record.commit or record.rev,
            "worktree_dirty": bool(details.get("dirty", 0)),
        },
        "config": {
            "languages": sorted({str(file.content.language) for file in files}),
            "excludes": list(options.excludes),
            "context_lines": options.context_lines,
            "max_files_to_embed": None,
            "features": options.features,
            "imports_policy": {"types_for_first_order": True, "code_for_direct_imports": True},
            "watch_mode": False,
        },
        "counts": {
            "files_total": len(files) + details.get("skipped", 0),
            "files_indexed": len(files),
            "symbols_defs": details.get("symbols", 0),
            "symbols_refs": details.get("edges", 0),
            **counts,
        },
        "files": {
            "left_out": [one._asdict() for one in left_out_of(details)],
            "sorts": dict(details.get("sorts", {})),
            "broken": list(details.get("broken", ())),
            "unparsed": dict(details.get("unparsed", {})),
        },
        "paths": dict(PATHS),
        # Mimir lists the version of each of its parts; here they are one program.
        "versions": {**dict.fromkeys(("repomapper", "serena", "leann", "mimir"), __version__), "format": FORMAT},
        "generation": record.generation,
        "created_at": record.created_at.isoformat(),
        "updated_at": record.updated_at.isoformat(),
    }
