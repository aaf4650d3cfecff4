"""Write one state of an index into a bundle: a single file that other machines can open."""

import hashlib
import io
import json
import os
import shutil
import tarfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import zstandard
from pydantic_core import PydanticSerializationError, to_json

from scrubjay.code_index.bundle.build_log import EVENTS_FILE, events_until_complete, read_events, render_log
from scrubjay.code_index.bundle.dependencies import Dependencies, VendoredFile
from scrubjay.code_index.bundle.manifest import FORMAT, PATHS, build_manifest
from scrubjay.code_index.bundle.paths import printable_path
from scrubjay.code_index.bundle.status import completed_status
from scrubjay.code_index.discovery.contents import read_contents
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.facts.packing import unpack_edges
from scrubjay.code_index.graph.pagerank import file_ranks
from scrubjay.code_index.index.options import CONTEXT_LINES, IndexOptions, unknown_index
from scrubjay.code_index.models import Edge, FileEdges, FileFacts, SourceFile, Span, SymbolKind, Use, UseKind
from scrubjay.code_index.store import IndexedFile, IndexRecord
from scrubjay.core.lazy import lazy_module
from scrubjay.core.progress import Reporter
from scrubjay.core.secrets import masked
from scrubjay.models.static_model import DIMENSIONS, MODEL

if TYPE_CHECKING:
    import numpy as np

    from scrubjay.code_index.facts import digest as digest_module
    from scrubjay.code_index.facts.digest import Digest
    from scrubjay.code_index.service import CodeService, LoadedIndex
else:
    np = lazy_module("numpy")
    digest_module = lazy_module("scrubjay.code_index.facts.digest")

BUNDLE_FILE = PATHS["bundle"]
# Names the state that the bundle was written from; present only while the bundle is complete.
STATE_FILE = "bundle.state"
# Number of files in memory at a time.
BATCH = 100
# Zstandard's default; higher levels take longer than they save.
COMPRESSION_LEVEL = 3
# Average length of a token, in bytes of code.
BYTES_PER_TOKEN = 4
_UNFINISHED = "writing-"
_CALLS = frozenset({UseKind.CALL, UseKind.NEW})
# In archive order: a reader knows the files before their texts arrive.
_ARTIFACTS = (
    "manifest.json",
    "status.json",
    "log.md",
    EVENTS_FILE,
    PATHS["repomap"],
    PATHS["chunks"],
    PATHS["leann_index"],
    PATHS["serena_graph"],
    PATHS["snippets"],
    PATHS["vectors"],
)


async def bundle_manifest(code: "CodeService", index_id: str) -> dict[str, Any]:
    """Return the manifest of the index in its present state."""
    loaded = await code.load(index_id)
    corpus = loaded.corpus
    alive = corpus.alive[corpus.chunks.files]
    vectors = int(np.count_nonzero(alive & ~np.isnan(corpus.chunk_vectors.codes.scales)))
    files = [corpus.files[row] for row in corpus.row_of.values()]
    return build_manifest(loaded.record, files, {"vectors": vectors, "chunks": int(np.count_nonzero(alive))})


async def bundle_log(code: "CodeService", index_id: str) -> str:
    """Return the build log of the index as Markdown."""
    events = await anyio.to_thread.run_sync(read_events, code.indexer.folder / index_id)
    return render_log(index_id, events)


async def write_bundle(code: "CodeService", index_id: str, reporter: Reporter) -> Path:
    """Write the bundle of the index in its present state, and return its path; at once if it was written before."""
    if await code.store.index(index_id) is None:
        raise unknown_index(index_id)
    # The lock keeps the index unchanged, so that all parts are of one state.
    async with code.indexer.lock(index_id, reporter):
        loaded = await code.load(index_id)
        folder = code.indexer.folder / index_id
        if not await anyio.to_thread.run_sync(_is_current, folder, loaded.record):
            await _write(code, loaded, folder, reporter)
        return folder / BUNDLE_FILE


async def _write(code: "CodeService", loaded: "LoadedIndex", folder: Path, reporter: Reporter) -> None:
    corpus = loaded.corpus
    files = [corpus.files[corpus.row_of[path]] for path in sorted(corpus.row_of)]
    packed = await code.store.edges(loaded.record.id)

    def begin() -> "_BundleWriter":
        _remove_unfinished(folder)
        edges = {path: unpack_edges(own) for path, own in packed.items()}
        return _BundleWriter(loaded, files, edges, folder / f"{_UNFINISHED}{os.urandom(4).hex()}")

    writing = await anyio.to_thread.run_sync(begin)
    try:
        for start in range(0, len(files), BATCH):
            await reporter.report(100 * start / (len(files) + 1), 100, f"bundle: {start} of {len(files)} files")
            part = files[start : start + BATCH]
            digests = await code.store.digests(VERSION, list({file.content for file in part}))

            def add(part: Sequence[IndexedFile] = part, digests: Mapping[Any, bytes] = digests) -> None:
                read = {content: digest_module.unpack_digest(digest) for content, digest in digests.items()}
                writing.add([(file, read[file.content]) for file in part if file.content in read])

            await anyio.to_thread.run_sync(add)
        await reporter.report(100 * len(files) / (len(files) + 1), 100, "bundle: packing")
        await anyio.to_thread.run_sync(writing.finish)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(writing.close)


def _is_current(folder: Path, record: IndexRecord) -> bool:
    try:
        return (folder / STATE_FILE).read_text("utf-8") == _state_line(record) and (folder / BUNDLE_FILE).is_file()
    except FileNotFoundError:
        return False


def _state_line(record: IndexRecord) -> str:
    return f"{FORMAT} {record.generation} {record.updated_at.isoformat()}\n"


def _remove_unfinished(folder: Path) -> None:
    """Remove what a killed process left unfinished. The caller holds the lock."""
    for left in folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left, ignore_errors=True)


@dataclass
class _Counts:
    chunks: int = 0
    vectors: int = 0
    snippets: int = 0
    tokens: int = 0
    without_text: int = 0


@dataclass
class _BundleWriter:
    """Writes one bundle. Only one batch of files is in memory."""

    loaded: "LoadedIndex"
    files: Sequence[IndexedFile]
    edges: Mapping[str, FileEdges]
    folder: Path
    _counts: _Counts = field(default_factory=_Counts, init=False)
    _empty: set[str] = field(default_factory=set[str], init=False)
    _opened: ExitStack = field(default_factory=ExitStack, init=False)
    _open: dict[str, IO[bytes]] = field(default_factory=dict[str, IO[bytes]], init=False)
    _dependencies: Dependencies = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True)
        self._dependencies = Dependencies(Path(self.loaded.record.root))
        for name in ("serena_graph", "snippets", "chunks", "vectors"):
            self._open[name] = self._opened.enter_context((self.folder / PATHS[name]).open("wb"))
        self._open["chunks"].write(b"[")
        self._dimensions = DIMENSIONS
        # The number of vectors is filled in at the end.
        self._open["vectors"].write(_vector_header(0, DIMENSIONS))

    def add(self, batch: Sequence[tuple[IndexedFile, "Digest"]]) -> None:
        sources = {
            SourceFile(file.path, file.content.blob, file.size, file.content.language, file.traits, file.dirty): digest
            for file, digest in batch
        }
        for source, content in read_contents(self.loaded.place, sources):
            digest = sources[source]
            path = printable_path(source.path)
            self._add_graph(source.path, path, digest.facts, content)
            self._add_chunks(path, digest, content)
            if content is not None and not len(digest.arrays.spans):
                self._empty.add(source.path)
            self._dependencies.add(digest.facts)

    def finish(self) -> None:
        """Write the remaining parts, pack the archive and move it into place."""
        record = self.loaded.record
        self._open["chunks"].write(b"\n]\n")
        self._open["vectors"].seek(0)
        self._open["vectors"].write(_vector_header(self._counts.chunks, self._dimensions))
        self._opened.close()
        from_disk = not record.details.get("from_objects", False) and "opened_from" not in record.details
        vendored = list(self._dependencies.vendored_files()) if from_disk else []
        self._write_json(PATHS["repomap"], repository_map(self.files, self.edges, self._empty))
        self._write_json(PATHS["leann_index"], self._vector_index())
        events = events_until_complete(read_events(self.folder.parent), record.generation)
        (self.folder / EVENTS_FILE).write_bytes(b"".join(_line(event) for event in events))
        (self.folder / "log.md").write_text(render_log(record.id, events), "utf-8")
        self._write_json("status.json", completed_status(record))
        counts = {
            "vectors": self._counts.vectors,
            "chunks": self._counts.chunks,
            "snippets": self._counts.snippets,
            "files_without_text": self._counts.without_text,
            "vendor_types": sum(one.folder == "types" for one in vendored),
            "vendor_sources": sum(one.folder == "vendor_src" for one in vendored),
        }
        self._write_json("manifest.json", build_manifest(record, self.files, counts))
        whole = self.folder / BUNDLE_FILE
        _pack(whole, self.folder, vendored, int(record.updated_at.timestamp()))
        home = self.folder.parent
        (home / STATE_FILE).unlink(missing_ok=True)
        whole.replace(home / BUNDLE_FILE)
        state = self.folder / STATE_FILE
        state.write_text(_state_line(record), "utf-8")
        state.replace(home / STATE_FILE)

    def close(self) -> None:
        self._opened.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _add_graph(self, path: str, shown: str, facts: FileFacts, content: bytes | None) -> None:
        finder = _SpanFinder(facts, content)
        names = _qualified_names(facts)
        lines: list[bytes] = []

        def put(entry_type: str, symbol: str, span: Sequence[int], **more: Any) -> None:
            # All fields in every line, as Mimir's clients expect.
            fields = {"sig": None, "caller": None, "callee": None, "from_module": None, **more}
            lines.append(_line({"type": entry_type, "symbol": symbol, "path": shown, "span": span, **fields}))

        for name, symbol in zip(names, facts.symbols, strict=True):
            span = [symbol.span.start, symbol.span.end]
            put("def", name, span, sig=symbol.signature, kind=symbol.kind, line=symbol.line)
        for one in facts.imports:
            put("import", one.name or one.module, finder.span_of_line(one.line), from_module=one.module, line=one.line)
        for edge in self.edges.get(path, FileEdges()).edges:
            target = self._name_of(edge)
            put(
                "call" if edge.kind in _CALLS else "ref",
                target,
                finder.span_of_use(edge, target.rpartition(".")[2]),
                caller=names[edge.source] if edge.source >= 0 else None,
                callee=f"{printable_path(edge.path)}::{target}",
                kind=edge.kind,
                line=edge.line,
                evidence=edge.evidence,
                confidence=edge.confidence,
            )
        self._open["serena_graph"].write(b"".join(lines))

    def _name_of(self, edge: Edge) -> str:
        corpus = self.loaded.corpus
        row = corpus.row_of.get(edge.path)
        if row is None or edge.target < 0:
            return ""
        return self.loaded.names.qualified(int(corpus.first_symbols[row]) + edge.target)

    def _add_chunks(self, path: str, digest: "Digest", content: bytes | None) -> None:
        searchable = digest.arrays
        spans = [Span(*span) for span in searchable.spans.tolist()]
        for span in spans:
            tokens = max(1, (span.end - span.start) // BYTES_PER_TOKEN)
            self._counts.tokens += tokens
            chunk = {
                "chunk_id": f"chunk_{self._counts.chunks}",
                "path": path,
                "span": [span.start, span.end],
                "lines": [span.first_line, span.last_line],
                "token_count": tokens,
            }
            start = b"\n" if self._counts.chunks == 0 else b",\n"
            self._open["chunks"].write(start + _line(chunk).removesuffix(b"\n"))
            self._counts.chunks += 1
        self._counts.vectors += int(np.count_nonzero(searchable.vectors.any(axis=1)))
        self._open["vectors"].write(searchable.vectors.astype("<f4").tobytes())
        if content is None:
            self._counts.without_text += 1
            return
        lines_around = IndexOptions.of(self.loaded.record.options).context_lines
        for snippet in make_snippets(path, content, spans, lines_around):
            self._open["snippets"].write(_line(snippet))
            self._counts.snippets += 1

    def _vector_index(self) -> dict[str, Any]:
        return {
            "chunk_count": self._counts.chunks,
            "dimension": self._dimensions,
            "total_tokens": self._counts.tokens,
            "model_name": MODEL,
            "created_at": self.loaded.record.updated_at.isoformat(),
        }

    def _write_json(self, name: str, value: Mapping[str, Any]) -> None:
        with (self.folder / name).open("w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, indent=1)
            file.write("\n")


def repository_map(
    files: Sequence[IndexedFile], edges: Mapping[str, FileEdges], empty: Container[str] = ()
) -> dict[str, Any]:
    """Return each file with its rank and dependencies, and the edges between files."""
    known = {file.path for file in files}
    ranks = file_ranks({path: edges.get(path, FileEdges()) for path in known})
    between: list[tuple[str, str, int, str]] = []
    users: Counter[str] = Counter()
    for path in sorted(known):
        own = edges.get(path, FileEdges())
        uses = Counter(edge.path for edge in own.edges if edge.path != path and edge.path in known)
        imported = {*own.imports} & known
        for target in sorted({*uses, *imported} - {path}):
            users[target] += 1
            between.append((path, target, max(1, uses[target]), "import" if target in imported else "use"))
    others = max(1, len(known) - 1)
    dependencies: dict[str, list[str]] = {}
    for source, target, _, _ in between:
        dependencies.setdefault(source, []).append(printable_path(target))
    return {
        "files": [
            {
                "path": printable_path(file.path),
                "rank": round(ranks[file.path], 9),
                "centrality": round(users[file.path] / others, 6),
                "dependencies": dependencies.get(file.path, []),
                "language": file.content.language,
                "traits": int(file.traits),
                "content_sha": file.content.blob,
                "bytes": file.size,
                "empty": file.path in empty,
            }
            for file in files
        ],
        "edges": [
            {"source": printable_path(source), "target": printable_path(target), "weight": float(weight), "type": kind}
            for source, target, weight, kind in between
        ],
    }


def make_snippets(
    path: str, content: bytes, spans: Sequence[Span], context_lines: int = CONTEXT_LINES
) -> Iterator[dict[str, Any]]:
    """Yield the chunks of a file with secrets masked. `blank` and `text` of all, joined, are the whole file.

    Secrets are masked in the whole file first, so that one that spans two chunks is found.
    """
    text = content.decode("utf-8", "replace")
    clean = masked(text)
    if clean != text:
        yield from _masked_snippets(path, clean, spans, context_lines)
        return
    lines = content.split(b"\n")
    end = 0
    for index, span in enumerate(spans):
        own = content[span.start : span.end]
        last = index == len(spans) - 1
        first, stop = max(0, span.first_line - 1), min(len(lines), span.last_line)
        yield {
            "path": path,
            "span": [span.start, span.end],
            "hash": hashlib.sha256(own).hexdigest(),
            "pre": _text(lines[max(0, first - context_lines) : first]),
            "text": own.decode("utf-8", "replace"),
            "post": _text(lines[stop : stop + context_lines]),
            "line_start": span.first_line,
            "line_end": span.last_line,
            "blank": content[end : span.start].decode("utf-8", "replace"),
            "tail": content[span.end :].decode("utf-8", "replace") if last else "",
        }
        end = span.end


def _masked_snippets(path: str, clean: str, spans: Sequence[Span], context_lines: int) -> Iterator[dict[str, Any]]:
    """Yield the chunks of a file in which something was masked. Masking shifts bytes, so they are cut at lines."""
    lines = clean.split("\n")
    stop = 0
    for index, span in enumerate(spans):
        last = index == len(spans) - 1
        first = stop
        stop = len(lines) if last else max(first, min(len(lines), spans[index + 1].first_line - 1))
        if first == stop:
            continue
        own = "\n".join(lines[first:stop]) + ("" if last or stop == len(lines) else "\n")
        yield {
            "path": path,
            "span": [span.start, span.end],
            "hash": hashlib.sha256(own.encode()).hexdigest(),
            "pre": "\n".join(lines[max(0, first - context_lines) : first]),
            "text": own,
            "post": "\n".join(lines[stop : stop + context_lines]),
            "line_start": first + 1,
            "line_end": stop,
            "blank": "",
            "tail": "",
        }


class _SpanFinder:
    """Finds the byte span of uses and lines of a file."""

    def __init__(self, facts: FileFacts, content: bytes | None) -> None:
        self._starts = [0]
        self._content = content
        if content is not None:
            found = content.find(b"\n")
            while found >= 0:
                self._starts.append(found + 1)
                found = content.find(b"\n", found + 1)
        self._symbols = facts.symbols
        self._uses: dict[tuple[int, str], Use] = {}
        for use in facts.uses:
            self._uses.setdefault((use.line, _last_name(use.path)), use)

    def span_of_use(self, edge: Edge, name: str) -> list[int]:
        use = self._uses.get((edge.line, name))
        if use is not None:
            return [use.start, use.start + len(name.encode())]
        return self.span_of_line(edge.line)

    def span_of_line(self, line: int) -> list[int]:
        if self._content is None or not 1 <= line <= len(self._starts):
            return self._enclosing_span(line)
        start = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._content)
        return [start, max(end, start + 1)]

    def _enclosing_span(self, line: int) -> list[int]:
        """Return the smallest definition around the line; used when the text is unavailable."""
        index = bisect_right([symbol.span.first_line for symbol in self._symbols], line) - 1
        if index < 0:
            return [0, 1]
        return [self._symbols[index].span.start, self._symbols[index].span.end]


def _last_name(path: str) -> str:
    return path.removesuffix("()").rpartition(".")[2]


def _qualified_names(facts: FileFacts) -> list[str]:
    names: list[str] = []
    for symbol in facts.symbols:
        around = names[symbol.container] if symbol.container >= 0 else ""
        # Headings and keys may contain secrets; other names are identifiers.
        name = masked(symbol.name) if symbol.kind is SymbolKind.SECTION else symbol.name
        names.append(f"{around}.{name}" if around else name)
    return names


def _pack(target: Path, folder: Path, vendored: Iterable[VendoredFile], moment: int) -> None:
    """Pack everything into one archive; equal parts give equal bytes."""
    compressor = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, write_checksum=True)
    with (
        target.open("wb") as file,
        compressor.stream_writer(file, closefd=False) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in _ARTIFACTS:
            part = folder / name
            with part.open("rb") as content:
                archive.addfile(_tar_entry(name, part.stat().st_size, moment), content)
        for one in vendored:
            content = one.content()
            archive.addfile(_tar_entry(one.name, len(content), moment), io.BytesIO(content))
    with target.open("rb") as file:
        os.fsync(file.fileno())


def _tar_entry(name: str, size: int, moment: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, moment, 0o644
    return entry


def _vector_header(first: int, second: int) -> bytes:
    return first.to_bytes(4, "little") + second.to_bytes(4, "little")


def _line(value: Mapping[str, Any]) -> bytes:
    try:
        return to_json(value) + b"\n"
    except PydanticSerializationError:  # text that is not Unicode
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _text(lines: Sequence[bytes]) -> str:
    return b"\n".join(lines).decode("utf-8", "replace")
