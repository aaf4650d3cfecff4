"""The native library and numpy select the same candidate rows (features 58 and 60)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from scrubjay.search_index.candidates import (
    CandidateFinder,
    CandidateLayout,
    RowScores,
    WordMatches,
    lay_out_with_numpy,
    score_with_numpy,
)
from scrubjay.search_index.row_columns import RowColumns, RowEntry
from tests.compiled import without_compiled

ROWS = st.integers(1, 60)


def columns_of(rows: int, seed: int, *, chained: bool) -> RowColumns:
    """Return columns with this many rows, whose seqs are not in insertion order."""
    rng = np.random.default_rng(seed)
    columns = RowColumns()
    seqs, times = rng.permutation(rows).tolist(), rng.integers(0, 20, rows).tolist()
    sessions = rng.integers(0, 4, rows).tolist()
    columns.add(
        [
            RowEntry(seq + 1, 1, f"session {session}" if chained and session else None, time, 0, None, 0, 0.5, 1.0)
            for seq, time, session in zip(seqs, times, sessions, strict=True)
        ]
    )
    return columns


def random_words(rows: int, seed: int) -> tuple[list[WordMatches], np.ndarray[tuple[int], np.dtype[np.float32]]]:
    rng = np.random.default_rng(seed)
    words: list[WordMatches] = []
    for _ in range(rng.integers(0, 5)):
        # Few distinct values, so that many rows have equal scores.
        shares = rng.integers(1, 4, rows).astype(np.float32) / np.float32(3)
        if rng.random() < 0.5:
            words.append(WordMatches(rows, None, np.where(rng.random(rows) < 0.7, shares, np.float32(0))))
        else:
            rows_with_word = np.flatnonzero(rng.random(rows) < 0.4)
            words.append(WordMatches(len(rows_with_word), rows_with_word, shares[: len(rows_with_word)]))
    return words, rng.integers(1, 3, len(words)).astype(np.float32)


def assert_same(one: CandidateLayout | RowScores, other: CandidateLayout | RowScores) -> None:
    for actual, expected in zip(one, other, strict=True):
        assert_array_equal(actual, expected)


@given(rows=ROWS, seed=st.integers(0, 10_000), limit=st.integers(1, 70), masked=st.booleans(), chained=st.booleans())
def test_the_native_library_and_numpy_choose_the_same_rows(
    rows: int, seed: int, limit: int, masked: bool, chained: bool
) -> None:
    words, weights = random_words(rows, seed)
    rng = np.random.default_rng(seed + 1)
    allowed = rng.random(rows) < 0.6 if masked else None
    others = rng.permutation(rows)[: rng.integers(0, rows + 1)]
    columns, candidates = columns_of(rows, seed, chained=chained), CandidateFinder()
    scored = candidates.score(words, weights, rows, allowed, limit)
    assert_same(scored, score_with_numpy(words, weights, rows, allowed, limit))
    layout = candidates.lay_out(columns, scored, others, allowed)
    assert_same(layout, lay_out_with_numpy(columns, scored, others, allowed))
    assert_same(layout, candidates.lay_out(columns, scored, others, allowed))  # no state remains of the first call
    with without_compiled():
        assert_same(layout, candidates.lay_out(columns, scored, others, allowed))


def test_neighbours_of_a_match_are_candidates_and_five_texts_on_each_side_are_laid_out() -> None:
    columns = RowColumns()
    columns.add([RowEntry(row + 1, 1, "one session", row, 0, None, 0, 0.5, 1.0) for row in range(20)])
    scored = RowScores(np.eye(20, dtype=np.float32)[10], np.array([10]))
    layout = CandidateFinder().lay_out(columns, scored, np.empty(0, dtype=np.int64), None)
    assert layout.chosen.tolist() == [8, 9, 10, 11, 12]
    assert layout.texts.tolist() == [*range(3, 18)]
    assert layout.texts[layout.around[2]].tolist() == [*range(5, 16)]
    assert layout.having_rows.tolist() == [10]


def test_without_matches_and_other_rows_there_are_no_candidates() -> None:
    candidates = CandidateFinder()
    scored = candidates.score([], np.empty(0, dtype=np.float32), 3, None, 60)
    assert scored.best.tolist() == []
    layout = candidates.lay_out(columns_of(3, 1, chained=True), scored, np.empty(0, dtype=np.int64), None)
    assert [len(part) for part in layout] == [0] * 5
