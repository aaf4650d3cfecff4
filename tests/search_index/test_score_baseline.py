"""Similarities are compared with a baseline, checked against the same sums in double precision."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from scrubjay.search_index.score_baseline import ASSUMED_SAMPLES, ASSUMED_SPREAD, ScoreBaseline

DIMENSIONS = 32


def directions(rows: int, seed: int = 0, common: float = 0.0) -> NDArray[np.float32]:
    """Return unit vectors, with a common component of this size."""
    values = np.random.default_rng(seed).standard_normal((rows, DIMENSIONS))
    values[:, 0] += common
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)


def standings(baseline: ScoreBaseline, query: NDArray[np.float32], values: NDArray[np.float32]) -> NDArray[np.float32]:
    return baseline.compare(query, values)[1]


def expected_standings(
    sample: NDArray[np.float32], query: NDArray[np.float32], values: NDArray[np.float32]
) -> list[float]:
    wide = sample.astype(np.float64)
    common = sum(wide, np.zeros(DIMENSIONS)) / (len(wide) + ASSUMED_SAMPLES)

    def cosine(value: NDArray[np.float64]) -> float:
        one, other = value - common, query - common
        return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))

    typical = [cosine(value) for value in wide]
    mean = sum(typical) / (len(typical) + ASSUMED_SAMPLES)
    squares = sum((one - mean) ** 2 for one in typical) + ASSUMED_SAMPLES * ASSUMED_SPREAD**2
    spread = (squares / (len(typical) + ASSUMED_SAMPLES)) ** 0.5
    return [(cosine(value) - mean) / spread for value in values.astype(np.float64)]


@pytest.mark.parametrize("rows", [0, 1, 7, 500])
@pytest.mark.parametrize("common", [0.0, 4.0])
def test_standings_are_deviations_from_the_baseline(rows: int, common: float) -> None:
    sample, values = directions(rows, 0, common), directions(40, 1, common)
    for query in directions(5, 2, common):
        found = standings(ScoreBaseline(sample), query, values)
        assert found.dtype == np.float32
        assert_allclose(found, expected_standings(sample, query, values), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("rows", [0, 500])
def test_similarities_are_cosines_whatever_the_common_component(rows: int) -> None:
    values, query = directions(40, 1, 4.0), directions(1, 2, 4.0)[0]
    cosines, _ = ScoreBaseline(directions(rows, 0, 4.0)).compare(query, np.concatenate([values, query[np.newaxis]]))
    assert cosines.dtype == np.float32
    assert_allclose(cosines, [*(values @ query), 1], rtol=1e-5, atol=1e-6)
    assert cosines.max() <= 1


def test_in_a_large_store_standings_have_mean_zero_and_deviation_one() -> None:
    sample, any_memories = directions(2000, 0, 4.0), directions(2000, 1, 4.0)
    for query in directions(5, 2, 4.0):
        found = standings(ScoreBaseline(sample), query, any_memories)
        assert found.mean() == pytest.approx(0, abs=0.1)
        assert found.std() == pytest.approx(1, abs=0.1)
        assert standings(ScoreBaseline(sample), query, query[np.newaxis])[0] > 4


def test_the_common_component_does_not_count() -> None:
    sample, values = directions(2000, 0, 12.0), directions(50, 1, 12.0)
    query = directions(1, 2, 12.0)[0]
    assert (values @ query).min() > 0.6  # each seems to match
    found = standings(ScoreBaseline(sample), query, values)
    assert np.abs(found).max() < 4
    assert (found < 0).sum() > 10


def test_an_empty_store_uses_the_assumed_baseline() -> None:
    query, values = directions(1)[0], directions(20, 1)
    found = standings(ScoreBaseline(np.empty((0, DIMENSIONS), dtype=np.float32)), query, values)
    assert_allclose(found, (values @ query) / ASSUMED_SPREAD, rtol=1e-3, atol=1e-5)


def test_invalid_vectors_have_no_standing_and_change_no_others() -> None:
    sample, values = directions(30), directions(10, 1)
    query = directions(1, 2)[0]
    expected = standings(ScoreBaseline(sample), query, values)
    invalid = np.full((2, DIMENSIONS), np.nan, dtype=np.float32)
    with_invalid = ScoreBaseline(np.concatenate([invalid, sample, invalid]))
    assert_allclose(standings(with_invalid, query, values), expected, rtol=1e-4, atol=1e-5)
    found = standings(with_invalid, query, np.concatenate([values, invalid]))
    assert_array_equal(np.isnan(found), [False] * 10 + [True] * 2)
    assert np.isnan(standings(with_invalid, invalid[0], values)).all()
    assert np.isnan(standings(ScoreBaseline(invalid), invalid[0], values)).all()
    assert np.isfinite(standings(ScoreBaseline(invalid), query, values)).all()


def test_a_vector_equal_to_the_common_component_matches_no_query() -> None:
    nothing = np.zeros((1, DIMENSIONS), dtype=np.float32)
    for sample in (np.empty((0, DIMENSIONS), dtype=np.float32), nothing):
        baseline = ScoreBaseline(sample)
        assert standings(baseline, directions(1)[0], nothing).tolist() == [0]
        assert standings(baseline, nothing[0], directions(1)).tolist() == [0]


def test_without_memories_there_are_no_standings() -> None:
    found = standings(ScoreBaseline(directions(3)), directions(1)[0], np.empty((0, DIMENSIONS), dtype=np.float32))
    assert found.shape == (0,)


def test_the_order_of_the_sample_does_not_matter() -> None:
    sample, values, query = directions(300, 0, 4.0), directions(10, 1, 4.0), directions(1, 2)[0]
    expected = standings(ScoreBaseline(sample), query, values)
    assert_allclose(standings(ScoreBaseline(sample[::-1]), query, values), expected, rtol=1e-4, atol=1e-5)
