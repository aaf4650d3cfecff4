"""Which vectors are nearest to a question's: over rows in mapped segments and rows in memory, as one."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.search_index.exact_vectors import Exactly, ExactVectors
from scrubjay.search_index.native_nearest import cosines_of, nearest
from scrubjay.search_index.rotation import Rotation
from scrubjay.search_index.segment_file import UnusableFile
from scrubjay.search_index.vector_codes import (
    Codes,
    Kernel,
    Words,
    bits_of,
    centre_of,
    count_differences,
    dots_by,
    encode,
    lengths_of,
    planes_of,
    unpacked,
    words_for,
)

# Up to so many rows, each is compared byte by byte; of more, their bits choose first. With 100,000 both take 3 ms.
EXACT_ROWS = 50_000
# This share of all is chosen by the question's coarsest bits, and of these by all its bits so many as this other share,
# but never fewer than that. Of the ten nearest among a million vectors of random words, where nothing is similar to
# anything, .995 are then found in 17 ms; twice as many of each would find .998 in 20 ms.
COARSE_SHARE = 6
FINE_SHARE = 50
FEWEST = 10_000
CANDIDATES_PER_HIT = 20
# So many rows tell how many are within a distance.
_SAMPLE = 16_384
_COSINES_SAMPLED = 4096
# More tell nothing new about where the middle is.
_ROWS_FOR_CENTRE = 50_000
# By so much of its step a cosine of bytes may be wrong: five standard deviations.
ROUNDING = 1.5
MOST_UNSURE = 200
_FAR = 0xFFFF
_NO_BITS: Words = np.empty((0, 0), dtype=np.uint64)


class Nearest(NamedTuple):
    """Rows and their cosines, best first; of equal ones the earlier row first."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float64]


class _Part(NamedTuple):
    """Neighbouring rows. Their bits mean something only when there is a centre."""

    start: int
    codes: Codes
    bits: Words

    @property
    def end(self) -> int:
        return self.start + len(self.codes.scales)


class _Question(NamedTuple):
    vector: bytes
    codes: Codes


class VectorSegments:
    """The vectors of one model, numbered in the order they came. Rows are only added; which ones count, a mask tells.

    Mapped segments come first, then rows in memory. For one thread at a time.
    """

    def __init__(self, dimensions: int, *, kernel: Kernel | None = None) -> None:
        self._dimensions = dimensions
        self._rotation = Rotation(dimensions)
        self._dots = dots_by(kernel)
        self._centre: NDArray[np.float32] | None = None
        self._mapped: list[_Part] = []
        self._tail = _Tail(0, dimensions)
        self._nowhere: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._last_question: _Question | None = None
        self._exact = ExactVectors(dimensions)

    @property
    def rows(self) -> int:
        return self._tail.part.end

    # -- adding --------------------------------------------------------------------------------------

    def attach(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add the rows that `arrays_of` gave, without copying them."""
        if len(self._tail.part.codes.scales):
            raise ValueError("segments cannot follow rows that are only in memory")
        codes = Codes(arrays["directions"], arrays["scales"])
        if codes.directions.shape[1] != self._dimensions:
            raise UnusableFile(f"has vectors of {codes.directions.shape[1]} dimensions")
        if "centre" in arrays and self._centre is None:
            self._centralise(arrays["centre"])
        if self._centre is None:
            bits = _NO_BITS
        elif "centre" in arrays and np.array_equal(self._centre, arrays["centre"]):
            bits = arrays["bits"]
        else:
            bits = bits_of(codes, self._centre)
        part = _Part(self.rows, codes, bits)
        self._mapped.append(part)
        self._tail = _Tail(part.end, self._dimensions)
        self._note_nowhere(part)
        self._centralise_if_large()

    def append(self, vectors: Sequence[bytes]) -> None:
        """Add float16 vectors; an empty one takes a row too, and is never found."""
        if not vectors:
            return
        codes = encode(self._joined(vectors), self._rotation, self._dimensions)
        bits = _NO_BITS if self._centre is None else bits_of(codes, self._centre)
        part = _Part(self.rows, codes, bits)
        self._tail.add(part)
        self._note_nowhere(part)
        self._centralise_if_large()

    def arrays_of(self, rows: NDArray[np.int64], *, recentred: bool = False) -> dict[str, NDArray[Any]]:
        """What a segment with these rows (ascending) consists of; `recentred` when they are all there are."""
        codes = self._gather(rows)
        arrays: dict[str, NDArray[Any]] = {"directions": codes.directions, "scales": codes.scales}
        centre = self._centre
        if recentred:
            centre = centre_of(_sampled(codes)) if len(rows) > EXACT_ROWS else None
        return arrays if centre is None else arrays | {"bits": bits_of(codes, centre), "centre": centre}

    # -- asking --------------------------------------------------------------------------------------

    def nearest(
        self, query: bytes, limit: int, allowed: NDArray[np.bool_] | None = None, exactly: Exactly | None = None
    ) -> Nearest:
        """The rows most similar to the query, of those that the mask allows.

        Where bytes cannot tell which rows are the last to be among them, `exactly` is asked for their float16 vectors.
        """
        codes = self._encoded(query)
        slack = 0.0 if exactly is None else ROUNDING * 2 * float(codes.scales[0])
        if np.isnan(codes.scales[0]) or limit < 1 or not self.rows:
            return Nearest(np.empty(0, dtype=np.int64), np.empty(0))
        centre = self._centre
        if centre is None or self.rows <= EXACT_ROWS:
            cosines = np.empty(self.rows)
            for part in self._parts():
                self._compare_whole(codes, part, cosines[part.start : part.end])
            asked = None if exactly is None else unpacked(query, self._dimensions)[0]
            known = self._exact.values, self._exact.is_known
            if (found := nearest(cosines, allowed, limit, slack, MOST_UNSURE, asked, *known)) is not None:
                return Nearest(*found)
            rows = None if allowed is None else np.flatnonzero(allowed)
            cosines = cosines if rows is None else cosines[rows]
        else:
            if allowed is not None and np.count_nonzero(allowed) <= EXACT_ROWS:
                rows = np.flatnonzero(allowed)
            else:
                rows = self._candidates(codes, limit, allowed)
            cosines = self._compared(codes, self._gather(rows))
        near = (cosines >= _lowest_of_best(cosines, limit) - slack).nonzero()[0]
        rows, cosines = near if rows is None else rows[near], cosines[near]
        if exactly is not None and limit < len(rows) <= limit + MOST_UNSURE:
            rows, cosines = self._settled(query, rows, cosines, limit, slack, exactly)
        order = (-cosines).argsort(kind="stable")[:limit]
        return Nearest(rows[order], np.minimum(cosines[order], 1.0))

    def _settled(
        self,
        query: bytes,
        rows: NDArray[np.int64],
        cosines: NDArray[np.float64],
        limit: int,
        slack: float,
        exactly: Exactly,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The same without rows that only rounding put among the first."""
        ascending = cosines.copy()
        ascending.partition(len(cosines) - limit)
        is_sure = cosines > ascending[len(cosines) - limit] + slack
        sure, unsure = is_sure.nonzero()[0], (~is_sure).nonzero()[0]
        asked = unpacked(self._joined([query]), self._dimensions)
        exact = _refined(asked, self._exact.of(rows[unsure], self.rows, exactly))
        best = (-exact).argsort(kind="stable")[: limit - len(sure)]
        chosen = np.concatenate([sure, unsure[best]])
        found = np.concatenate([cosines[sure], exact[best]])
        order = chosen.argsort()
        return rows[chosen[order]], found[order]

    def cosines(self, query: bytes, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How similar these rows (in any order) are to the query; NaN where one of the two points nowhere."""
        return np.minimum(self._compared(self._encoded(query), self._gather(rows)), 1.0)

    def refine(self, query: bytes, vectors: Sequence[bytes]) -> NDArray[np.float64]:
        """How similar these float16 vectors are to the query, exactly; NaN where one of the two points nowhere."""
        values = unpacked(self._joined([query, *vectors]), self._dimensions)
        return _refined(values[:1], values[1:]) if vectors else np.empty(0)

    def values(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """These vectors as numbers, to be compared with `values_of_query`; NaN for one that points nowhere."""
        codes = self._gather(rows)
        return codes.directions * codes.scales[:, np.newaxis]

    def values_of_query(self, query: bytes) -> NDArray[np.float32]:
        codes = self._encoded(query)
        return codes.directions[0] * codes.scales[0]

    def _encoded(self, query: bytes) -> Codes:
        if self._last_question is None or self._last_question.vector != query:
            self._last_question = _Question(query, encode(self._joined([query]), self._rotation, self._dimensions))
        return self._last_question.codes

    def _joined(self, vectors: Sequence[bytes]) -> bytes:
        size = 2 * self._dimensions
        lengths = set(map(len, vectors))
        if not lengths <= {0, size}:
            raise ValueError(f"a vector has {size} bytes")
        if 0 not in lengths:
            return b"".join(vectors)
        return b"".join([vector or bytes(size) for vector in vectors])

    def _compare_whole(self, query: Codes, part: _Part, cosines: NDArray[np.float64]) -> None:
        """Write how similar all rows of a part are to the query."""
        directions, scales = part.codes
        if not cosines_of(directions, scales, query.directions[0], float(query.scales[0]), cosines):
            cosines[:] = self._compared(query, part.codes)

    def _compared(self, query: Codes, codes: Codes) -> NDArray[np.float64]:
        cosines = self._dots(query.directions[0], codes.directions) * codes.scales.astype(np.float64)
        cosines *= query.scales[0]
        return cosines

    def _candidates(self, query: Codes, limit: int, allowed: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        """The rows whose bits differ least from the query's, ascending."""
        high, middle, low = planes_of(query)
        wanted = max(FEWEST, self.rows // FINE_SHARE, CANDIDATES_PER_HIT * limit)
        differences = np.empty(self.rows, dtype=np.uint16)
        for part in self._parts():
            count_differences(part.bits, high, differences[part.start : part.end])
        differences[self._nowhere] = _FAR
        if allowed is not None:
            # 0 where allowed, all ones elsewhere: several times faster than choosing by a mask.
            differences |= (allowed.view(np.int8) - np.int8(1)).astype(np.int16).view(np.uint16)
        rows = np.flatnonzero(differences <= _least(differences, max(self.rows // COARSE_SHARE, 2 * wanted)))
        distances = 4 * differences[rows].astype(np.int32)
        for part in self._parts():
            here = slice(*np.searchsorted(rows, [part.start, part.end]))
            bits = part.bits.take(rows[here] - part.start, axis=1)  # by an index it would take three times as long
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

    def _parts(self) -> list[_Part]:
        """All parts in order; the one in memory only when there is something in it."""
        tail = self._tail.part
        return [*self._mapped, tail] if len(tail.codes.scales) or not self._mapped else self._mapped

    def _gather(self, rows: NDArray[np.int64]) -> Codes:
        parts = self._parts()
        if len(parts) == 1:
            return _taken(parts[0].codes, rows)
        if not (rows[1:] >= rows[:-1]).all():
            order = np.argsort(rows, kind="stable")
            places = np.empty_like(order)
            places[order] = np.arange(len(order))
            return _taken(self._gather(rows[order]), places)
        gathered = Codes(np.empty((len(rows), self._dimensions), dtype=np.int8), np.empty(len(rows), dtype=np.float32))
        taken = 0
        for part in parts:
            until = int(np.searchsorted(rows, part.end))
            here, local = slice(taken, until), rows[taken:until] - part.start
            # Told to clip, numpy writes into the result at once; there is nothing to clip.
            part.codes.directions.take(local, axis=0, out=gathered.directions[here], mode="clip")
            part.codes.scales.take(local, out=gathered.scales[here], mode="clip")
            taken = until
        return gathered

    def _note_nowhere(self, part: _Part) -> None:
        nowhere = np.flatnonzero(np.isnan(part.codes.scales))
        if len(nowhere):
            self._nowhere = np.concatenate([self._nowhere, nowhere + part.start])

    def _centralise_if_large(self) -> None:
        if self._centre is None and self.rows > EXACT_ROWS:
            self._centralise(centre_of(self._gather(np.arange(0, self.rows, _step(self.rows)))))

    def _centralise(self, centre: NDArray[np.float32]) -> None:
        self._centre = centre
        self._mapped = [part._replace(bits=bits_of(part.codes, centre)) for part in self._mapped]
        self._tail.centralise(centre)


class _Tail:
    """The rows in memory, with room for more."""

    def __init__(self, start: int, dimensions: int) -> None:
        self._start = start
        self._directions = np.empty((0, dimensions), dtype=np.int8)
        self._scales = np.empty(0, dtype=np.float32)
        self._bits = np.empty((words_for(dimensions), 0), dtype=np.uint64)
        self.part = self._first(0)

    def add(self, part: _Part) -> None:
        old, new = self.part, slice(part.start - self._start, part.end - self._start)
        if new.stop > len(self._scales):
            room = max(new.stop, 2 * len(self._scales), 64)
            self._directions = np.empty((room, self._directions.shape[1]), dtype=np.int8)
            self._scales = np.empty(room, dtype=np.float32)
            self._bits = np.empty((len(self._bits), room), dtype=np.uint64)
            self._put(slice(0, new.start), old)
        self._put(new, part)
        self.part = self._first(new.stop)

    def centralise(self, centre: NDArray[np.float32]) -> None:
        self.part.bits[:] = bits_of(self.part.codes, centre)

    def _first(self, count: int) -> _Part:
        return _Part(self._start, Codes(self._directions[:count], self._scales[:count]), self._bits[:, :count])

    def _put(self, place: slice, part: _Part) -> None:
        self._directions[place], self._scales[place] = part.codes
        if part.bits.size:
            self._bits[:, place] = part.bits


def _least(differences: NDArray[np.uint16], wanted: int) -> int:
    """A number of differences that about so many rows do not exceed; the greatest possible when there are too few."""
    sample = differences[:: max(1, len(differences) // _SAMPLE)]
    place = min(len(sample) - 1, len(sample) * wanted // len(differences))
    # Counted, which takes a tenth of sorting them: they are small numbers.
    return min(int(np.bincount(sample).cumsum().searchsorted(place, side="right")), _FAR - 1)


def _step(rows: int) -> int:
    return -(-rows // _ROWS_FOR_CENTRE)


def _sampled(codes: Codes) -> Codes:
    step = _step(len(codes.scales))
    return Codes(codes.directions[::step], codes.scales[::step])


def _taken(codes: Codes, rows: NDArray[np.int64]) -> Codes:
    return Codes(codes.directions.take(rows, axis=0), codes.scales.take(rows))


def _refined(asked: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cosines of one vector with others."""
    return np.vecdot(values, asked) / (lengths_of(values) * lengths_of(asked))


def _lowest_of_best(cosines: NDArray[np.float64], limit: int) -> float:
    """The cosine that the last of the best has; the lowest possible when there are not more than these."""
    # A part of them tells about where it is; then it is looked for among a few.
    step = max(1, len(cosines) // _COSINES_SAMPLED)
    place = 3 * limit // step + 12
    if place < len(cosines) // step:
        sample = -cosines[::step]
        sample.partition(place)
        about = -sample[place]
        above = cosines[cosines >= about]
        cosines = above if len(above) >= limit else cosines
    if len(cosines) <= limit:
        return -math.inf
    ascending = -cosines
    ascending.partition(limit - 1)
    worst = -float(ascending[limit - 1])
    return -math.inf if math.isnan(worst) else worst  # fewer than the limit point somewhere
