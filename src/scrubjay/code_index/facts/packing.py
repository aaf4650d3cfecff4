"""Pack facts and edges into compressed bytes."""

import threading
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import zstandard
from pydantic_core import from_json, to_json

from scrubjay.code_index.facts.edge_rows import LazyRows
from scrubjay.code_index.models import Edge, Evidence, FileEdges, Span, Symbol, Unresolved, Use, UseKind
from scrubjay.code_index.path_text import path_from, path_text
from scrubjay.code_index.store import StoredEdges

# Higher levels are slower and save almost nothing.
_LEVEL = 1
_KINDS = {kind.value: kind for kind in UseKind}
_EVIDENCE = {evidence.value: evidence for evidence in Evidence}


class _Codecs(threading.local):
    """Compressor and decompressor of a thread: they are costly to create and not thread-safe."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_codecs = _Codecs()


def compress(content: bytes) -> bytes:
    return _codecs.compressor.compress(content)


def decompress(content: bytes) -> bytes:
    return _codecs.decompressor.decompress(content)


def to_columns(
    rows: Sequence[tuple[Any, ...]], kind: type[Symbol | Span | Use | Edge | Unresolved]
) -> list[Sequence[Any]]:
    """Transpose rows into columns, one per field."""
    return [*zip(*rows, strict=True)] or [()] * len(kind._fields)


def enum_values(members: Iterable[StrEnum]) -> list[str]:
    """Return the values of enumeration members."""
    return [member._value_ for member in members]


def pack_edges(found: FileEdges) -> StoredEdges:
    """Pack the edges of a file; they are stored as columns."""
    edges, unresolved = found.edges, found.unresolved
    sources, to, *others = edges.columns if isinstance(edges, LazyRows) else _edges_as_columns(edges)
    paths = sorted({*to, *found.imports})
    position_of = {path: position for position, path in enumerate(paths)}
    data = [
        [path_text(path) for path in paths],
        [position_of[path] for path in found.imports],
        [sources, [*map(position_of.__getitem__, to)], *others],
        unresolved.columns if isinstance(unresolved, LazyRows) else _unresolved_as_columns(unresolved),
    ]
    return StoredEdges(compress(to_json(data)), paths)


def _edges_as_columns(edges: Sequence[Edge]) -> Sequence[Sequence[Any]]:
    sources, to, targets, kinds, lines, evidence, confidences = to_columns(edges, Edge)
    shares = [round(confidence, 3) for confidence in confidences]
    return sources, to, targets, enum_values(kinds), lines, enum_values(evidence), shares


def _unresolved_as_columns(unresolved: Sequence[Unresolved]) -> Sequence[Sequence[Any]]:
    using, uses, used, where, external = to_columns(unresolved, Unresolved)
    return using, uses, enum_values(used), where, external


class EdgeColumns(NamedTuple):
    """The edges of a file as columns, one value per edge."""

    paths: Sequence[str]
    """Files that the edges lead to."""
    imports: Sequence[int]
    """Positions in `paths` of the files that it imports."""
    sources: Sequence[int]
    places: Sequence[int]
    """Position in `paths` of each edge's target file."""
    targets: Sequence[int]
    kinds: Sequence[str]
    lines: Sequence[int]
    evidence: Sequence[str]
    confidences: Sequence[float]


def unpack_edge_columns(content: bytes) -> EdgeColumns:
    """Unpack edges without creating objects. `content` must not be empty."""
    return _unpack(content)[0]


def unpack_edges(content: bytes) -> FileEdges:
    if not content:
        return FileEdges()
    edges, (using, uses, used, where, external) = _unpack(content)
    at, kind = map(edges.paths.__getitem__, edges.places), map(_KINDS.__getitem__, edges.kinds)
    evidence = map(_EVIDENCE.__getitem__, edges.evidence)
    return FileEdges(
        [*map(Edge, edges.sources, at, edges.targets, kind, edges.lines, evidence, edges.confidences)],
        [*map(Unresolved, using, uses, map(_KINDS.__getitem__, used), where, external)],
        [edges.paths[place] for place in edges.imports],
    )


def _unpack(content: bytes) -> tuple[EdgeColumns, Sequence[Any]]:
    names, imports, edges, unresolved = from_json(decompress(content))
    return EdgeColumns([path_from(name) for name in names], imports, *edges), unresolved
