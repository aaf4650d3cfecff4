"""Words from the names of callers: code that uses a file is often named after the file's purpose.

This module imports numpy, which is slow to load.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.idf import idf
from scrubjay.code_index.search.use_columns import UseEdgeColumns
from scrubjay.code_index.search.word_index import WordIndex
from scrubjay.code_index.term_counts.counter import term_counter
from scrubjay.search_index.token_segments import MAX_COUNT, length_norms, saturate_with_norms, token

# Uses below this confidence are guesses and are ignored.
MIN_CONFIDENCE: Final = 0.5
# Compact when there are this many times as many rows as current ones.
COMPACTION_RATIO: Final = 2


class CallerWords:
    """Words from callers' names: one row for each pair of using and used file."""

    def __init__(self) -> None:
        self._words = WordIndex()
        """Number of callers in the row whose names contain a word."""
        self._using = np.empty(0, dtype=np.int32)
        """Corpus row of the using file, by row; -1 for a replaced row."""
        self._used = np.empty(0, dtype=np.int32)
        """Corpus row of the used file, by row, at the time the row was added."""

    def add(self, corpus: Corpus, uses: UseEdgeColumns) -> None:
        """Add the uses of some files; replaces their earlier uses."""
        self._mark_replaced(uses.files)
        users, used = _cross_file_uses(corpus, uses)
        if not len(users):
            return
        files = len(corpus.files)
        using = corpus.symbols.files[users].astype(np.int64)
        between, rows = np.unique(using * files + used, return_inverse=True)
        # Sorted; most callers use several files.
        first_of_each = np.flatnonzero(np.concatenate([[True], users[1:] != users[:-1]]))
        own: list[int] = users[first_of_each].tolist()
        of_users = [corpus.names[user] for user in own]
        place_of = {name: place for place, name in enumerate(dict.fromkeys(of_users))}
        names = term_counter().count([*place_of], [()] * len(place_of))
        places = np.fromiter(map(place_of.__getitem__, of_users), np.int64, len(of_users))
        places = np.repeat(places, np.diff(np.append(first_of_each, len(users))))
        sizes = np.diff(names.starts)[places]
        # Offset of each word of each caller's name among all words.
        firsts = np.repeat(names.starts[:-1][places] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
        known, numbers = np.unique(names.words, return_inverse=True)
        # Encode row and word in one number, to sort by row and then by word.
        both = np.repeat(rows, sizes) * max(1, len(known)) + numbers[firsts + np.arange(len(firsts))]
        both.sort()
        begins = np.flatnonzero(np.concatenate([[True], both[1:] != both[:-1]])) if len(both) else np.empty(0, np.int64)
        counts = np.minimum(np.diff(np.append(begins, len(both))), MAX_COUNT).astype(np.uint8)
        rows, words = np.divmod(both[begins], max(1, len(known)))
        self._words.add(np.searchsorted(rows, np.arange(len(between) + 1)), known[words], counts)
        self._using = np.concatenate([self._using, (between // files).astype(np.int32)])
        self._used = np.concatenate([self._used, (between % files).astype(np.int32)])

    def _mark_replaced(self, files: NDArray[np.int64]) -> None:
        self._using = np.where(np.isin(self._using, files), np.int32(-1), self._using)
        known = self._using >= 0
        if np.count_nonzero(known) * COMPACTION_RATIO < len(known):
            self._words = self._words.select(known)
            self._using, self._used = self._using[known], self._used[known]

    def copied(self) -> "CallerWords":
        """Return a copy that can grow while this one is searched."""
        made = copy(self)
        made._words = self._words.copied()
        return made

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the contents as arrays, for storing."""
        return {**self._words.arrays(), "using": self._using, "used": self._used}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore from stored arrays, without copying them."""
        made = cls()
        made._words = WordIndex.of(arrays)
        made._using, made._used = arrays["using"], arrays["used"]
        return made

    def for_files(self, corpus: Corpus) -> "FileCallerWords":
        """Return the words by current file of a corpus."""
        rows = np.arange(len(corpus.files))
        for row in np.flatnonzero(~corpus.alive).tolist():
            rows[row] = corpus.row_of.get(corpus.files[row].path, -1)
        known = self._using >= 0
        known[known] = corpus.alive[self._using[known]]
        used = np.full(len(known), -1)
        used[known] = rows[self._used[known]]
        return FileCallerWords(self._words, used, len(rows))


class FileCallerWords:
    """Words from the names of each file's callers, for one generation of a corpus."""

    def __init__(self, words: WordIndex, used: NDArray[np.integer[Any]], files: int) -> None:
        """`used` is the file of each row of `words`; -1 for none."""
        self._words = words
        self._places = used + 1
        """`used` plus 1, so that "none" is index 0."""
        self._files = files
        counts = used >= 0
        lengths = np.bincount(used[counts], words.lengths[counts], files).astype(np.float32)
        self._living = int(np.count_nonzero(lengths))
        self._norms = length_norms(lengths, float(lengths.sum()) / (self._living or 1))

    def fit(self, words: Sequence[tuple[str, float]]) -> NDArray[np.float32]:
        """Score each file by its callers' names: 1 for the best file if its callers have all the words."""
        scores, covered = np.zeros((2, self._files), dtype=np.float32)
        total = 0.0
        for word, weight in words:
            rows, counts = self._caller_counts(word)
            worth = weight * idf(max(1, self._living), len(rows))
            if len(rows):
                scores[rows] += np.float32(worth) * saturate_with_norms(counts, self._norms[rows])
            if not word.startswith("="):
                total += worth
                covered[rows] += np.float32(worth)
        share = float(covered.max(initial=0)) / (total or 1)
        return scores * np.float32(share**0.5 / (scores.max(initial=0) or 1))

    def _caller_counts(self, word: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the files with a caller whose name contains this word, and the number of such callers."""
        had = self._words.occurrences_of(token(word))
        if not len(had.rows):
            return had.rows, had.counts
        counts = np.bincount(self._places[had.rows], had.counts, self._files + 1)[1:]
        rows = np.flatnonzero(counts)
        return rows, counts[rows].astype(np.float32)


def _cross_file_uses(corpus: Corpus, uses: UseEdgeColumns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return unique pairs of a definition and another file that it uses."""
    users, files = uses.sources, len(corpus.files)
    kept = (uses.confidences >= MIN_CONFIDENCE) & (uses.target_files != uses.source_files)
    kept &= (users >= 0) & (users < len(corpus.names))
    # A file may have been indexed again: drop uses that no longer match its definitions.
    kept[kept] = corpus.symbols.files[users[kept]] == uses.source_files[kept]
    pairs = np.unique(users[kept] * files + uses.target_files[kept])
    return pairs // max(1, files), pairs % max(1, files)
