"""Which rows are candidates: the best by their words, those next to them, and whatever else was found.

What the compiled part does here, numpy does where there is none, with the same result.
"""

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.native.library import library
from scrubjay.search_index.neighbourhood import REACH
from scrubjay.search_index.row_columns import NONE, RowColumns

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]

# Those next to a match may be the answer to it, without having a word of it.
NEXT_TO_MATCHES = 2
_WIDTH = 2 * REACH + 1
_TINY = np.finfo(np.float32).tiny


class Word(NamedTuple):
    """What one word says of rows, to somebody who may see some of them."""

    texts: int
    """How many have it, of those that may be seen."""
    rows: Rows | None
    """The rows that have it; None for one that stands for all rows."""
    shares: Scores
    """What it comes to in each of these by BM25, if it were worth 1."""


class Scored(NamedTuple):
    """What the words of each row are worth together, as if it were one passage, and the rows with the most."""

    scores: Scores
    best: Rows


class Layout(NamedTuple):
    """Candidates in the order of the store, and the texts that tell of them: their own and those around them."""

    chosen: Rows
    around: NDArray[np.intp]
    """The places among the texts of those around each: REACH before, itself, REACH after; -1 where there is none."""
    texts: Rows
    having: Rows
    """The places of texts that have any of the words."""
    having_rows: Rows


class CandidateRows:
    """Finds candidates among the rows of one index, for one thread at a time."""

    def __init__(self) -> None:
        self._marks: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self._places: Rows = np.empty(0, dtype=np.int64)

    def scored(self, words: Sequence[Word], worth: Scores, rows: int, allowed: Mask | None, limit: int) -> Scored:
        """The scores of all rows, and of those that are allowed the best."""
        if (compiled := library()) is None:
            return scored_in_arrays(words, worth, rows, allowed, limit)
        told = np.array(
            [
                (0 if word.rows is None else word.rows.ctypes.data, word.shares.ctypes.data, len(word.shares))
                for word in words
            ],
            dtype=np.int64,
        )
        scores, best = np.empty(rows, dtype=np.float32), np.empty(limit, dtype=np.int64)
        count = _doors(compiled).scores(
            told.ctypes.data,
            len(words),
            worth.ctypes.data,
            rows,
            None if allowed is None else allowed.ctypes.data,
            limit,
            scores.ctypes.data,
            best.ctypes.data,
        )
        if count < 0:
            return scored_in_arrays(words, worth, rows, allowed, limit)
        return Scored(scores, best[:count])

    def laid_out(self, columns: RowColumns, scored: Scored, others: Rows, allowed: Mask | None) -> Layout:
        """The candidates: the best, those next to them, and these others, as far as they are allowed."""
        if (compiled := library()) is None:
            return laid_out_in_arrays(columns, scored, others, allowed)
        best, chained = scored.best, columns.chained
        most = min(len(best) * (2 * NEXT_TO_MATCHES + 1 if chained else 1) + len(others), columns.rows)
        most_texts = min(most * (_WIDTH if chained else 1), columns.rows)
        if len(self._marks) < columns.rows:
            self._marks = np.zeros(columns.rows, dtype=np.uint8)
            self._places = np.empty(columns.rows, dtype=np.int64)
        # One array for all that is told: chosen, texts, having, having_rows, around.
        told = np.empty(3 + most + 3 * most_texts + most * _WIDTH, dtype=np.int64)
        address = told.ctypes.data
        chosen_at = 3
        texts_at = chosen_at + most
        having_at = texts_at + most_texts
        rows_at = having_at + most_texts
        around_at = rows_at + most_texts
        done = _doors(compiled).candidates(
            columns.rows,
            None if allowed is None else allowed.ctypes.data,
            columns.before.ctypes.data if chained else None,
            columns.after.ctypes.data if chained else None,
            best.ctypes.data,
            len(best),
            others.ctypes.data,
            len(others),
            columns.seqs.ctypes.data,
            scored.scores.ctypes.data,
            REACH,
            self._marks.ctypes.data,
            self._places.ctypes.data,
            address + 8 * chosen_at,
            address + 8 * around_at,
            address + 8 * texts_at,
            address + 8 * having_at,
            address + 8 * rows_at,
            address,
        )
        if done < 0:
            self._marks = np.empty(0, dtype=np.uint8)
            return laid_out_in_arrays(columns, scored, others, allowed)
        count, texts, having = told[:3].tolist()
        return Layout(
            told[chosen_at : chosen_at + count],
            told[around_at : around_at + count * _WIDTH].reshape(count, _WIDTH),
            told[texts_at : texts_at + texts],
            told[having_at : having_at + having],
            told[rows_at : rows_at + having],
        )


class _Doors(NamedTuple):
    scores: Any
    candidates: Any


@cache
def _doors(compiled: ctypes.CDLL) -> _Doors:
    address, number = ctypes.c_void_p, ctypes.c_int64
    scores, candidates = compiled.scrubjay_score_words, compiled.scrubjay_collect_candidates
    scores.restype = candidates.restype = number
    scores.argtypes = [address, number, address, number, address, number, address, address]
    candidates.argtypes = [
        *(number, address, address, address, address, number, address, number, address, address, number),
        *(address, address, address, address, address, address, address, address),
    ]
    return _Doors(scores, candidates)


def scored_in_arrays(words: Sequence[Word], worth: Scores, rows: int, allowed: Mask | None, limit: int) -> Scored:
    """The same as `CandidateRows.scored`, by numpy."""
    scores = np.zeros(rows, dtype=np.float32)
    for word, worth_of_word in zip(words, worth, strict=True):
        if word.rows is None:
            scores += worth_of_word * word.shares
        else:
            scores[word.rows] += worth_of_word * word.shares
    return Scored(scores, _highest(scores if allowed is None else np.where(allowed, scores, np.float32(0)), limit))


def laid_out_in_arrays(columns: RowColumns, scored: Scored, others: Rows, allowed: Mask | None) -> Layout:
    """The same as `CandidateRows.laid_out`, by numpy."""
    is_chosen = np.zeros(columns.rows, dtype=np.bool_)
    beside = columns.around(scored.best, NEXT_TO_MATCHES)
    is_chosen[beside[beside != NONE]] = True
    is_chosen[others] = True
    if allowed is not None:
        is_chosen &= allowed
    chosen = is_chosen.nonzero()[0]
    chosen = chosen[columns.seqs[chosen].argsort()]
    around = columns.around(chosen, REACH)
    # Both have one entry more, which is where NONE points to.
    is_text = np.zeros(columns.rows + 1, dtype=np.bool_)
    is_text[around if columns.chained else chosen] = True
    is_text[NONE] = False
    texts = is_text.nonzero()[0]
    place_of = np.empty(columns.rows + 1, dtype=np.intp)
    place_of[texts] = np.arange(len(texts))
    place_of[NONE] = NONE
    having = scored.scores[texts].nonzero()[0]
    return Layout(chosen, place_of[around], texts, having, texts[having])


def _highest(scores: Scores, limit: int) -> Rows:
    """The rows with the highest scores, best first, equal ones in the order kept; none without a score."""
    if 2 * np.count_nonzero(scores) > len(scores) > limit:  # else it is faster to leave out those without a score first
        ascending = scores.copy()
        ascending.partition(len(scores) - limit)
        rows = (scores >= max(ascending[len(scores) - limit], _TINY)).nonzero()[0]
        found = scores[rows]
    else:
        rows = (scores > 0).nonzero()[0]
        found = scores[rows]
        if len(rows) > limit:
            ascending = found.copy()
            ascending.partition(len(rows) - limit)
            enough = found >= ascending[len(rows) - limit]
            rows, found = rows[enough], found[enough]
    return rows[(-found).argsort(kind="stable")[:limit]]
