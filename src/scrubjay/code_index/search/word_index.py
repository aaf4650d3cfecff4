"""An append-only inverted index: the rows that contain each word, and how often.

This module imports numpy, which is slow to load.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json, to_json

Words = NDArray[np.uint64]
Rows = NDArray[np.int64]

# With more parts, searches cost more than merging.
MAX_PARTS = 8
# A first part this many times as large as all others together is not merged.
LARGE_PART_RATIO = 8


class _Postings(NamedTuple):
    words: Words
    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    counts: NDArray[np.uint8]


class Occurrences(NamedTuple):
    """The rows that contain a word, ascending, and how often each does."""

    rows: Rows
    counts: NDArray[np.float32]


class WordIndex:
    """Postings lists of words, in parts that are merged when there are many."""

    def __init__(self) -> None:
        self._parts: list[_Postings] = []
        self.lengths: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        """Number of words in each row, with repetitions."""

    @property
    def rows(self) -> int:
        return len(self.lengths)

    def add(self, starts: NDArray[np.integer[Any]], words: Words, counts: NDArray[np.uint8]) -> None:
        """Add rows; `starts` has the offset of each row's words in `words`, and one final entry."""
        per_row = np.diff(starts)
        rows = np.repeat(np.arange(self.rows, self.rows + len(per_row), dtype=np.uint32), per_row)
        sums = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self.lengths = np.concatenate([self.lengths, np.diff(sums[starts]).astype(np.float32)])
        if len(words):
            self._parts.append(_postings(words, rows, counts))
        if len(self._parts) > MAX_PARTS:
            first, *others = self._parts
            # Merge small parts among themselves: sorting all words again is slow.
            is_little = LARGE_PART_RATIO * sum(len(part.rows) for part in others) < len(first.rows)
            self._parts = [first, _merge(others)] if is_little else [_merge(self._parts)]

    def occurrences_of(self, word: int) -> Occurrences:
        """Return the rows that contain this word, ascending."""
        wanted = np.uint64(word)
        found: list[Occurrences] = []
        for part in self._parts:
            place = int(part.words.searchsorted(wanted))
            if place < len(part.words) and part.words[place] == wanted:
                here = slice(int(part.starts[place]), int(part.starts[place + 1]))
                found.append(Occurrences(part.rows[here].astype(np.int64), part.counts[here].astype(np.float32)))
        if len(found) == 1:
            return found[0]
        if not found:
            return Occurrences(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
        return Occurrences(np.concatenate([one.rows for one in found]), np.concatenate([one.counts for one in found]))

    def select(self, kept: NDArray[np.bool_]) -> "WordIndex":
        """Return a new index of the selected rows, renumbered from 0."""
        made, part = WordIndex(), _merge(self._parts)
        made.lengths = self.lengths[kept]
        here = kept[part.rows]
        words = np.repeat(part.words, np.diff(part.starts))[here]
        rows = (np.cumsum(kept) - 1).astype(np.uint32)[part.rows[here]]
        made._parts = [_postings(words, rows, part.counts[here])]
        return made

    def copied(self) -> "WordIndex":
        """Return a copy that can grow while this index is searched."""
        made = copy(self)
        made._parts = list(self._parts)
        return made

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the contents as arrays, for storing."""
        part = _merge(self._parts)
        return {**part._asdict(), "lengths": self.lengths}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore an index from stored arrays, without copying them."""
        made = cls()
        made._parts = [_Postings(arrays["words"], arrays["starts"], arrays["rows"], arrays["counts"])]
        made.lengths = arrays["lengths"]
        return made


def as_bytes(data: Any) -> NDArray[np.uint8]:
    """Encode JSON data as an array, so that it can be stored beside arrays."""
    return np.frombuffer(to_json(data), dtype=np.uint8)


def from_bytes(array: NDArray[np.uint8]) -> Any:
    return from_json(array.tobytes())


def _postings(words: Words, rows: NDArray[np.uint32], counts: NDArray[np.uint8]) -> _Postings:
    return _group_by_word(words, rows, counts, _stable_order(words))


def _group_by_word(
    words: Words, rows: NDArray[np.uint32], counts: NDArray[np.uint8], order: NDArray[np.integer[Any]]
) -> _Postings:
    words = words[order]
    firsts = np.flatnonzero(np.concatenate([[True], words[1:] != words[:-1]])) if len(words) else np.empty(0, np.int64)
    return _Postings(words[firsts], np.append(firsts, len(words)).astype(np.int64), rows[order], counts[order])


def _stable_order(words: Words) -> NDArray[np.integer[Any]]:
    """Return the indices that sort the words stably.

    Sorting values is several times as fast as argsort, so the low bits of each word are replaced by its index. Words
    are hashes, which almost never differ in their low bits only. Falls back to argsort if the result is not sorted.
    """
    bits = np.uint64(len(words).bit_length())
    places = words >> bits << bits
    places |= np.arange(len(words), dtype=np.uint64)
    places.sort()
    places &= (np.uint64(1) << bits) - np.uint64(1)
    order = places.astype(np.int64)
    found = words[order]
    return order if bool((found[:-1] <= found[1:]).all()) else words.argsort(kind="stable")


def _merge(parts: Sequence[_Postings]) -> _Postings:
    if len(parts) == 1:
        return parts[0]
    every = [np.repeat(part.words, np.diff(part.starts)) for part in parts]
    words = np.concatenate([np.empty(0, np.uint64), *every])
    return _group_by_word(
        words,
        np.concatenate([np.empty(0, np.uint32), *(part.rows for part in parts)]),
        np.concatenate([np.empty(0, np.uint8), *(part.counts for part in parts)]),
        words.argsort(kind="stable"),  # the stable sort merges presorted runs fastest
    )
