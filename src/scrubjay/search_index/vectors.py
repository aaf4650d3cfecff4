"""Vector similarity for callers: cosines, and the nearest of many vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy_module("numpy")

Vector = Sequence[float]


def cosine(first: Vector, second: Vector) -> float:
    """Return the cosine of two vectors, -1 to 1.

    Raises `InvalidRequest` if one is empty, all zero or not finite, or if their lengths differ.
    """
    return cosines(first, [second])[0]


def cosines(query: Vector, many: Sequence[Vector]) -> list[float]:
    """Return the cosine of each vector with the query, in order; the same values as `cosine` returns."""
    direction = _directions([query], "the query", len(query))[0]
    if not len(many):
        return []
    # One product per row: a product with the whole matrix may sum equal rows differently, depending on their position,
    # and equal vectors would get different cosines.
    return np.vecdot(_directions(many, "vector {}", len(query)), direction).clip(-1, 1).tolist()


def top_k(query: Vector, many: Sequence[Vector], k: int) -> list[tuple[int, float]]:
    """Return the index and cosine of the k vectors most similar to the query, best first; ties in order."""
    if k < 1:
        raise InvalidRequest(f"cannot select {k} vectors", hint="ask for at least one")
    found = cosines(query, many)
    best = sorted(range(len(found)), key=lambda index: (-found[index], index))[:k]
    return [(index, found[index]) for index in best]


def _directions(vectors: Sequence[Vector], name: str, dimensions: int) -> "NDArray[np.float64]":
    """Return the vectors scaled to length 1, one per row."""
    for index, vector in enumerate(vectors):
        if len(vector) != dimensions:
            raise InvalidRequest(
                f"{name.format(index)} has {len(vector)} dimensions, and the query {dimensions}",
                hint="compare vectors of one model",
            )
    if not dimensions:
        raise InvalidRequest("the query is empty", hint="give it at least one number")
    try:
        values: NDArray[Any] = np.asarray(vectors)
    except ValueError:
        values = np.empty(0)
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise InvalidRequest("a vector must contain only numbers", hint="give sequences of numbers")
    # Scale by the largest value first, so that squaring neither overflows nor underflows.
    largest = np.abs(values.astype(np.float64)).max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        index = int(np.argmin(np.isfinite(largest)))
        raise InvalidRequest(f"{name.format(index)} is not finite", hint="replace NaN and infinite numbers")
    if not largest.all():
        index = int(np.argmin(largest))
        raise InvalidRequest(f"{name.format(index)} is all zero, so it has no direction", hint="leave it out")
    values = values.astype(np.float64) / largest
    return values / np.sqrt(np.vecdot(values, values))[:, np.newaxis]
