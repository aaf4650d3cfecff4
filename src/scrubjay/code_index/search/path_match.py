"""Where files are: how well the names of a file and of its folders fit a question's words.

This module imports numpy, which takes a while: import it where it is needed.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from copy import copy
from operator import itemgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.words import words_of
from scrubjay.code_index.search.word_index import as_bytes, from_bytes

# Files that are named after what they are and not after what they are about: their folder tells that.
_NAMELESS = frozenset({"__init__", "__main__", "index", "mod", "lib", "main"})
# Nor does such a folder tell it, but the one around it.
_NAMELESS_FOLDERS = frozenset({"src", "lib", "source"})
# What a word is worth of which only the beginning is the same.
_LONG_BEGINNING, _SHORT_BEGINNING = 0.8, 0.5
LEAST_BEGINNING = 3
LONG = 5
_SUFFIXES = re.compile(r"(?:\.(?:test|spec|d|min|config|stories))?\.[A-Za-z0-9]{1,10}$")


class Fit(NamedTuple):
    """How well the place of each file fits, each from 0 to 1."""

    asked: NDArray[np.float32]
    """The share of the question's words, by what they are worth, that the file's name has."""
    named: NDArray[np.float32]
    """The share of the name's words that the question has."""
    folders: NDArray[np.float32]
    """The share of the question's words, by what they are worth, that its folders have."""


class _Lists:
    """Lists of numbers, one after the other."""

    def __init__(self) -> None:
        self._values: list[int] = []
        self._starts = [0]

    def __len__(self) -> int:
        return len(self._starts) - 1

    def add(self, values: Sequence[int]) -> None:
        self._values += values
        self._starts.append(len(self._values))

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers, and where each list begins among them; one entry more than there are lists."""
        if self._made is None or len(self._made[1]) != len(self._starts):
            self._made = np.array(self._values, dtype=np.int64), np.array(self._starts, dtype=np.int64)
        return self._made

    def copied(self) -> "_Lists":
        made = copy(self)
        made._values, made._starts = list(self._values), list(self._starts)
        return made

    @classmethod
    def of(cls, values: NDArray[np.int64], starts: NDArray[np.int64]) -> Self:
        made = cls()
        made._values, made._starts = values.tolist(), starts.tolist()
        made._made = values, starts
        return made

    def having(self, value: int) -> NDArray[np.int64]:
        """The lists that have this number."""
        values, starts = self.arrays()
        if self._by_value is None or self._by_value[2] != len(values):
            owners = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(starts))
            bounds = [0, *np.cumsum(np.bincount(values)).tolist()]
            self._by_value = owners[values.argsort(kind="stable")], bounds, len(values)
        owners, bounds, _ = self._by_value
        return owners[bounds[value] : bounds[value + 1]] if value + 1 < len(bounds) else owners[:0]

    def best_of_each(self, worth: Mapping[int, float]) -> NDArray[np.float32]:
        """Of each list the best of what its numbers are worth; 0 for one that has none of these."""
        found = np.zeros(len(self), dtype=np.float32)
        for value, own in sorted(worth.items(), key=itemgetter(1)):
            found[self.having(value)] = own
        return found

    def mean_of_each(self, worth: Mapping[int, float]) -> NDArray[np.float32]:
        """Of each list the mean of what its numbers are worth; 0 for an empty one."""
        total = np.zeros(len(self), dtype=np.float32)
        for value, own in worth.items():
            total[self.having(value)] += np.float32(own)
        return total / np.maximum(np.diff(self.arrays()[1]), 1).astype(np.float32)

    _by_value: tuple[NDArray[np.int64], list[int], int] | None = None
    """The lists that have each number, one number after the other, where those of each begin, and of how many."""
    _made: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None


class Places:
    """The names of files and folders; one row a file."""

    def __init__(self) -> None:
        self._number_of: dict[str, int] = {}
        self._sorted: list[str] = []
        self._names = _Lists()
        self._folders = _Lists()

    def add(self, paths: Sequence[str]) -> None:
        folders_of: dict[str, list[int]] = {}
        """What the folders of files say: of most there are several files."""
        for path in paths:
            around, _, name = path.rpartition("/")
            folders = around.split("/") if around else []
            stem = _SUFFIXES.sub("", name)
            if stem in _NAMELESS:
                stem = next((each for each in reversed(folders) if each.lower() not in _NAMELESS_FOLDERS), stem)
            self._names.add(self._numbers(stem))
            if (known := folders_of.get(around)) is None:
                known = folders_of[around] = [number for folder in folders for number in self._numbers(folder)]
            self._folders.add(known)

    def copied(self) -> "Places":
        """Another one to which files can be added while this one is asked."""
        made = copy(self)
        made._number_of, made._sorted = dict(self._number_of), list(self._sorted)
        made._names, made._folders = self._names.copied(), self._folders.copied()
        return made

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, to be kept."""
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
        """What was kept."""
        made = cls()
        made._number_of = {word: number for number, word in enumerate(from_bytes(arrays["vocabulary"]))}
        made._names = _Lists.of(arrays["names"], arrays["name_starts"])
        made._folders = _Lists.of(arrays["folders"], arrays["folder_starts"])
        return made

    def fit(self, words: Sequence[str], worth: Sequence[float]) -> Fit:
        """How well the places of all files fit these words, which are worth so much."""
        total = sum(worth)
        if not words or not total:
            nothing = np.zeros(len(self._names), dtype=np.float32)
            return Fit(nothing, nothing, nothing)
        asked, folders = np.zeros((2, len(self._names)), dtype=np.float32)
        best: dict[int, float] = {}
        for word, own in zip(words, worth, strict=True):
            fits, share = self._fits(word), np.float32(own / total)
            asked += share * self._names.best_of_each(fits)
            folders += share * self._folders.best_of_each(fits)
            for number, fit in fits.items():
                best[number] = max(fit, best.get(number, 0.0))
        return Fit(asked, self._names.mean_of_each(best), folders)

    def _numbers(self, name: str) -> list[int]:
        words = [word for word in dict.fromkeys(words_of(name)) if not word.startswith("=")]
        return [self._number_of.setdefault(word, len(self._number_of)) for word in words]

    def _fits(self, word: str) -> dict[int, float]:
        """How well known words fit this one, those that do: each is the same, or one begins with the other."""
        if len(self._sorted) != len(self._number_of):
            self._sorted = sorted(self._number_of)
        fits: dict[int, float] = {}
        if len(word) >= LEAST_BEGINNING:
            for length in range(LEAST_BEGINNING, len(word)):
                if (number := self._number_of.get(word[:length])) is not None:
                    fits[number] = _worth_of(length)
            place = bisect_left(self._sorted, word)
            while place < len(self._sorted) and self._sorted[place].startswith(word):
                fits[self._number_of[self._sorted[place]]] = _worth_of(len(word))
                place += 1
        if (number := self._number_of.get(word)) is not None:
            fits[number] = 1.0
        return fits


def _worth_of(length: int) -> float:
    return _LONG_BEGINNING if length >= LONG else _SHORT_BEGINNING
