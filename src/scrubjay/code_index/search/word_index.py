"""Which rows have which words, and how often, over rows that are only added.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json, to_json

Words = NDArray[np.uint64]
Rows = NDArray[np.int64]

# More parts than this cost a search more than putting them together.
MANY_PARTS = 8
# A part that is so many times as large as all others together stays as it is.
MUCH_MORE = 8


class _Part(NamedTuple):
    words: Words
    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    counts: NDArray[np.uint8]


class Occurrences(NamedTuple):
    """The rows that have a word, and how often."""

    rows: Rows
    counts: NDArray[np.float32]


class WordIndex:
    """The words of all rows, by word."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self.lengths: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        """How many words each row has, with repetition."""

    @property
    def rows(self) -> int:
        return len(self.lengths)

    def add(self, starts: NDArray[np.integer[Any]], words: Words, counts: NDArray[np.uint8]) -> None:
        """Add rows, given by where the words of each begin among all these words; one entry more than rows."""
        per_row = np.diff(starts)
        rows = np.repeat(np.arange(self.rows, self.rows + len(per_row), dtype=np.uint32), per_row)
        sums = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self.lengths = np.concatenate([self.lengths, np.diff(sums[starts]).astype(np.float32)])
        if len(words):
            self._parts.append(_by_word(words, rows, counts))
        if len(self._parts) > MANY_PARTS:
            first, *others = self._parts
            # What comes with single files is put together by itself: to order all words again takes long.
            is_little = MUCH_MORE * sum(len(part.rows) for part in others) < len(first.rows)
            self._parts = [first, _joined(others)] if is_little else [_joined(self._parts)]

    def having(self, word: int) -> Occurrences:
        """The rows that have this word, ascending."""
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

    def only(self, kept: NDArray[np.bool_]) -> "WordIndex":
        """Another one that has only these rows, one after the other."""
        made, part = WordIndex(), _joined(self._parts)
        made.lengths = self.lengths[kept]
        here = kept[part.rows]
        words = np.repeat(part.words, np.diff(part.starts))[here]
        rows = (np.cumsum(kept) - 1).astype(np.uint32)[part.rows[here]]
        made._parts = [_by_word(words, rows, part.counts[here])]
        return made

    def copied(self) -> "WordIndex":
        """Another one to which rows can be added while this one is asked."""
        made = copy(self)
        made._parts = list(self._parts)
        return made

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, to be kept."""
        part = _joined(self._parts)
        return {**part._asdict(), "lengths": self.lengths}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What was kept, without copying it."""
        made = cls()
        made._parts = [_Part(arrays["words"], arrays["starts"], arrays["rows"], arrays["counts"])]
        made.lengths = arrays["lengths"]
        return made


def as_bytes(data: Any) -> NDArray[np.uint8]:
    """Any data as JSON, to be kept beside arrays."""
    return np.frombuffer(to_json(data), dtype=np.uint8)


def from_bytes(array: NDArray[np.uint8]) -> Any:
    return from_json(array.tobytes())


def _by_word(words: Words, rows: NDArray[np.uint32], counts: NDArray[np.uint8]) -> _Part:
    return _in_order(words, rows, counts, _order(words))


def _in_order(
    words: Words, rows: NDArray[np.uint32], counts: NDArray[np.uint8], order: NDArray[np.integer[Any]]
) -> _Part:
    words = words[order]
    firsts = np.flatnonzero(np.concatenate([[True], words[1:] != words[:-1]])) if len(words) else np.empty(0, np.int64)
    return _Part(words[firsts], np.append(firsts, len(words)).astype(np.int64), rows[order], counts[order])


def _order(words: Words) -> NDArray[np.integer[Any]]:
    """The places of the words as a stable sort has them.

    Numbers are sorted several times as fast as places by numbers. So the place of each word is put where its last bits
    were: words are numbered at random, and next to never differ in their last bits alone.
    """
    bits = np.uint64(len(words).bit_length())
    places = words >> bits << bits
    places |= np.arange(len(words), dtype=np.uint64)
    places.sort()
    places &= (np.uint64(1) << bits) - np.uint64(1)
    order = places.astype(np.int64)
    found = words[order]
    return order if bool((found[:-1] <= found[1:]).all()) else words.argsort(kind="stable")


def _joined(parts: Sequence[_Part]) -> _Part:
    if len(parts) == 1:
        return parts[0]
    every = [np.repeat(part.words, np.diff(part.starts)) for part in parts]
    words = np.concatenate([np.empty(0, np.uint64), *every])
    return _in_order(
        words,
        np.concatenate([np.empty(0, np.uint32), *(part.rows for part in parts)]),
        np.concatenate([np.empty(0, np.uint8), *(part.counts for part in parts)]),
        words.argsort(kind="stable"),  # what is sorted in parts it puts together faster than anything else
    )
