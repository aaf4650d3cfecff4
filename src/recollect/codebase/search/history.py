"""What was said of files when they were changed: the subjects of commits, and which files each touched.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from math import log1p
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from recollect.codebase.path_text import path_from, path_text
from recollect.codebase.search.best import best
from recollect.codebase.search.rarity import rarity
from recollect.codebase.search.word_index import WordIndex, as_bytes, from_bytes
from recollect.codebase.words import words_of
from recollect.storage.derived.token_segments import saturated, token

# So many of the commits that fit best tell of files.
BEST_COMMITS = 60
# What a commit says of a file is divided by how often that changed to this power.
CHANGED: Final = 0.25
# So many commits ago a change counts half.
HALF_AS_LIVELY = 3_000


class History:
    """The commits of a repository, the newest first."""

    def __init__(self, commits: Sequence[tuple[str, Sequence[str]]] = ()) -> None:
        self._paths: list[tuple[str, ...]] = [tuple(paths) for _, paths in commits]
        self._words = WordIndex()
        words = [words_of(subject) for subject, _ in commits]
        starts = np.concatenate([[0], np.cumsum([len(own) for own in words])]).astype(np.int64)
        tokens = np.array([token(word) for own in words for word in own], dtype=np.uint64)
        self._words.add(starts, tokens, np.ones(len(tokens), dtype=np.uint8))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, to be kept."""
        known = list(dict.fromkeys(path for paths in self._paths for path in paths))
        place_of = {path: place for place, path in enumerate(known)}
        return {
            **self._words.arrays(),
            "names": as_bytes([path_text(path) for path in known]),
            "touched": np.array([place_of[path] for paths in self._paths for path in paths], dtype=np.int64),
            "first_touched": np.cumsum([0, *map(len, self._paths)], dtype=np.int64),
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What was kept."""
        made = cls()
        names: list[str] = [path_from(name) for name in from_bytes(arrays["names"])]
        touched: list[int] = arrays["touched"].tolist()
        firsts: list[int] = arrays["first_touched"].tolist()
        made._paths = [tuple([names[place] for place in touched[start:end]]) for start, end in pairwise(firsts)]
        made._words = WordIndex.of(arrays)
        return made

    def lively(self, row_of: Mapping[str, int], rows: int) -> NDArray[np.float32]:
        """How much each file is changed, of late more than before; the most lively has 1."""
        found = np.zeros(rows, dtype=np.float32)
        for path, value in self._changes.items():
            if (row := row_of.get(path)) is not None:
                found[row] = value
        return found / np.float32(found.max(initial=0) or 1)

    @cached_property
    def _changes(self) -> Mapping[str, float]:
        found: dict[str, float] = {}
        for commit, paths in enumerate(self._paths):
            worth = 0.5 ** (commit / HALF_AS_LIVELY) / (len(paths) or 1) ** 0.5
            for path in paths:
                found[path] = found.get(path, 0.0) + worth
        return {path: log1p(value) for path, value in found.items()}

    @cached_property
    def _times(self) -> Mapping[str, int]:
        return Counter(chain.from_iterable(self._paths))

    def changed(self, row_of: Mapping[str, int], rows: int) -> NDArray[np.float32]:
        """By what is divided what commits say for each file: one that changes all the time is in many by chance."""
        found = np.ones(rows, dtype=np.float32)
        for path, times in self._times.items():
            if (row := row_of.get(path)) is not None:
                found[row] += times
        return found**CHANGED

    def files(
        self, words: Sequence[tuple[str, float]], row_of: Mapping[str, int], changed: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """What the commit that fits these words best says for each file: 1 for the most that any says, if it has all.

        Not what all that fit say together, which is most for the files that change all the time.
        """
        said = np.zeros(len(changed), dtype=np.float32)
        commits = len(self._paths)
        if not commits:
            return said
        scores, covered = np.zeros((2, commits), dtype=np.float32)
        average, total = float(self._words.lengths.mean()), 0.0
        for word, weight in words:
            had = self._words.having(token(word))
            worth = weight * rarity(commits, min(len(had.rows), commits))
            share = saturated(had.counts, self._words.lengths[had.rows], average)
            np.add.at(scores, had.rows, np.float32(worth) * share)
            if not word.startswith("="):
                total += worth
                covered[had.rows] += np.float32(worth)  # once, where a subject has it twice
        covered /= np.float32(total or 1)
        scores *= covered
        telling: list[int] = best(scores, BEST_COMMITS).tolist()
        for commit in telling:
            paths = self._paths[commit]
            worth = scores[commit] / len(paths) ** 0.5
            for path in paths:
                if (row := row_of.get(path)) is not None:
                    said[row] = max(said[row], worth)
        said /= changed
        most = max((float(covered[commit]) for commit in telling), default=0.0)
        return said * np.float32(most**0.5 / (said.max(initial=0) or 1))
