"""Vector maths for callers: how similar vectors are, and which of many are most similar to one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.core.errors import InvalidRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector = Sequence[float]


def cosine(first: Vector, second: Vector) -> float:
    """The cosine of the angle between two vectors, from -1 to 1.

    `InvalidRequest` when one is empty, all zero or not finite, or when their lengths differ.
    """
    return cosines(first, [second])[0]


def cosines(query: Vector, many: Sequence[Vector]) -> list[float]:
    """The cosine of each of many vectors with the query, in their order; the same ones as `cosine` gives."""
    import numpy as np

    direction = _directions([query], "the query", len(query))[0]
    if not len(many):
        return []
    # One product a row: a product with the whole matrix sums a row differently where it stands differently, and
    # equal vectors would not stay equal.
    return np.vecdot(_directions(many, "vector {}", len(query)), direction).clip(-1, 1).tolist()


def top_k(query: Vector, many: Sequence[Vector], k: int) -> list[tuple[int, float]]:
    """The places and cosines of the k vectors most similar to the query, best first; of equals the earlier first."""
    if k < 1:
        raise InvalidRequest(f"{k} vectors cannot be chosen", hint="ask for at least one")
    found = cosines(query, many)
    best = sorted(range(len(found)), key=lambda place: (-found[place], place))[:k]
    return [(place, found[place]) for place in best]


def _directions(vectors: Sequence[Vector], name: str, dimensions: int) -> "NDArray[np.float64]":
    """The vectors with length 1, one a row."""
    import numpy as np

    for place, vector in enumerate(vectors):
        if len(vector) != dimensions:
            raise InvalidRequest(
                f"{name.format(place)} has {len(vector)} dimensions, and the query {dimensions}",
                hint="compare vectors of one model",
            )
    if not dimensions:
        raise InvalidRequest("the query is empty", hint="give it at least one number")
    try:
        values: NDArray[Any] = np.asarray(vectors)
    except ValueError:
        values = np.empty(0)
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise InvalidRequest("a vector does not consist of numbers", hint="give sequences of numbers")
    # The largest becomes 1, so that neither huge nor tiny numbers are lost when they are squared.
    largest = np.abs(values.astype(np.float64)).max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        place = int(np.argmin(np.isfinite(largest)))
        raise InvalidRequest(f"{name.format(place)} is not finite", hint="replace NaN and infinite numbers")
    if not largest.all():
        place = int(np.argmin(largest))
        raise InvalidRequest(f"{name.format(place)} is all zero and points nowhere", hint="leave it out")
    values = values.astype(np.float64) / largest
    return values / np.sqrt(np.vecdot(values, values))[:, np.newaxis]
