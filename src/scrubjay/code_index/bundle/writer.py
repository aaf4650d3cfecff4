"""Writes all that is known of one state of an index into one file, which other machines can open."""

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
from pydantic_core import PydanticSerializationError, to_json

from scrubjay.code_index.bundle.build_log import EVENTS, events_of, log_page, until_complete
from scrubjay.code_index.bundle.dependencies import Dependencies, Vendored
from scrubjay.code_index.bundle.manifest import PATHS, manifest_of
from scrubjay.code_index.bundle.paths import printable_path
from scrubjay.code_index.bundle.status import completed_status
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.index.indexer import CONTEXT_LINES, IndexOptions, unknown_index
from scrubjay.code_index.models import Edge, FileEdges, FileFacts, SourceFile, Span, SymbolKind, Use, UseKind
from scrubjay.code_index.store import IndexedFile, IndexRecord
from scrubjay.core.progress import Reporter
from scrubjay.core.secrets import masked

if TYPE_CHECKING:
    from scrubjay.code_index.facts.digest import Digest
    from scrubjay.code_index.service import CodeService, Loaded

BUNDLE = PATHS["bundle"]
# Tells of which state the bundle is; there only while the bundle is whole.
STATE = "bundle.state"
# So many files are in memory at once.
BATCH = 100
# Zstandard's own default: stronger levels take longer than they save.
LEVEL = 3
# What a token is long, in bytes of code, more or less.
BYTES_PER_TOKEN = 4
_UNFINISHED = "writing-"
_CALLS = frozenset({UseKind.CALL, UseKind.NEW})
# In the order in which they stand in the bundle: who opens it knows the files before their texts come.
_ARTIFACTS = (
    "manifest.json",
    "status.json",
    "log.md",
    EVENTS,
    PATHS["repomap"],
    PATHS["chunks"],
    PATHS["leann_index"],
    PATHS["serena_graph"],
    PATHS["snippets"],
    PATHS["vectors"],
)


async def manifest(code: "CodeService", index_id: str) -> dict[str, Any]:
    """What the index is of and what it holds now."""
    import numpy as np

    loaded = await code.load(index_id)
    corpus = loaded.corpus
    alive = corpus.alive[corpus.chunks.files]
    vectors = int(np.count_nonzero(alive & ~np.isnan(corpus.vectors.codes.scales)))
    files = [corpus.files[row] for row in corpus.row_of.values()]
    return manifest_of(loaded.record, files, {"vectors": vectors, "chunks": int(np.count_nonzero(alive))})


async def log(code: "CodeService", index_id: str) -> str:
    """What happened while the index was built."""
    events = await anyio.to_thread.run_sync(events_of, code.indexer.folder / index_id)
    return log_page(index_id, events)


async def bundle(code: "CodeService", index_id: str, reporter: Reporter) -> Path:
    """The file with all of the index, as the index is now: at once when it was written before."""
    if await code.store.index(index_id) is None:
        raise unknown_index(index_id)
    # Nobody builds the index meanwhile, so that all parts are of one state.
    async with code.indexer.alone(index_id, reporter):
        loaded = await code.load(index_id)
        folder = code.indexer.folder / index_id
        if not await anyio.to_thread.run_sync(_is_of, folder, loaded.record):
            await _written(code, loaded, folder, reporter)
        return folder / BUNDLE


async def _written(code: "CodeService", loaded: "Loaded", folder: Path, reporter: Reporter) -> None:
    from scrubjay.code_index.facts.digest import unpacked
    from scrubjay.code_index.facts.packing import unpacked_edges

    corpus = loaded.corpus
    files = [corpus.files[corpus.row_of[path]] for path in sorted(corpus.row_of)]
    packed = await code.store.edges(loaded.record.id)

    def begin() -> "_Writing":
        _clear(folder)
        edges = {path: unpacked_edges(own) for path, own in packed.items()}
        return _Writing(loaded, files, edges, folder / f"{_UNFINISHED}{os.urandom(4).hex()}")

    writing = await anyio.to_thread.run_sync(begin)
    try:
        for start in range(0, len(files), BATCH):
            await reporter.report(100 * start / (len(files) + 1), 100, f"bundle: {start} of {len(files)} files")
            part = files[start : start + BATCH]
            digests = await code.store.digests(VERSION, list({file.content for file in part}))

            def add(part: Sequence[IndexedFile] = part, digests: Mapping[Any, bytes] = digests) -> None:
                read = {content: unpacked(digest) for content, digest in digests.items()}
                writing.add([(file, read[file.content]) for file in part if file.content in read])

            await anyio.to_thread.run_sync(add)
        await reporter.report(100 * len(files) / (len(files) + 1), 100, "bundle: packing")
        await anyio.to_thread.run_sync(writing.finish)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(writing.close)


def _is_of(folder: Path, record: IndexRecord) -> bool:
    try:
        return (folder / STATE).read_text("utf-8") == _state(record) and (folder / BUNDLE).is_file()
    except FileNotFoundError:
        return False


def _state(record: IndexRecord) -> str:
    from scrubjay.code_index.bundle.manifest import FORMAT

    return f"{FORMAT} {record.generation} {record.updated_at.isoformat()}\n"


def _clear(folder: Path) -> None:
    """Remove what a process that was killed left unfinished. Whoever calls holds the lock."""
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
class _Writing:
    """One bundle while it is written. Everything is on disk but one batch of files."""

    loaded: "Loaded"
    files: Sequence[IndexedFile]
    edges: Mapping[str, FileEdges]
    folder: Path
    _counts: _Counts = field(default_factory=_Counts, init=False)
    _empty: set[str] = field(default_factory=set[str], init=False)
    _opened: ExitStack = field(default_factory=ExitStack, init=False)
    _open: dict[str, IO[bytes]] = field(default_factory=dict[str, IO[bytes]], init=False)
    _dependencies: Dependencies = field(init=False)

    def __post_init__(self) -> None:
        from scrubjay.models.static_model import DIMENSIONS

        self.folder.mkdir(mode=0o700, parents=True)
        self._dependencies = Dependencies(Path(self.loaded.record.root))
        for name in ("serena_graph", "snippets", "chunks", "vectors"):
            self._open[name] = self._opened.enter_context((self.folder / PATHS[name]).open("wb"))
        self._open["chunks"].write(b"[")
        self._dimensions = DIMENSIONS
        # How many vectors there are is written over this at the end.
        self._open["vectors"].write(_two_numbers(0, DIMENSIONS))

    def add(self, batch: Sequence[tuple[IndexedFile, "Digest"]]) -> None:
        from scrubjay.code_index.discovery.contents import read_contents

        sources = {
            SourceFile(file.path, file.content.blob, file.size, file.content.language, file.traits, file.dirty): digest
            for file, digest in batch
        }
        for source, content in read_contents(self.loaded.place, sources):
            digest = sources[source]
            path = printable_path(source.path)
            self._add_graph(source.path, path, digest.facts, content)
            self._add_chunks(path, digest, content)
            if content is not None and not len(digest.searchable.spans):
                self._empty.add(source.path)
            self._dependencies.add(digest.facts)

    def finish(self) -> None:
        """Write the rest, pack it all, and give it its name."""
        record = self.loaded.record
        self._open["chunks"].write(b"\n]\n")
        self._open["vectors"].seek(0)
        self._open["vectors"].write(_two_numbers(self._counts.chunks, self._dimensions))
        self._opened.close()
        from_disk = not record.details.get("from_objects", False) and "opened_from" not in record.details
        vendored = list(self._dependencies.found()) if from_disk else []
        self._write_json(PATHS["repomap"], repository_map(self.files, self.edges, self._empty))
        self._write_json(PATHS["leann_index"], self._vector_index())
        events = until_complete(events_of(self.folder.parent), record.generation)
        (self.folder / EVENTS).write_bytes(b"".join(_line(event) for event in events))
        (self.folder / "log.md").write_text(log_page(record.id, events), "utf-8")
        self._write_json("status.json", completed_status(record))
        counts = {
            "vectors": self._counts.vectors,
            "chunks": self._counts.chunks,
            "snippets": self._counts.snippets,
            "files_without_text": self._counts.without_text,
            "vendor_types": sum(one.folder == "types" for one in vendored),
            "vendor_sources": sum(one.folder == "vendor_src" for one in vendored),
        }
        self._write_json("manifest.json", manifest_of(record, self.files, counts))
        whole = self.folder / BUNDLE
        _pack(whole, self.folder, vendored, int(record.updated_at.timestamp()))
        home = self.folder.parent
        (home / STATE).unlink(missing_ok=True)
        whole.replace(home / BUNDLE)
        state = self.folder / STATE
        state.write_text(_state(record), "utf-8")
        state.replace(home / STATE)

    def close(self) -> None:
        self._opened.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _add_graph(self, path: str, shown: str, facts: FileFacts, content: bytes | None) -> None:
        places = _Places(facts, content)
        names = _qualified_names(facts)
        lines: list[bytes] = []

        def put(what: str, symbol: str, span: Sequence[int], **more: Any) -> None:
            # All fields in every line, as clients of Mimir know them.
            said = {"sig": None, "caller": None, "callee": None, "from_module": None, **more}
            lines.append(_line({"type": what, "symbol": symbol, "path": shown, "span": span, **said}))

        for name, symbol in zip(names, facts.symbols, strict=True):
            span = [symbol.span.start, symbol.span.end]
            put("def", name, span, sig=symbol.signature, kind=symbol.kind, line=symbol.line)
        for one in facts.imports:
            put("import", one.name or one.module, places.of_line(one.line), from_module=one.module, line=one.line)
        for edge in self.edges.get(path, FileEdges()).edges:
            target = self._name_of(edge)
            put(
                "call" if edge.kind in _CALLS else "ref",
                target,
                places.of_use(edge, target.rpartition(".")[2]),
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
        import numpy as np

        searchable = digest.searchable
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
        for snippet in snippets_of(path, content, spans, lines_around):
            self._open["snippets"].write(_line(snippet))
            self._counts.snippets += 1

    def _vector_index(self) -> dict[str, Any]:
        from scrubjay.models.static_model import MODEL

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
    """Each file with how much of the repository leads to it, and which files use which."""
    from scrubjay.code_index.graph.pagerank import file_ranks

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


def snippets_of(
    path: str, content: bytes, spans: Sequence[Span], context_lines: int = CONTEXT_LINES
) -> Iterator[dict[str, Any]]:
    """The parts of a file, without secrets. `blank` before each and `text`, put together, are the whole file.

    A secret is masked in the file as a whole, so that one that a cut goes through is found too.
    """
    text = content.decode("utf-8", "replace")
    clean = masked(text)
    if clean != text:
        yield from _masked_snippets(path, clean, spans, context_lines)
        return
    lines = content.split(b"\n")
    end = 0
    for place, span in enumerate(spans):
        own = content[span.start : span.end]
        last = place == len(spans) - 1
        first, behind = max(0, span.first_line - 1), min(len(lines), span.last_line)
        yield {
            "path": path,
            "span": [span.start, span.end],
            "hash": hashlib.sha256(own).hexdigest(),
            "pre": _text(lines[max(0, first - context_lines) : first]),
            "text": own.decode("utf-8", "replace"),
            "post": _text(lines[behind : behind + context_lines]),
            "line_start": span.first_line,
            "line_end": span.last_line,
            "blank": content[end : span.start].decode("utf-8", "replace"),
            "tail": content[span.end :].decode("utf-8", "replace") if last else "",
        }
        end = span.end


def _masked_snippets(path: str, clean: str, spans: Sequence[Span], context_lines: int) -> Iterator[dict[str, Any]]:
    """The parts of a file in which something was masked: bytes are others then, so it is cut at lines."""
    lines = clean.split("\n")
    behind = 0
    for place, span in enumerate(spans):
        last = place == len(spans) - 1
        first = behind
        behind = len(lines) if last else max(first, min(len(lines), spans[place + 1].first_line - 1))
        if first == behind:
            continue
        own = "\n".join(lines[first:behind]) + ("" if last or behind == len(lines) else "\n")
        yield {
            "path": path,
            "span": [span.start, span.end],
            "hash": hashlib.sha256(own.encode()).hexdigest(),
            "pre": "\n".join(lines[max(0, first - context_lines) : first]),
            "text": own,
            "post": "\n".join(lines[behind : behind + context_lines]),
            "line_start": first + 1,
            "line_end": behind,
            "blank": "",
            "tail": "",
        }


class _Places:
    """Where in a file something is of which only the line is known."""

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

    def of_use(self, edge: Edge, name: str) -> list[int]:
        use = self._uses.get((edge.line, name))
        if use is not None:
            return [use.start, use.start + len(name.encode())]
        return self.of_line(edge.line)

    def of_line(self, line: int) -> list[int]:
        if self._content is None or not 1 <= line <= len(self._starts):
            return self._around(line)
        start = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._content)
        return [start, max(end, start + 1)]

    def _around(self, line: int) -> list[int]:
        """The smallest definition around the line, when the text cannot be had."""
        place = bisect_right([symbol.span.first_line for symbol in self._symbols], line) - 1
        if place < 0:
            return [0, 1]
        return [self._symbols[place].span.start, self._symbols[place].span.end]


def _last_name(path: str) -> str:
    return path.removesuffix("()").rpartition(".")[2]


def _qualified_names(facts: FileFacts) -> list[str]:
    names: list[str] = []
    for symbol in facts.symbols:
        around = names[symbol.container] if symbol.container >= 0 else ""
        # Headings and keys may say anything; other names are names.
        name = masked(symbol.name) if symbol.kind is SymbolKind.SECTION else symbol.name
        names.append(f"{around}.{name}" if around else name)
    return names


def _pack(target: Path, folder: Path, vendored: Iterable[Vendored], moment: int) -> None:
    """Everything in one archive; the same bytes whenever the parts are the same."""
    import zstandard

    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    with (
        target.open("wb") as file,
        compressor.stream_writer(file, closefd=False) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in _ARTIFACTS:
            part = folder / name
            with part.open("rb") as content:
                archive.addfile(_entry(name, part.stat().st_size, moment), content)
        for one in vendored:
            content = one.content()
            archive.addfile(_entry(one.name, len(content), moment), io.BytesIO(content))
    with target.open("rb") as file:
        os.fsync(file.fileno())


def _entry(name: str, size: int, moment: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, moment, 0o644
    return entry


def _two_numbers(first: int, second: int) -> bytes:
    return first.to_bytes(4, "little") + second.to_bytes(4, "little")


def _line(value: Mapping[str, Any]) -> bytes:
    try:
        return to_json(value) + b"\n"
    except PydanticSerializationError:  # text that is not Unicode, for which JSON has no place
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _text(lines: Sequence[bytes]) -> str:
    return b"\n".join(lines).decode("utf-8", "replace")
