"""What was said of files when they were changed: the subjects of commits, and which files each touched.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise, repeat
from math import log1p
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.words import identifiers_of, words_in
from scrubjay.code_index.path_text import path_from, path_text
from scrubjay.code_index.search.idf import rarity
from scrubjay.code_index.search.top_k import best
from scrubjay.code_index.search.word_index import WordIndex, as_bytes, from_bytes
from scrubjay.search_index.token_segments import length_norms, saturated_by, token

# So many of the commits that fit best tell of files.
BEST_COMMITS = 60
# What a commit says of a file is divided by how often that changed to this power.
CHANGED: Final = 0.25
# So many commits ago a change counts half.
HALF_AS_LIVELY = 3_000


class Touched(NamedTuple):
    """What is known of the files of a corpus by how they were changed."""

    rows: NDArray[np.int64]
    """By path, as a history numbers them, the file's row; -1 for one that is there no more."""
    lively: NDArray[np.float32]
    """By row how much a file is changed, of late more than before; the most lively has 1."""
    changed: NDArray[np.float32]
    """By row what is divided by what commits say: a file that changes all the time is in many by chance."""


class _Tokens(dict[str, tuple[int, ...]]):
    """The numbers of the words of each identifier: commits are about the same things again and again."""

    def __missing__(self, identifier: str) -> tuple[int, ...]:
        tokens = self[identifier] = tuple(map(token, words_in(identifier)))
        return tokens


class History:
    """The commits of a repository, the newest first."""

    def __init__(self, commits: Sequence[tuple[str, Sequence[str]]] = ()) -> None:
        self._names: list[str] = list(dict.fromkeys(path for _, paths in commits for path in paths))
        number_of = {path: number for number, path in enumerate(self._names)}
        self._numbers = np.array([number_of[path] for _, paths in commits for path in paths], dtype=np.int64)
        """What each commit touched, by the number of the name, one commit after the other."""
        self._firsts = np.cumsum([0, *(len(paths) for _, paths in commits)], dtype=np.int64)
        self._words = WordIndex()
        known = _Tokens()
        tokens, starts = list[int](), [0]
        for subject, _ in commits:
            for identifier in identifiers_of(subject):
                tokens += known[identifier]
            starts.append(len(tokens))
        self._words.add(np.array(starts), np.array(tokens, dtype=np.uint64), np.ones(len(tokens), dtype=np.uint8))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, to be kept."""
        return {
            **self._words.arrays(),
            "names": as_bytes([path_text(path) for path in self._names]),
            "touched": self._numbers,
            "first_touched": self._firsts,
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What was kept."""
        made = cls()
        made._names = [path_from(name) for name in from_bytes(arrays["names"])]
        made._numbers, made._firsts = arrays["touched"], arrays["first_touched"]
        made._words = WordIndex.of(arrays)
        return made

    def touched(self, row_of: Mapping[str, int], rows: int) -> Touched:
        """What is known of the files that have these rows."""
        found = np.fromiter(map(row_of.get, self._names, repeat(-1)), np.int64, len(self._names))
        here = found >= 0
        lively, changed = np.zeros(rows, dtype=np.float32), np.ones(rows, dtype=np.float32)
        lively[found[here]] = self._changes[here]
        changed[found[here]] += self._times[here]
        return Touched(found, lively / np.float32(lively.max(initial=0) or 1), changed**CHANGED)

    @cached_property
    def _changes(self) -> NDArray[np.float32]:
        found = [0.0] * len(self._names)
        firsts: list[int] = self._firsts.tolist()
        numbers: list[int] = self._numbers.tolist()
        for commit, (start, end) in enumerate(pairwise(firsts)):
            worth = 0.5 ** (commit / HALF_AS_LIVELY) / (end - start or 1) ** 0.5
            for number in numbers[start:end]:
                found[number] += worth
        return np.array([log1p(value) for value in found], dtype=np.float32)

    @cached_property
    def _times(self) -> NDArray[np.float32]:
        return np.bincount(self._numbers, minlength=len(self._names)).astype(np.float32)

    @cached_property
    def _norms(self) -> NDArray[np.float32]:
        """By commit what the length of its subject takes from how often a word occurs."""
        return length_norms(self._words.lengths, float(self._words.lengths.mean()))

    def files(self, words: Sequence[tuple[str, float]], touched: Touched) -> NDArray[np.float32]:
        """What the commit that fits these words best says for each file: 1 for the most that any says, if it has all.

        Not what all that fit say together, which is most for the files that change all the time.
        """
        said = np.zeros(len(touched.changed), dtype=np.float32)
        commits = len(self._firsts) - 1
        if not commits:
            return said
        scores, covered = np.zeros((2, commits), dtype=np.float32)
        total = 0.0
        for word, weight in words:
            had = self._words.having(token(word))
            worth = weight * rarity(commits, min(len(had.rows), commits))
            if not word.startswith("="):
                total += worth
            if len(had.rows):
                np.add.at(scores, had.rows, np.float32(worth) * saturated_by(had.counts, self._norms[had.rows]))
                if not word.startswith("="):
                    covered[had.rows] += np.float32(worth)  # once, where a subject has it twice
        covered /= np.float32(total or 1)
        scores *= covered
        telling = best(scores, BEST_COMMITS)
        starts = self._firsts[telling]
        sizes = self._firsts[telling + 1] - starts
        worths = scores[telling] / np.array([max(1, size) ** 0.5 for size in sizes.tolist()], dtype=np.float32)
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + sizes, sizes)
        rows, worths = touched.rows[self._numbers[places]], np.repeat(worths, sizes)
        np.maximum.at(said, rows[rows >= 0], worths[rows >= 0])
        said /= touched.changed
        most = float(covered[telling].max(initial=0))
        return said * np.float32(most**0.5 / (said.max(initial=0) or 1))
