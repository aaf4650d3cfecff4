"""By whom files are used: what uses something of a file is often named after what the file is for.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.idf import rarity
from scrubjay.code_index.search.use_columns import Uses
from scrubjay.code_index.search.word_index import WordIndex
from scrubjay.code_index.term_counts.counter import bags
from scrubjay.search_index.token_segments import MOST_COUNTED, length_norms, saturated_by, token

# A use that leads somewhere with less confidence than this is a guess.
SURE: Final = 0.5
# When there are so many times as many rows as are known, the others go.
MOST_FORGOTTEN: Final = 2


class Users:
    """The words of their names: one row for each two files of which one uses the other."""

    def __init__(self) -> None:
        self._words = WordIndex()
        """How many users of the row have a word in their names."""
        self._using = np.empty(0, dtype=np.int32)
        """By row the file that uses, as a row of the corpus; -1 where that is known anew."""
        self._used = np.empty(0, dtype=np.int32)
        """By row the file that is used; its row of the corpus when this was found."""

    def add(self, corpus: Corpus, uses: Uses) -> None:
        """Bring in what some files use, in the place of what they used before."""
        self._forget(uses.files)
        users, used = _between_files(corpus, uses)
        if not len(users):
            return
        files = len(corpus.files)
        using = corpus.symbols.files[users].astype(np.int64)
        between, rows = np.unique(using * files + used, return_inverse=True)
        # They ascend, and most use several files.
        first_of_each = np.flatnonzero(np.concatenate([[True], users[1:] != users[:-1]]))
        own: list[int] = users[first_of_each].tolist()
        of_users = [corpus.names[user] for user in own]
        place_of = {name: place for place, name in enumerate(dict.fromkeys(of_users))}
        names = bags().counted([*place_of], [()] * len(place_of))
        places = np.fromiter(map(place_of.__getitem__, of_users), np.int64, len(of_users))
        places = np.repeat(places, np.diff(np.append(first_of_each, len(users))))
        sizes = np.diff(names.starts)[places]
        # Where each word of each user's name is among all words.
        firsts = np.repeat(names.starts[:-1][places] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
        known, numbers = np.unique(names.words, return_inverse=True)
        # One number for a row and a word: sorted they are by row and then by word.
        both = np.repeat(rows, sizes) * max(1, len(known)) + numbers[firsts + np.arange(len(firsts))]
        both.sort()
        begins = np.flatnonzero(np.concatenate([[True], both[1:] != both[:-1]])) if len(both) else np.empty(0, np.int64)
        counts = np.minimum(np.diff(np.append(begins, len(both))), MOST_COUNTED).astype(np.uint8)
        rows, words = np.divmod(both[begins], max(1, len(known)))
        self._words.add(np.searchsorted(rows, np.arange(len(between) + 1)), known[words], counts)
        self._using = np.concatenate([self._using, (between // files).astype(np.int32)])
        self._used = np.concatenate([self._used, (between % files).astype(np.int32)])

    def _forget(self, files: NDArray[np.int64]) -> None:
        self._using = np.where(np.isin(self._using, files), np.int32(-1), self._using)
        known = self._using >= 0
        if np.count_nonzero(known) * MOST_FORGOTTEN < len(known):
            self._words = self._words.only(known)
            self._using, self._used = self._using[known], self._used[known]

    def copied(self) -> "Users":
        """Another one to which files can be added while this one is asked."""
        made = copy(self)
        made._words = self._words.copied()
        return made

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, to be kept."""
        return {**self._words.arrays(), "using": self._using, "used": self._used}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What was kept, without copying it."""
        made = cls()
        made._words = WordIndex.of(arrays)
        made._using, made._used = arrays["using"], arrays["used"]
        return made

    def of_files(self, corpus: Corpus) -> "UsersOfFiles":
        """The same for the files of a corpus as they are now."""
        rows = np.arange(len(corpus.files))
        for row in np.flatnonzero(~corpus.alive).tolist():
            rows[row] = corpus.row_of.get(corpus.files[row].path, -1)
        known = self._using >= 0
        known[known] = corpus.alive[self._using[known]]
        used = np.full(len(known), -1)
        used[known] = rows[self._used[known]]
        return UsersOfFiles(self._words, used, len(rows))


class UsersOfFiles:
    """What the names of its users say for each file."""

    def __init__(self, words: WordIndex, used: NDArray[np.integer[Any]], files: int) -> None:
        """`used` has for each row of the words the file that they are about; -1 for none."""
        self._words = words
        self._places = used + 1
        """The same, so that none comes first."""
        self._files = files
        counts = used >= 0
        lengths = np.bincount(used[counts], words.lengths[counts], files).astype(np.float32)
        self._living = int(np.count_nonzero(lengths))
        self._norms = length_norms(lengths, float(lengths.sum()) / (self._living or 1))

    def fit(self, words: Sequence[tuple[str, float]]) -> NDArray[np.float32]:
        """How well the users of each file fit these words: 1 for the best, if one has all of them."""
        scores, covered = np.zeros((2, self._files), dtype=np.float32)
        total = 0.0
        for word, weight in words:
            rows, counts = self._having(word)
            worth = weight * rarity(max(1, self._living), len(rows))
            if len(rows):
                scores[rows] += np.float32(worth) * saturated_by(counts, self._norms[rows])
            if not word.startswith("="):
                total += worth
                covered[rows] += np.float32(worth)
        share = float(covered.max(initial=0)) / (total or 1)
        return scores * np.float32(share**0.5 / (scores.max(initial=0) or 1))

    def _having(self, word: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The files of which a user has this word, and how many users."""
        had = self._words.having(token(word))
        if not len(had.rows):
            return had.rows, had.counts
        counts = np.bincount(self._places[had.rows], had.counts, self._files + 1)[1:]
        rows = np.flatnonzero(counts)
        return rows, counts[rows].astype(np.float32)


def _between_files(corpus: Corpus, uses: Uses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The definitions that use something of another file, and which file, each two once."""
    users, files = uses.sources, len(corpus.files)
    kept = (uses.confidences >= SURE) & (uses.target_files != uses.source_files)
    kept &= (users >= 0) & (users < len(corpus.names))
    # Of a file that was indexed again meanwhile, others are told than are known here.
    kept[kept] = corpus.symbols.files[users[kept]] == uses.source_files[kept]
    pairs = np.unique(users[kept] * files + uses.target_files[kept])
    return pairs // max(1, files), pairs % max(1, files)
