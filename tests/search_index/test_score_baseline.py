"""What a similarity is worth, compared with that of any memory: checked against the same sums in double precision."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from scrubjay.search_index.score_baseline import ASSUMED, ASSUMED_SPREAD, Background

DIMENSIONS = 32


def directions(rows: int, seed: int = 0, common: float = 0.0) -> NDArray[np.float32]:
    """Vectors of length 1 with something in common, or nothing."""
    values = np.random.default_rng(seed).standard_normal((rows, DIMENSIONS))
    values[:, 0] += common
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)


def standings_by(
    background: Background, question: NDArray[np.float32], values: NDArray[np.float32]
) -> NDArray[np.float32]:
    return background.compared(question, values)[1]


def standings_by_hand(
    sample: NDArray[np.float32], question: NDArray[np.float32], values: NDArray[np.float32]
) -> list[float]:
    wide = sample.astype(np.float64)
    common = sum(wide, np.zeros(DIMENSIONS)) / (len(wide) + ASSUMED)

    def cosine(value: NDArray[np.float64]) -> float:
        one, other = value - common, question - common
        return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))

    typical = [cosine(value) for value in wide]
    mean = sum(typical) / (len(typical) + ASSUMED)
    squares = sum((one - mean) ** 2 for one in typical) + ASSUMED * ASSUMED_SPREAD**2
    spread = (squares / (len(typical) + ASSUMED)) ** 0.5
    return [(cosine(value) - mean) / spread for value in values.astype(np.float64)]


@pytest.mark.parametrize("rows", [0, 1, 7, 500])
@pytest.mark.parametrize("common", [0.0, 4.0])
def test_standings_are_deviations_from_what_is_usual(rows: int, common: float) -> None:
    sample, values = directions(rows, 0, common), directions(40, 1, common)
    for question in directions(5, 2, common):
        standings = standings_by(Background(sample), question, values)
        assert standings.dtype == np.float32
        assert_allclose(standings, standings_by_hand(sample, question, values), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("rows", [0, 500])
def test_similarities_are_cosines_whatever_is_common(rows: int) -> None:
    values, question = directions(40, 1, 4.0), directions(1, 2, 4.0)[0]
    cosines, _ = Background(directions(rows, 0, 4.0)).compared(question, np.concatenate([values, question[np.newaxis]]))
    assert cosines.dtype == np.float32
    assert_allclose(cosines, [*(values @ question), 1], rtol=1e-5, atol=1e-6)
    assert cosines.max() <= 1


def test_in_a_large_store_any_memory_stands_at_zero_give_or_take_one() -> None:
    sample, any_memories = directions(2000, 0, 4.0), directions(2000, 1, 4.0)
    for question in directions(5, 2, 4.0):
        standings = standings_by(Background(sample), question, any_memories)
        assert standings.mean() == pytest.approx(0, abs=0.1)
        assert standings.std() == pytest.approx(1, abs=0.1)
        assert standings_by(Background(sample), question, question[np.newaxis])[0] > 4


def test_what_all_memories_have_in_common_says_nothing() -> None:
    sample, values = directions(2000, 0, 12.0), directions(50, 1, 12.0)
    question = directions(1, 2, 12.0)[0]
    assert (values @ question).min() > 0.6  # each seems to fit
    standings = standings_by(Background(sample), question, values)
    assert np.abs(standings).max() < 4
    assert (standings < 0).sum() > 10


def test_a_store_without_memories_assumes_what_is_usual() -> None:
    question, values = directions(1)[0], directions(20, 1)
    standings = standings_by(Background(np.empty((0, DIMENSIONS), dtype=np.float32)), question, values)
    assert_allclose(standings, (values @ question) / ASSUMED_SPREAD, rtol=1e-3, atol=1e-5)


def test_memories_that_point_nowhere_stand_nowhere_and_change_nothing() -> None:
    sample, values = directions(30), directions(10, 1)
    question = directions(1, 2)[0]
    expected = standings_by(Background(sample), question, values)
    nowhere = np.full((2, DIMENSIONS), np.nan, dtype=np.float32)
    with_nowhere = Background(np.concatenate([nowhere, sample, nowhere]))
    assert_allclose(standings_by(with_nowhere, question, values), expected, rtol=1e-4, atol=1e-5)
    found = standings_by(with_nowhere, question, np.concatenate([values, nowhere]))
    assert_array_equal(np.isnan(found), [False] * 10 + [True] * 2)
    assert np.isnan(standings_by(with_nowhere, nowhere[0], values)).all()
    assert np.isnan(standings_by(Background(nowhere), nowhere[0], values)).all()
    assert np.isfinite(standings_by(Background(nowhere), question, values)).all()


def test_what_is_nothing_but_what_all_have_in_common_is_like_no_question() -> None:
    nothing = np.zeros((1, DIMENSIONS), dtype=np.float32)
    for sample in (np.empty((0, DIMENSIONS), dtype=np.float32), nothing):
        background = Background(sample)
        assert standings_by(background, directions(1)[0], nothing).tolist() == [0]
        assert standings_by(background, nothing[0], directions(1)).tolist() == [0]


def test_no_memories_have_no_standings() -> None:
    found = standings_by(Background(directions(3)), directions(1)[0], np.empty((0, DIMENSIONS), dtype=np.float32))
    assert found.shape == (0,)


def test_the_sample_may_come_in_any_order() -> None:
    sample, values, question = directions(300, 0, 4.0), directions(10, 1, 4.0), directions(1, 2)[0]
    expected = standings_by(Background(sample), question, values)
    assert_allclose(standings_by(Background(sample[::-1]), question, values), expected, rtol=1e-4, atol=1e-5)
