"""Score files by commit history: the subjects of commits and the files that each changed.

This module imports numpy, which is slow to load.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise, repeat
from math import log1p
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.tokenizer import find_identifiers, tokenize_identifier
from scrubjay.code_index.path_text import path_from, path_text
from scrubjay.code_index.search.idf import idf
from scrubjay.code_index.search.top_k import top_k
from scrubjay.code_index.search.word_index import WordIndex, as_bytes, from_bytes
from scrubjay.search_index.token_segments import length_norms, saturate_with_norms, token

# Number of best matching commits that score files.
MAX_COMMITS = 60
# A file's score is divided by its number of changes to this power.
CHANGE_COUNT_EXPONENT: Final = 0.25
# Number of commits after which a change counts half.
ACTIVITY_HALF_LIFE = 3_000


class FileActivity(NamedTuple):
    """Change statistics of the files of a corpus."""

    rows: NDArray[np.int64]
    """Corpus row of each path of the history; -1 for a path that no longer exists."""
    activity: NDArray[np.float32]
    """Change frequency of each file, weighted towards recent changes; the maximum is 1."""
    divisors: NDArray[np.float32]
    """Divisor of each file's score: a file that changes often is in many commits by chance."""


class _TokenCache(dict[str, tuple[int, ...]]):
    """Caches the tokens of identifiers, which repeat in commit subjects."""

    def __missing__(self, identifier: str) -> tuple[int, ...]:
        tokens = self[identifier] = tuple(map(token, tokenize_identifier(identifier)))
        return tokens


class CommitHistory:
    """The commits of a repository, newest first."""

    def __init__(self, commits: Sequence[tuple[str, Sequence[str]]] = ()) -> None:
        self._names: list[str] = list(dict.fromkeys(path for _, paths in commits for path in paths))
        number_of = {path: number for number, path in enumerate(self._names)}
        self._numbers = np.array([number_of[path] for _, paths in commits for path in paths], dtype=np.int64)
        """Path numbers that each commit changed, concatenated."""
        self._firsts = np.cumsum([0, *(len(paths) for _, paths in commits)], dtype=np.int64)
        self._words = WordIndex()
        known = _TokenCache()
        tokens, starts = list[int](), [0]
        for subject, _ in commits:
            for identifier in find_identifiers(subject):
                tokens += known[identifier]
            starts.append(len(tokens))
        self._words.add(np.array(starts), np.array(tokens, dtype=np.uint64), np.ones(len(tokens), dtype=np.uint8))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the contents as arrays, for storing."""
        return {
            **self._words.arrays(),
            "names": as_bytes([path_text(path) for path in self._names]),
            "touched": self._numbers,
            "first_touched": self._firsts,
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore from stored arrays."""
        made = cls()
        made._names = [path_from(name) for name in from_bytes(arrays["names"])]
        made._numbers, made._firsts = arrays["touched"], arrays["first_touched"]
        made._words = WordIndex.of(arrays)
        return made

    def activity_of(self, row_of: Mapping[str, int], rows: int) -> FileActivity:
        """Return the change statistics of the files with these rows."""
        found = np.fromiter(map(row_of.get, self._names, repeat(-1)), np.int64, len(self._names))
        here = found >= 0
        lively, changed = np.zeros(rows, dtype=np.float32), np.ones(rows, dtype=np.float32)
        lively[found[here]] = self._activity[here]
        changed[found[here]] += self._change_counts[here]
        return FileActivity(found, lively / np.float32(lively.max(initial=0) or 1), changed**CHANGE_COUNT_EXPONENT)

    @cached_property
    def _activity(self) -> NDArray[np.float32]:
        found = [0.0] * len(self._names)
        firsts: list[int] = self._firsts.tolist()
        numbers: list[int] = self._numbers.tolist()
        for commit, (start, end) in enumerate(pairwise(firsts)):
            worth = 0.5 ** (commit / ACTIVITY_HALF_LIFE) / (end - start or 1) ** 0.5
            for number in numbers[start:end]:
                found[number] += worth
        return np.array([log1p(value) for value in found], dtype=np.float32)

    @cached_property
    def _change_counts(self) -> NDArray[np.float32]:
        return np.bincount(self._numbers, minlength=len(self._names)).astype(np.float32)

    @cached_property
    def _norms(self) -> NDArray[np.float32]:
        """BM25 length norm of each commit subject."""
        return length_norms(self._words.lengths, float(self._words.lengths.mean()))

    def scores(self, words: Sequence[tuple[str, float]], activity: FileActivity) -> NDArray[np.float32]:
        """Score each file by its best matching commit: 1 for the best if its subject has all the words.

        The best commit, not the sum over commits: a sum favours files that change all the time.
        """
        file_scores = np.zeros(len(activity.divisors), dtype=np.float32)
        commits = len(self._firsts) - 1
        if not commits:
            return file_scores
        scores, covered = np.zeros((2, commits), dtype=np.float32)
        total = 0.0
        for word, weight in words:
            had = self._words.occurrences_of(token(word))
            worth = weight * idf(commits, min(len(had.rows), commits))
            if not word.startswith("="):
                total += worth
            if len(had.rows):
                np.add.at(scores, had.rows, np.float32(worth) * saturate_with_norms(had.counts, self._norms[had.rows]))
                if not word.startswith("="):
                    covered[had.rows] += np.float32(worth)  # counted once, even if a subject repeats the word
        covered /= np.float32(total or 1)
        scores *= covered
        matching = top_k(scores, MAX_COMMITS)
        starts = self._firsts[matching]
        sizes = self._firsts[matching + 1] - starts
        worths = scores[matching] / np.array([max(1, size) ** 0.5 for size in sizes.tolist()], dtype=np.float32)
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + sizes, sizes)
        rows, worths = activity.rows[self._numbers[places]], np.repeat(worths, sizes)
        np.maximum.at(file_scores, rows[rows >= 0], worths[rows >= 0])
        file_scores /= activity.divisors
        coverage = float(covered[matching].max(initial=0))
        return file_scores * np.float32(coverage**0.5 / (file_scores.max(initial=0) or 1))
