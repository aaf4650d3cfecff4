"""PageRank over the weighted edges of a repository."""

from collections.abc import Iterable, Mapping, Sequence
from math import log1p
from typing import TYPE_CHECKING

from scrubjay.code_index.models import FileEdges, UseKind
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy_module("numpy")

DAMPING = 0.85
MAX_ITERATIONS = 60
TOLERANCE = 1e-9
"""Stop when the ranks change by less than this in total; the order is stable long before."""

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
    """Return the rank of each file; the sum is 1."""
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
                # log1p: an import alone counts as one use, and the hundredth use of a file adds less than the first.
                weights[source, place[target]] = log1p(1.0 + weight)
    ranks = rank_nodes(len(paths), ((source, target, weight) for (source, target), weight in sorted(weights.items())))
    return dict(zip(paths, ranks, strict=True))


def rank_nodes(count: int, edges: Iterable[tuple[int, int, float]]) -> Sequence[float]:
    """Return the rank of each node by power iteration; a node without outgoing edges gives an equal share to all."""
    kept = list(edges)
    sources = np.fromiter((edge[0] for edge in kept), np.int64, len(kept))
    targets = np.fromiter((edge[1] for edge in kept), np.int64, len(kept))
    weights = np.fromiter((edge[2] for edge in kept), np.float64, len(kept))
    return rank_columns(count, sources, targets, weights).tolist()


def rank_columns(
    count: int, sources: "NDArray[np.int64]", targets: "NDArray[np.int64]", weights: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    """Like `ranked`, for edges in columns."""
    if not count:
        return np.empty(0)
    given = np.bincount(sources, weights, count)
    dangling = given == 0
    shares = weights / given[sources]
    ranks = np.full(count, 1 / count)
    for _ in range(MAX_ITERATIONS):
        moved = np.bincount(targets, shares * ranks[sources], count)
        following = (1 - DAMPING) / count + DAMPING * (moved + ranks[dangling].sum() / count)
        change = float(np.abs(following - ranks).sum())
        ranks = following
        if change < TOLERANCE:
            break
    return ranks
