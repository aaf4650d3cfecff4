"""Score files by how well their names and folders match the words of a query.

This module imports numpy, which is slow to load.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from copy import copy
from operator import itemgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.tokenizer import tokenize
from scrubjay.code_index.search.word_index import as_bytes, from_bytes

# File names that do not describe the content; the folder's name is used instead.
_GENERIC_STEMS = frozenset({"__init__", "__main__", "index", "mod", "lib", "main"})
# Folder names that do not describe it either; the parent's name is used.
_GENERIC_FOLDERS = frozenset({"src", "lib", "source"})
# Weight of a match by prefix only.
_LONG_PREFIX_WEIGHT, _SHORT_PREFIX_WEIGHT = 0.8, 0.5
MIN_PREFIX = 3
LONG_PREFIX = 5
_SUFFIXES = re.compile(r"(?:\.(?:test|spec|d|min|config|stories))?\.[A-Za-z0-9]{1,10}$")


class PathScores(NamedTuple):
    """Scores of each file's path, 0 to 1."""

    query_share: NDArray[np.float32]
    """Weighted share of the query's words in the file name."""
    name_share: NDArray[np.float32]
    """Share of the file name's words in the query."""
    folder_share: NDArray[np.float32]
    """Weighted share of the query's words in the folder names."""


class _IntLists:
    """Lists of integers, stored concatenated."""

    def __init__(self) -> None:
        self._values: list[int] = []
        self._starts = [0]

    def __len__(self) -> int:
        return len(self._starts) - 1

    def add(self, values: Sequence[int]) -> None:
        self._values += values
        self._starts.append(len(self._values))

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the concatenated values and the start of each list, with one final entry."""
        if self._made is None or len(self._made[1]) != len(self._starts):
            self._made = np.array(self._values, dtype=np.int64), np.array(self._starts, dtype=np.int64)
        return self._made

    def copied(self) -> "_IntLists":
        made = copy(self)
        made._values, made._starts = list(self._values), list(self._starts)
        return made

    @classmethod
    def of(cls, values: NDArray[np.int64], starts: NDArray[np.int64]) -> Self:
        made = cls()
        made._values, made._starts = values.tolist(), starts.tolist()
        made._made = values, starts
        return made

    def containing(self, value: int) -> NDArray[np.int64]:
        """Return the lists that contain this value."""
        values, starts = self.arrays()
        if self._by_value is None or self._by_value[2] != len(values):
            owners = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(starts))
            bounds = [0, *np.cumsum(np.bincount(values)).tolist()]
            self._by_value = owners[values.argsort(kind="stable")], bounds, len(values)
        owners, bounds, _ = self._by_value
        return owners[bounds[value] : bounds[value + 1]] if value + 1 < len(bounds) else owners[:0]

    def max_of_each(self, worth: Mapping[int, float]) -> NDArray[np.float32]:
        """Return for each list the maximum worth of its values; 0 if none has a worth."""
        found = np.zeros(len(self), dtype=np.float32)
        for value, own in sorted(worth.items(), key=itemgetter(1)):
            found[self.containing(value)] = own
        return found

    def mean_of_each(self, worth: Mapping[int, float]) -> NDArray[np.float32]:
        """Return for each list the mean worth of its values; 0 for an empty list."""
        total = np.zeros(len(self), dtype=np.float32)
        for value, own in worth.items():
            total[self.containing(value)] += np.float32(own)
        return total / np.maximum(np.diff(self.arrays()[1]), 1).astype(np.float32)

    _by_value: tuple[NDArray[np.int64], list[int], int] | None = None
    """Lists containing each value, concatenated by value; where each value's lists begin; number of values indexed."""
    _made: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None


class PathIndex:
    """Words of file and folder names, one row per file."""

    def __init__(self) -> None:
        self._number_of: dict[str, int] = {}
        self._sorted: list[str] = []
        self._names = _IntLists()
        self._folders = _IntLists()

    def add(self, paths: Sequence[str]) -> None:
        folders_of: dict[str, list[int]] = {}
        """Words of each folder path; most folders have several files."""
        for path in paths:
            around, _, name = path.rpartition("/")
            folders = around.split("/") if around else []
            stem = _SUFFIXES.sub("", name)
            if stem in _GENERIC_STEMS:
                stem = next((each for each in reversed(folders) if each.lower() not in _GENERIC_FOLDERS), stem)
            self._names.add(self._numbers(stem))
            if (known := folders_of.get(around)) is None:
                known = folders_of[around] = [number for folder in folders for number in self._numbers(folder)]
            self._folders.add(known)

    def copied(self) -> "PathIndex":
        """Return a copy that can grow while this one is searched."""
        made = copy(self)
        made._number_of, made._sorted = dict(self._number_of), list(self._sorted)
        made._names, made._folders = self._names.copied(), self._folders.copied()
        return made

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the contents as arrays, for storing."""
        names, folders = self._names.arrays(), self._folders.arrays()
        return {
            "vocabulary": as_bytes(list(self._number_of)),
            "names": names[0],
            "name_starts": names[1],
            "folders": folders[0],
            "folder_starts": folders[1],
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore from stored arrays."""
        made = cls()
        made._number_of = {word: number for number, word in enumerate(from_bytes(arrays["vocabulary"]))}
        made._names = _IntLists.of(arrays["names"], arrays["name_starts"])
        made._folders = _IntLists.of(arrays["folders"], arrays["folder_starts"])
        return made

    def fit(self, words: Sequence[str], worth: Sequence[float]) -> PathScores:
        """Score all paths for these words, weighted by `worth`."""
        total = sum(worth)
        if not words or not total:
            nothing = np.zeros(len(self._names), dtype=np.float32)
            return PathScores(nothing, nothing, nothing)
        asked, folders = np.zeros((2, len(self._names)), dtype=np.float32)
        best: dict[int, float] = {}
        for word, own in zip(words, worth, strict=True):
            fits, share = self._fits(word), np.float32(own / total)
            asked += share * self._names.max_of_each(fits)
            folders += share * self._folders.max_of_each(fits)
            for number, fit in fits.items():
                best[number] = max(fit, best.get(number, 0.0))
        return PathScores(asked, self._names.mean_of_each(best), folders)

    def _numbers(self, name: str) -> list[int]:
        words = [word for word in dict.fromkeys(tokenize(name)) if not word.startswith("=")]
        return [self._number_of.setdefault(word, len(self._number_of)) for word in words]

    def _fits(self, word: str) -> dict[int, float]:
        """Return the known words that equal this one or share a prefix with it, with the weight of the match."""
        if len(self._sorted) != len(self._number_of):
            self._sorted = sorted(self._number_of)
        fits: dict[int, float] = {}
        if len(word) >= MIN_PREFIX:
            for length in range(MIN_PREFIX, len(word)):
                if (number := self._number_of.get(word[:length])) is not None:
                    fits[number] = _prefix_weight(length)
            place = bisect_left(self._sorted, word)
            while place < len(self._sorted) and self._sorted[place].startswith(word):
                fits[self._number_of[self._sorted[place]]] = _prefix_weight(len(word))
                place += 1
        if (number := self._number_of.get(word)) is not None:
            fits[number] = 1.0
        return fits


def _prefix_weight(length: int) -> float:
    return _LONG_PREFIX_WEIGHT if length >= LONG_PREFIX else _SHORT_PREFIX_WEIGHT
