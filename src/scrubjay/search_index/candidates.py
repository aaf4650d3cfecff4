"""Select candidate rows: the best by words, their neighbours, and rows that were found in other ways.

The native library does this when it is available; numpy gives the same result otherwise.
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

# Neighbours of a match on each side that become candidates: they may answer it without sharing a word with it.
NEIGHBOURS_OF_MATCHES = 2
_WIDTH = 2 * REACH + 1
_TINY = np.finfo(np.float32).tiny


class WordMatches(NamedTuple):
    """The rows that contain one word, among those the caller may see."""

    texts: int
    """Number of rows with the word that the caller may see."""
    rows: Rows | None
    """Rows with the word; None if `shares` covers all rows."""
    shares: Scores
    """BM25 score of the word in each of these rows, for a weight of 1."""


class RowScores(NamedTuple):
    """The score of each row, as if it were one passage, and the best rows."""

    scores: Scores
    best: Rows


class CandidateLayout(NamedTuple):
    """Candidates in the order of the store, and the rows whose text is needed to rank them."""

    chosen: Rows
    around: NDArray[np.intp]
    """Indexes into `texts` of each candidate's neighbours: REACH before, itself, REACH after; -1 for none."""
    texts: Rows
    having: Rows
    """Indexes into `texts` of rows that contain any of the words."""
    having_rows: Rows


class CandidateFinder:
    """Selects candidates among the rows of one index. Not safe for concurrent use."""

    def __init__(self) -> None:
        self._marks: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self._places: Rows = np.empty(0, dtype=np.int64)

    def score(
        self, words: Sequence[WordMatches], weights: Scores, rows: int, allowed: Mask | None, limit: int
    ) -> RowScores:
        """Return the scores of all rows, and the best of the allowed ones."""
        if (compiled := library()) is None:
            return score_with_numpy(words, weights, rows, allowed, limit)
        pointers = np.array(
            [
                (0 if word.rows is None else word.rows.ctypes.data, word.shares.ctypes.data, len(word.shares))
                for word in words
            ],
            dtype=np.int64,
        )
        scores, best = np.empty(rows, dtype=np.float32), np.empty(limit, dtype=np.int64)
        count = _native_functions(compiled).scores(
            pointers.ctypes.data,
            len(words),
            weights.ctypes.data,
            rows,
            None if allowed is None else allowed.ctypes.data,
            limit,
            scores.ctypes.data,
            best.ctypes.data,
        )
        if count < 0:
            return score_with_numpy(words, weights, rows, allowed, limit)
        return RowScores(scores, best[:count])

    def lay_out(self, columns: RowColumns, scored: RowScores, others: Rows, allowed: Mask | None) -> CandidateLayout:
        """Return the candidates: the best rows, their neighbours and `others`, as far as they are allowed."""
        if (compiled := library()) is None:
            return lay_out_with_numpy(columns, scored, others, allowed)
        best, chained = scored.best, columns.chained
        max_chosen = min(len(best) * (2 * NEIGHBOURS_OF_MATCHES + 1 if chained else 1) + len(others), columns.rows)
        max_texts = min(max_chosen * (_WIDTH if chained else 1), columns.rows)
        if len(self._marks) < columns.rows:
            self._marks = np.zeros(columns.rows, dtype=np.uint8)
            self._places = np.empty(columns.rows, dtype=np.int64)
        # One array for all outputs: chosen, texts, having, having_rows, around.
        output = np.empty(3 + max_chosen + 3 * max_texts + max_chosen * _WIDTH, dtype=np.int64)
        address = output.ctypes.data
        chosen_at = 3
        texts_at = chosen_at + max_chosen
        having_at = texts_at + max_texts
        rows_at = having_at + max_texts
        around_at = rows_at + max_texts
        done = _native_functions(compiled).candidates(
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
            return lay_out_with_numpy(columns, scored, others, allowed)
        count, texts, having = output[:3].tolist()
        return CandidateLayout(
            output[chosen_at : chosen_at + count],
            output[around_at : around_at + count * _WIDTH].reshape(count, _WIDTH),
            output[texts_at : texts_at + texts],
            output[having_at : having_at + having],
            output[rows_at : rows_at + having],
        )


class _CandidateFunctions(NamedTuple):
    scores: Any
    candidates: Any


@cache
def _native_functions(compiled: ctypes.CDLL) -> _CandidateFunctions:
    address, number = ctypes.c_void_p, ctypes.c_int64
    scores, candidates = compiled.scrubjay_score_words, compiled.scrubjay_collect_candidates
    scores.restype = candidates.restype = number
    scores.argtypes = [address, number, address, number, address, number, address, address]
    candidates.argtypes = [
        *(number, address, address, address, address, number, address, number, address, address, number),
        *(address, address, address, address, address, address, address, address),
    ]
    return _CandidateFunctions(scores, candidates)


def score_with_numpy(
    words: Sequence[WordMatches], weights: Scores, rows: int, allowed: Mask | None, limit: int
) -> RowScores:
    """Like `CandidateFinder.score`, with numpy."""
    scores = np.zeros(rows, dtype=np.float32)
    for word, weight in zip(words, weights, strict=True):
        if word.rows is None:
            scores += weight * word.shares
        else:
            scores[word.rows] += weight * word.shares
    return RowScores(scores, _highest(scores if allowed is None else np.where(allowed, scores, np.float32(0)), limit))


def lay_out_with_numpy(columns: RowColumns, scored: RowScores, others: Rows, allowed: Mask | None) -> CandidateLayout:
    """Like `CandidateFinder.lay_out`, with numpy."""
    is_chosen = np.zeros(columns.rows, dtype=np.bool_)
    beside = columns.around(scored.best, NEIGHBOURS_OF_MATCHES)
    is_chosen[beside[beside != NONE]] = True
    is_chosen[others] = True
    if allowed is not None:
        is_chosen &= allowed
    chosen = is_chosen.nonzero()[0]
    chosen = chosen[columns.seqs[chosen].argsort()]
    around = columns.around(chosen, REACH)
    # Both arrays have one entry more, which NONE (-1) refers to.
    is_text = np.zeros(columns.rows + 1, dtype=np.bool_)
    is_text[around if columns.chained else chosen] = True
    is_text[NONE] = False
    texts = is_text.nonzero()[0]
    position_of = np.empty(columns.rows + 1, dtype=np.intp)
    position_of[texts] = np.arange(len(texts))
    position_of[NONE] = NONE
    having = scored.scores[texts].nonzero()[0]
    return CandidateLayout(chosen, position_of[around], texts, having, texts[having])


def _highest(scores: Scores, limit: int) -> Rows:
    """Return the rows with the highest scores, best first, ties in row order; rows without a score are left out."""
    if 2 * np.count_nonzero(scores) > len(scores) > limit:  # otherwise it is faster to drop rows without a score first
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
