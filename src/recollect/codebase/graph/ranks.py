"""How much the rest of a repository leads to each file and each symbol: PageRank over weighted edges."""

from collections.abc import Iterable, Mapping, Sequence
from math import log1p

from recollect.domain.code import Facts, FileEdges, UseKind

DAMPING = 0.85
MOST_ROUNDS = 60
CLOSE_ENOUGH = 1e-9
"""Summed over all: the order does not change any more long before."""

WEIGHTS: Mapping[UseKind, float] = {
    UseKind.CALL: 1.0,
    UseKind.NEW: 1.0,
    UseKind.INHERIT: 1.0,
    UseKind.DECORATE: 0.8,
    UseKind.RAISE: 0.6,
    UseKind.CATCH: 0.6,
    UseKind.TYPE: 0.5,
    UseKind.READ: 0.4,
    UseKind.WRITE: 0.3,
}


def file_ranks(edges: Mapping[str, FileEdges]) -> Mapping[str, float]:
    """The rank of each file; all together are 1."""
    paths = sorted(edges)
    place = {path: index for index, path in enumerate(paths)}
    weights: dict[tuple[int, int], float] = {}
    for path, own in edges.items():
        source = place[path]
        used: dict[str, float] = {}
        for edge in own.edges:
            if edge.path != path:
                used[edge.path] = used.get(edge.path, 0.0) + WEIGHTS[edge.kind] * edge.confidence
        for target in own.imports:
            used.setdefault(target, 0.0)
        for target, weight in used.items():
            if target in place:
                # An import counts as one use; the hundredth use of a file tells less than its first.
                weights[source, place[target]] = log1p(1.0 + weight)
    ranks = ranked(len(paths), ((source, target, weight) for (source, target), weight in sorted(weights.items())))
    return dict(zip(paths, ranks, strict=True))


def symbol_ranks(facts: Facts, edges: Mapping[str, FileEdges]) -> Mapping[str, Sequence[float]]:
    """The rank of each symbol, by file and place among the file's symbols; with the files' own all together are 1."""
    first: dict[str, int] = {}
    count = 0
    for path in sorted(facts):
        first[path] = count
        count += 1 + len(facts[path].symbols)  # the file itself comes first

    def weighted() -> Iterable[tuple[int, int, float]]:
        for path in sorted(edges):
            if path not in first:
                continue
            for edge in edges[path].edges:
                target = first.get(edge.path)
                if target is not None and (edge.path, edge.target) != (path, edge.source):
                    yield first[path] + 1 + edge.source, target + 1 + edge.target, WEIGHTS[edge.kind] * edge.confidence

    ranks = ranked(count, weighted())
    return {path: ranks[start + 1 : start + 1 + len(facts[path].symbols)] for path, start in first.items()}


def ranked(count: int, edges: Iterable[tuple[int, int, float]]) -> Sequence[float]:
    """The rank of each of so many nodes, by power iteration; what has no edges gives to all alike."""
    import numpy as np

    if not count:
        return []
    kept = list(edges)
    sources = np.fromiter((edge[0] for edge in kept), np.int64, len(kept))
    targets = np.fromiter((edge[1] for edge in kept), np.int64, len(kept))
    weights = np.fromiter((edge[2] for edge in kept), np.float64, len(kept))
    given = np.bincount(sources, weights, count)
    dangling = given == 0
    shares = weights / given[sources] if len(kept) else weights
    ranks = np.full(count, 1 / count)
    for _ in range(MOST_ROUNDS):
        moved = np.bincount(targets, shares * ranks[sources], count)
        following = (1 - DAMPING) / count + DAMPING * (moved + ranks[dangling].sum() / count)
        change = float(np.abs(following - ranks).sum())
        ranks = following
        if change < CLOSE_ENOUGH:
            break
    return [float(rank) for rank in ranks]
