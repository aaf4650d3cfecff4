"""Facts and what the uses in files lead to, as bytes that are kept."""

import threading
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import zstandard
from pydantic_core import from_json, to_json

from scrubjay.code_index.facts.edge_rows import Rows
from scrubjay.code_index.models import Edge, Evidence, FileEdges, Span, Symbol, Unresolved, Use, UseKind
from scrubjay.code_index.path_text import path_from, path_text
from scrubjay.code_index.store import KeptEdges

# More would take longer and save next to nothing.
_LEVEL = 1
_KINDS = {kind.value: kind for kind in UseKind}
_EVIDENCE = {evidence.value: evidence for evidence in Evidence}


class _Tools(threading.local):
    """What packs and unpacks: making it takes longer than using it, and a thread must not use another's."""

    def __init__(self) -> None:
        self.packing = zstandard.ZstdCompressor(level=_LEVEL)
        self.unpacking = zstandard.ZstdDecompressor()


_tools = _Tools()


def compressed(content: bytes) -> bytes:
    return _tools.packing.compress(content)


def decompressed(content: bytes) -> bytes:
    return _tools.unpacking.decompress(content)


def columns(
    rows: Sequence[tuple[Any, ...]], kind: type[Symbol | Span | Use | Edge | Unresolved]
) -> list[Sequence[Any]]:
    """The first parts of all rows, then the second parts, and so on."""
    return [*zip(*rows, strict=True)] or [()] * len(kind._fields)


def values(members: Iterable[StrEnum]) -> list[str]:
    """How they are written."""
    return [member._value_ for member in members]


def kept_edges(found: FileEdges) -> KeptEdges:
    """What a file leads to; the first parts of all edges come first, then the second parts, and so on."""
    edges, unresolved = found.edges, found.unresolved
    sources, to, *others = edges.columns if isinstance(edges, Rows) else _edges_as_columns(edges)
    paths = sorted({*to, *found.imports})
    place_of = {path: place for place, path in enumerate(paths)}
    data = [
        [path_text(path) for path in paths],
        [place_of[path] for path in found.imports],
        [sources, [*map(place_of.__getitem__, to)], *others],
        unresolved.columns if isinstance(unresolved, Rows) else _unresolved_as_columns(unresolved),
    ]
    return KeptEdges(compressed(to_json(data)), paths)


def _edges_as_columns(edges: Sequence[Edge]) -> Sequence[Sequence[Any]]:
    sources, to, targets, kinds, lines, evidence, confidences = columns(edges, Edge)
    shares = [round(confidence, 3) for confidence in confidences]
    return sources, to, targets, values(kinds), lines, values(evidence), shares


def _unresolved_as_columns(unresolved: Sequence[Unresolved]) -> Sequence[Sequence[Any]]:
    using, uses, used, where, external = columns(unresolved, Unresolved)
    return using, uses, values(used), where, external


class EdgeColumns(NamedTuple):
    """What a file leads to, as it is kept: of all edges the first parts, then the second parts, and so on."""

    paths: Sequence[str]
    """The files that it leads to."""
    imports: Sequence[int]
    """Which of them it imports."""
    sources: Sequence[int]
    places: Sequence[int]
    """Which of the paths each edge leads to."""
    targets: Sequence[int]
    kinds: Sequence[str]
    lines: Sequence[int]
    evidence: Sequence[str]
    confidences: Sequence[float]


def edge_columns(content: bytes) -> EdgeColumns:
    """The edges that were packed, without making an object of each; for something that leads somewhere."""
    return _unpacked(content)[0]


def unpacked_edges(content: bytes) -> FileEdges:
    if not content:
        return FileEdges()
    edges, (using, uses, used, where, external) = _unpacked(content)
    at, kind = map(edges.paths.__getitem__, edges.places), map(_KINDS.__getitem__, edges.kinds)
    told_by = map(_EVIDENCE.__getitem__, edges.evidence)
    return FileEdges(
        [*map(Edge, edges.sources, at, edges.targets, kind, edges.lines, told_by, edges.confidences)],
        [*map(Unresolved, using, uses, map(_KINDS.__getitem__, used), where, external)],
        [edges.paths[place] for place in edges.imports],
    )


def _unpacked(content: bytes) -> tuple[EdgeColumns, Sequence[Any]]:
    names, imports, edges, unresolved = from_json(decompressed(content))
    return EdgeColumns([path_from(name) for name in names], imports, *edges), unresolved
