"""Nearest-vector search over mapped segments and rows in memory."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.search_index.exact_vectors import ExactVectors, ReadVectors
from scrubjay.search_index.native_nearest import find_nearest, write_cosines
from scrubjay.search_index.rotation import Rotation
from scrubjay.search_index.segment_file import UnusableFile
from scrubjay.search_index.vector_codes import (
    Codes,
    Kernel,
    Words,
    compute_centre,
    count_differences,
    dot_product_by,
    encode,
    query_planes,
    sign_bits,
    unpack_vectors,
    vector_lengths,
    words_per_vector,
)

# Up to this many rows are compared by their bytes; above, bits preselect. At 100,000 rows both take 3 ms.
EXACT_ROWS = 50_000
# One in six rows is selected by the query's highest bits, then one in fifty of all by all of its bits, but at least
# `MIN_CANDIDATES`. Of the ten nearest among a million vectors of random words, where nothing is similar to anything,
# .995 are found in 17 ms; twice as many of each would find .998 in 20 ms.
COARSE_SHARE = 6
FINE_SHARE = 50
MIN_CANDIDATES = 10_000
CANDIDATES_PER_HIT = 20
# Rows sampled to estimate the distribution of differences.
_SAMPLE = 16_384
_COSINES_SAMPLED = 4096
# More rows do not change the centre noticeably.
_ROWS_FOR_CENTRE = 50_000
# Maximum error of a cosine from bytes, in units of its step: five standard deviations.
ROUNDING = 1.5
MAX_UNCERTAIN = 200
_FAR = 0xFFFF
_NO_BITS: Words = np.empty((0, 0), dtype=np.uint64)


class Nearest(NamedTuple):
    """Rows and their cosines, best first; ties in row order."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float64]


class _VectorRun(NamedTuple):
    """Consecutive rows. The bits are valid only if there is a centre."""

    start: int
    codes: Codes
    bits: Words

    @property
    def end(self) -> int:
        return self.start + len(self.codes.scales)


class _EncodedQuery(NamedTuple):
    vector: bytes
    codes: Codes


class VectorSegments:
    """The vectors of one model, in insertion order. Append-only; callers mask rows that were removed.

    Mapped segments precede the rows in memory. Not safe for concurrent use.
    """

    def __init__(self, dimensions: int, *, kernel: Kernel | None = None) -> None:
        self._dimensions = dimensions
        self._rotation = Rotation(dimensions)
        self._dots = dot_product_by(kernel)
        self._centre: NDArray[np.float32] | None = None
        self._mapped: list[_VectorRun] = []
        self._tail = _Tail(0, dimensions)
        self._invalid_rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._last_query: _EncodedQuery | None = None
        self._exact = ExactVectors(dimensions)

    @property
    def rows(self) -> int:
        return self._tail.part.end

    # -- adding --------------------------------------------------------------------------------------

    def attach(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add the rows of a segment made by `arrays_of`, without copying them."""
        if len(self._tail.part.codes.scales):
            raise ValueError("segments cannot follow rows that are only in memory")
        codes = Codes(arrays["directions"], arrays["scales"])
        if codes.directions.shape[1] != self._dimensions:
            raise UnusableFile(f"has vectors of {codes.directions.shape[1]} dimensions")
        if "centre" in arrays and self._centre is None:
            self._set_centre(arrays["centre"])
        if self._centre is None:
            bits = _NO_BITS
        elif "centre" in arrays and np.array_equal(self._centre, arrays["centre"]):
            bits = arrays["bits"]
        else:
            bits = sign_bits(codes, self._centre)
        part = _VectorRun(self.rows, codes, bits)
        self._mapped.append(part)
        self._tail = _Tail(part.end, self._dimensions)
        self._record_invalid(part)
        self._set_centre_if_large()

    def append(self, vectors: Sequence[bytes]) -> None:
        """Add float16 vectors; an empty one takes a row too, and is never found."""
        if not vectors:
            return
        codes = encode(self._join_vectors(vectors), self._rotation, self._dimensions)
        bits = _NO_BITS if self._centre is None else sign_bits(codes, self._centre)
        part = _VectorRun(self.rows, codes, bits)
        self._tail.add(part)
        self._record_invalid(part)
        self._set_centre_if_large()

    def arrays_of(self, rows: NDArray[np.int64], *, recentred: bool = False) -> dict[str, NDArray[Any]]:
        """Return the arrays of a segment with these rows (ascending); `recentred` if they are all rows."""
        codes = self._gather(rows)
        arrays: dict[str, NDArray[Any]] = {"directions": codes.directions, "scales": codes.scales}
        centre = self._centre
        if recentred:
            centre = compute_centre(_sample_codes(codes)) if len(rows) > EXACT_ROWS else None
        return arrays if centre is None else arrays | {"bits": sign_bits(codes, centre), "centre": centre}

    # -- queries -------------------------------------------------------------------------------------

    def nearest(
        self, query: bytes, limit: int, allowed: NDArray[np.bool_] | None = None, exactly: ReadVectors | None = None
    ) -> Nearest:
        """Return the allowed rows that are most similar to the query.

        Where bytes cannot decide which rows are the last of the best, their float16 vectors are read with `exactly`.
        """
        codes = self._encode_query(query)
        slack = 0.0 if exactly is None else ROUNDING * 2 * float(codes.scales[0])
        if np.isnan(codes.scales[0]) or limit < 1 or not self.rows:
            return Nearest(np.empty(0, dtype=np.int64), np.empty(0))
        centre = self._centre
        if centre is None or self.rows <= EXACT_ROWS:
            cosines = np.empty(self.rows)
            for part in self._parts():
                self._compare_whole(codes, part, cosines[part.start : part.end])
            exact_query = None if exactly is None else unpack_vectors(query, self._dimensions)[0]
            known = self._exact.values, self._exact.is_known
            if (found := find_nearest(cosines, allowed, limit, slack, MAX_UNCERTAIN, exact_query, *known)) is not None:
                return Nearest(*found)
            rows = None if allowed is None else np.flatnonzero(allowed)
            cosines = cosines if rows is None else cosines[rows]
        else:
            if allowed is not None and np.count_nonzero(allowed) <= EXACT_ROWS:
                rows = np.flatnonzero(allowed)
            else:
                rows = self._candidates(codes, limit, allowed)
            cosines = self._compare(codes, self._gather(rows))
        near = (cosines >= _limit_cosine(cosines, limit) - slack).nonzero()[0]
        rows, cosines = near if rows is None else rows[near], cosines[near]
        if exactly is not None and limit < len(rows) <= limit + MAX_UNCERTAIN:
            rows, cosines = self._resolve_uncertain(query, rows, cosines, limit, slack, exactly)
        order = (-cosines).argsort(kind="stable")[:limit]
        return Nearest(rows[order], np.minimum(cosines[order], 1.0))

    def _resolve_uncertain(
        self,
        query: bytes,
        rows: NDArray[np.int64],
        cosines: NDArray[np.float64],
        limit: int,
        slack: float,
        exactly: ReadVectors,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Replace the cosines of rows near the limit by exact ones, and drop the rows that then fall out."""
        ascending = cosines.copy()
        ascending.partition(len(cosines) - limit)
        is_sure = cosines > ascending[len(cosines) - limit] + slack
        sure, unsure = is_sure.nonzero()[0], (~is_sure).nonzero()[0]
        exact_query = unpack_vectors(self._join_vectors([query]), self._dimensions)
        exact = _exact_cosines(exact_query, self._exact.load(rows[unsure], self.rows, exactly))
        best = (-exact).argsort(kind="stable")[: limit - len(sure)]
        chosen = np.concatenate([sure, unsure[best]])
        found = np.concatenate([cosines[sure], exact[best]])
        order = chosen.argsort()
        return rows[chosen[order]], found[order]

    def cosines(self, query: bytes, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the cosines of these rows (in any order) with the query; NaN if one of the two is a zero vector."""
        return np.minimum(self._compare(self._encode_query(query), self._gather(rows)), 1.0)

    def refine(self, query: bytes, vectors: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the exact cosines of float16 vectors with the query; NaN if one of the two is a zero vector."""
        values = unpack_vectors(self._join_vectors([query, *vectors]), self._dimensions)
        return _exact_cosines(values[:1], values[1:]) if vectors else np.empty(0)

    def values(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return these vectors as numbers, comparable with `values_of_query`; NaN for a zero vector."""
        codes = self._gather(rows)
        return codes.directions * codes.scales[:, np.newaxis]

    def values_of_query(self, query: bytes) -> NDArray[np.float32]:
        codes = self._encode_query(query)
        return codes.directions[0] * codes.scales[0]

    def _encode_query(self, query: bytes) -> Codes:
        if self._last_query is None or self._last_query.vector != query:
            self._last_query = _EncodedQuery(
                query, encode(self._join_vectors([query]), self._rotation, self._dimensions)
            )
        return self._last_query.codes

    def _join_vectors(self, vectors: Sequence[bytes]) -> bytes:
        size = 2 * self._dimensions
        lengths = set(map(len, vectors))
        if not lengths <= {0, size}:
            raise ValueError(f"a vector has {size} bytes")
        if 0 not in lengths:
            return b"".join(vectors)
        return b"".join([vector or bytes(size) for vector in vectors])

    def _compare_whole(self, query: Codes, part: _VectorRun, cosines: NDArray[np.float64]) -> None:
        """Write the cosines of all rows of a run with the query."""
        directions, scales = part.codes
        if not write_cosines(directions, scales, query.directions[0], float(query.scales[0]), cosines):
            cosines[:] = self._compare(query, part.codes)

    def _compare(self, query: Codes, codes: Codes) -> NDArray[np.float64]:
        cosines = self._dots(query.directions[0], codes.directions) * codes.scales.astype(np.float64)
        cosines *= query.scales[0]
        return cosines

    def _candidates(self, query: Codes, limit: int, allowed: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        """Return the rows whose bits differ least from the query's, ascending."""
        high, middle, low = query_planes(query)
        wanted = max(MIN_CANDIDATES, self.rows // FINE_SHARE, CANDIDATES_PER_HIT * limit)
        differences = np.empty(self.rows, dtype=np.uint16)
        for part in self._parts():
            count_differences(part.bits, high, differences[part.start : part.end])
        differences[self._invalid_rows] = _FAR
        if allowed is not None:
            # 0 where allowed, all ones elsewhere: several times faster than selecting by a mask.
            differences |= (allowed.view(np.int8) - np.int8(1)).astype(np.int16).view(np.uint16)
        rows = np.flatnonzero(
            differences <= _difference_threshold(differences, max(self.rows // COARSE_SHARE, 2 * wanted))
        )
        distances = 4 * differences[rows].astype(np.int32)
        for part in self._parts():
            here = slice(*np.searchsorted(rows, [part.start, part.end]))
            bits = part.bits.take(rows[here] - part.start, axis=1)  # three times as fast as fancy indexing
            finer = np.empty(bits.shape[1], dtype=np.uint16)
            for plane, weight in ((middle, 2), (low, 1)):
                count_differences(bits, plane, finer)
                distances[here] += weight * finer.astype(np.int32)
        within = np.cumsum(np.bincount(distances, minlength=1))
        farthest = np.searchsorted(within, min(wanted, len(rows)))
        chosen = distances <= farthest
        surplus = np.count_nonzero(chosen) - wanted
        if surplus > 0:
            chosen[np.flatnonzero(distances == farthest)[-surplus:]] = False
        return rows[chosen]

    # -- parts ---------------------------------------------------------------------------------------

    def _parts(self) -> list[_VectorRun]:
        """Return all runs in order; the one in memory only if it is not empty."""
        tail = self._tail.part
        return [*self._mapped, tail] if len(tail.codes.scales) or not self._mapped else self._mapped

    def _gather(self, rows: NDArray[np.int64]) -> Codes:
        parts = self._parts()
        if len(parts) == 1:
            return _take(parts[0].codes, rows)
        if not (rows[1:] >= rows[:-1]).all():
            order = np.argsort(rows, kind="stable")
            positions = np.empty_like(order)
            positions[order] = np.arange(len(order))
            return _take(self._gather(rows[order]), positions)
        gathered = Codes(np.empty((len(rows), self._dimensions), dtype=np.int8), np.empty(len(rows), dtype=np.float32))
        taken = 0
        for part in parts:
            until = int(np.searchsorted(rows, part.end))
            here, local = slice(taken, until), rows[taken:until] - part.start
            # With mode="clip" numpy writes into `out` without a buffer; no index is out of range.
            part.codes.directions.take(local, axis=0, out=gathered.directions[here], mode="clip")
            part.codes.scales.take(local, out=gathered.scales[here], mode="clip")
            taken = until
        return gathered

    def _record_invalid(self, part: _VectorRun) -> None:
        invalid = np.flatnonzero(np.isnan(part.codes.scales))
        if len(invalid):
            self._invalid_rows = np.concatenate([self._invalid_rows, invalid + part.start])

    def _set_centre_if_large(self) -> None:
        if self._centre is None and self.rows > EXACT_ROWS:
            self._set_centre(compute_centre(self._gather(np.arange(0, self.rows, _step(self.rows)))))

    def _set_centre(self, centre: NDArray[np.float32]) -> None:
        self._centre = centre
        self._mapped = [part._replace(bits=sign_bits(part.codes, centre)) for part in self._mapped]
        self._tail.set_centre(centre)


class _Tail:
    """The rows in memory, with spare capacity."""

    def __init__(self, start: int, dimensions: int) -> None:
        self._start = start
        self._directions = np.empty((0, dimensions), dtype=np.int8)
        self._scales = np.empty(0, dtype=np.float32)
        self._bits = np.empty((words_per_vector(dimensions), 0), dtype=np.uint64)
        self.part = self._first(0)

    def add(self, part: _VectorRun) -> None:
        old, new = self.part, slice(part.start - self._start, part.end - self._start)
        if new.stop > len(self._scales):
            capacity = max(new.stop, 2 * len(self._scales), 64)
            self._directions = np.empty((capacity, self._directions.shape[1]), dtype=np.int8)
            self._scales = np.empty(capacity, dtype=np.float32)
            self._bits = np.empty((len(self._bits), capacity), dtype=np.uint64)
            self._put(slice(0, new.start), old)
        self._put(new, part)
        self.part = self._first(new.stop)

    def set_centre(self, centre: NDArray[np.float32]) -> None:
        self.part.bits[:] = sign_bits(self.part.codes, centre)

    def _first(self, count: int) -> _VectorRun:
        return _VectorRun(self._start, Codes(self._directions[:count], self._scales[:count]), self._bits[:, :count])

    def _put(self, target: slice, part: _VectorRun) -> None:
        self._directions[target], self._scales[target] = part.codes
        if part.bits.size:
            self._bits[:, target] = part.bits


def _difference_threshold(differences: NDArray[np.uint16], wanted: int) -> int:
    """Return a number of differences that about `wanted` rows do not exceed; the maximum if there are fewer rows."""
    sample = differences[:: max(1, len(differences) // _SAMPLE)]
    index = min(len(sample) - 1, len(sample) * wanted // len(differences))
    # Counting small numbers takes a tenth of the time of sorting them.
    return min(int(np.bincount(sample).cumsum().searchsorted(index, side="right")), _FAR - 1)


def _step(rows: int) -> int:
    return -(-rows // _ROWS_FOR_CENTRE)


def _sample_codes(codes: Codes) -> Codes:
    step = _step(len(codes.scales))
    return Codes(codes.directions[::step], codes.scales[::step])


def _take(codes: Codes, rows: NDArray[np.int64]) -> Codes:
    return Codes(codes.directions.take(rows, axis=0), codes.scales.take(rows))


def _exact_cosines(query: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the exact cosines of one vector with others."""
    return np.vecdot(values, query) / (vector_lengths(values) * vector_lengths(query))


def _limit_cosine(cosines: NDArray[np.float64], limit: int) -> float:
    """Return the cosine of the last of the `limit` best; -inf if there are not more rows than that."""
    # A sample estimates the value; then it is searched among the few above the estimate.
    step = max(1, len(cosines) // _COSINES_SAMPLED)
    index = 3 * limit // step + 12
    if index < len(cosines) // step:
        sample = -cosines[::step]
        sample.partition(index)
        about = -sample[index]
        above = cosines[cosines >= about]
        cosines = above if len(above) >= limit else cosines
    if len(cosines) <= limit:
        return -math.inf
    ascending = -cosines
    ascending.partition(limit - 1)
    worst = -float(ascending[limit - 1])
    return -math.inf if math.isnan(worst) else worst  # NaN: fewer than `limit` rows are valid
