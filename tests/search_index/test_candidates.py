"""Which rows are candidates: the compiled part and numpy choose the same (features 58 and 60)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from scrubjay.search_index.candidates import (
    CandidateRows,
    Layout,
    Scored,
    Word,
    laid_out_in_arrays,
    scored_in_arrays,
)
from scrubjay.search_index.row_columns import Entry, RowColumns
from tests.compiled import without_compiled

ROWS = st.integers(1, 60)


def columns_of(rows: int, seed: int, *, chained: bool) -> RowColumns:
    """So many rows, whose order in the store is not that in which they came."""
    dice = np.random.default_rng(seed)
    columns = RowColumns()
    seqs, times = dice.permutation(rows).tolist(), dice.integers(0, 20, rows).tolist()
    sessions = dice.integers(0, 4, rows).tolist()
    columns.add(
        [
            Entry(seq + 1, 1, f"session {session}" if chained and session else None, time, 0, None, 0, 0.5, 1.0)
            for seq, time, session in zip(seqs, times, sessions, strict=True)
        ]
    )
    return columns


def words_of(rows: int, seed: int) -> tuple[list[Word], np.ndarray[tuple[int], np.dtype[np.float32]]]:
    dice = np.random.default_rng(seed)
    words: list[Word] = []
    for _ in range(dice.integers(0, 5)):
        # Few different values, so that many rows are equal.
        shares = dice.integers(1, 4, rows).astype(np.float32) / np.float32(3)
        if dice.random() < 0.5:
            words.append(Word(rows, None, np.where(dice.random(rows) < 0.7, shares, np.float32(0))))
        else:
            having = np.flatnonzero(dice.random(rows) < 0.4)
            words.append(Word(len(having), having, shares[: len(having)]))
    return words, dice.integers(1, 3, len(words)).astype(np.float32)


def assert_same(one: Layout | Scored, other: Layout | Scored) -> None:
    for mine, theirs in zip(one, other, strict=True):
        assert_array_equal(mine, theirs)


@given(rows=ROWS, seed=st.integers(0, 10_000), limit=st.integers(1, 70), masked=st.booleans(), chained=st.booleans())
def test_the_compiled_part_and_numpy_choose_the_same_rows(
    rows: int, seed: int, limit: int, masked: bool, chained: bool
) -> None:
    words, worth = words_of(rows, seed)
    dice = np.random.default_rng(seed + 1)
    allowed = dice.random(rows) < 0.6 if masked else None
    others = dice.permutation(rows)[: dice.integers(0, rows + 1)]
    columns, candidates = columns_of(rows, seed, chained=chained), CandidateRows()
    scored = candidates.scored(words, worth, rows, allowed, limit)
    assert_same(scored, scored_in_arrays(words, worth, rows, allowed, limit))
    layout = candidates.laid_out(columns, scored, others, allowed)
    assert_same(layout, laid_out_in_arrays(columns, scored, others, allowed))
    assert_same(layout, candidates.laid_out(columns, scored, others, allowed))  # nothing is left of the first time
    with without_compiled():
        assert_same(layout, candidates.laid_out(columns, scored, others, allowed))


def test_those_next_to_a_match_are_candidates_and_five_on_each_side_are_told_of() -> None:
    columns = RowColumns()
    columns.add([Entry(row + 1, 1, "one session", row, 0, None, 0, 0.5, 1.0) for row in range(20)])
    scored = Scored(np.eye(20, dtype=np.float32)[10], np.array([10]))
    layout = CandidateRows().laid_out(columns, scored, np.empty(0, dtype=np.int64), None)
    assert layout.chosen.tolist() == [8, 9, 10, 11, 12]
    assert layout.texts.tolist() == [*range(3, 18)]
    assert layout.texts[layout.around[2]].tolist() == [*range(5, 16)]
    assert layout.having_rows.tolist() == [10]


def test_nobody_is_a_candidate_where_no_word_matches_and_nothing_else_was_found() -> None:
    candidates = CandidateRows()
    scored = candidates.scored([], np.empty(0, dtype=np.float32), 3, None, 60)
    assert scored.best.tolist() == []
    layout = candidates.laid_out(columns_of(3, 1, chained=True), scored, np.empty(0, dtype=np.int64), None)
    assert [len(part) for part in layout] == [0] * 5
