"""What the uses in a file lead to, as bytes that are kept."""

import zlib

from pydantic_core import from_json, to_json

from recollect.codebase.path_text import path_from, path_text
from recollect.domain.code import Edge, Evidence, FileEdges, Unresolved, UseKind
from recollect.storage.code import KeptEdges

_KINDS = {kind.value: kind for kind in UseKind}
_EVIDENCE = {evidence.value: evidence for evidence in Evidence}


def packed_edges(found: FileEdges) -> bytes:
    paths = sorted({edge.path for edge in found.edges} | {*found.imports})
    place_of = {path: place for place, path in enumerate(paths)}
    edges = [
        (edge.source, place_of[edge.path], edge.target, edge.kind, edge.line, edge.evidence, round(edge.confidence, 3))
        for edge in found.edges
    ]
    names = [path_text(path) for path in paths]
    data = [names, [place_of[path] for path in found.imports], edges, found.unresolved]
    return zlib.compress(to_json(data), 1)


def kept_edges(found: FileEdges) -> KeptEdges:
    return KeptEdges(packed_edges(found), sorted({edge.path for edge in found.edges} | {*found.imports}))


def unpacked_edges(content: bytes) -> FileEdges:
    if not content:
        return FileEdges()
    names, imports, edges, unresolved = from_json(zlib.decompress(content))
    paths: list[str] = [path_from(name) for name in names]
    return FileEdges(
        [
            Edge(source, paths[place], target, _KINDS[kind], line, _EVIDENCE[evidence], confidence)
            for source, place, target, kind, line, evidence, confidence in edges
        ],
        [Unresolved(source, use, _KINDS[kind], line, external) for source, use, kind, line, external in unresolved],
        [paths[int(place)] for place in imports],
    )
