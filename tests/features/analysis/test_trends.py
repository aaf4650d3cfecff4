"""Where series go; expected numbers are those of scipy.stats.kendalltau(method="exact") and theilslopes 1.17.1."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.features.analysis.models import Trend
from scrubjay.features.analysis.trends import MOST_COMPARED, Movement, Swing, kendall, movement, trends


def nearly(value: float) -> Any:
    """Compared as approx does, within a whole value."""
    return pytest.approx(value)


def one_trend(values: NDArray[np.float64], significance: float = 0.05) -> Trend:
    return trends({"a": movement(values)}, significance)[0]


@pytest.mark.parametrize(
    ("values", "tau", "p", "slope"),
    [
        ([1, 3, 2, 5, 4, 6, 8, 7], 0.7857142857142856, 0.005505952380952381, 1.0),
        ([2, 1, 4, 3, 7], 0.6, 0.23333333333333334, 1.125),
        ([1, 2, 3], 1.0, 1 / 3, 1.0),
    ],
)
def test_080_few_points_have_exact_p_values(values: list[float], tau: float, p: float, slope: float) -> None:
    assert kendall(np.array(values, dtype=np.float64)) == pytest.approx((tau, p, slope), rel=1e-12)


def test_080_ties_are_allowed_for() -> None:
    tau, _, slope = kendall(np.array([5, 4, 4, 3, 6, 2, 1, 1, 0, 3], dtype=np.float64))
    assert (tau, slope) == pytest.approx((-0.598056818096707, -0.5714285714285714))


def test_080_three_points_in_a_row_are_no_significant_trend() -> None:
    assert one_trend(np.array([1.0, 2.0, 3.0])) == Trend(
        variable="a",
        direction="Stationary",
        strength=1.0,
        p_value=nearly(1 / 3),
        corrected_p_value=nearly(1 / 3),
        significant=False,
        slope=1.0,
        period=None,
    )


def test_080_what_never_changes_is_not_tested() -> None:
    assert movement(np.full(20, 7.0)) == Movement(0.0, None, 0.0, None)
    assert one_trend(np.full(20, 7.0)).direction == "Stationary"


@pytest.mark.parametrize(("step", "direction"), [(0.2, "Increasing"), (-0.2, "Decreasing")])
def test_080_a_trend_in_noise_is_found_and_its_slope_is_right(step: float, direction: str) -> None:
    found = one_trend(step * np.arange(60) + np.random.default_rng(3).normal(size=60))
    assert (found.direction, found.significant) == (direction, True)
    assert found.slope == pytest.approx(step, abs=0.03)


def test_080_a_long_series_is_compared_by_the_means_of_stretches() -> None:
    n = 5 * MOST_COMPARED
    found = one_trend(0.001 * np.arange(n) + np.random.default_rng(3).normal(size=n))
    assert found.direction == "Increasing"
    assert found.slope == pytest.approx(0.001, rel=0.05)


def test_080_a_swing_is_found_with_its_period() -> None:
    time = np.arange(96)
    found = one_trend(np.sin(2 * np.pi * time / 12) + 0.5 * np.random.default_rng(3).normal(size=96))
    assert (found.direction, found.significant) == ("Oscillating", True)
    assert found.period == pytest.approx(12)
    assert found.strength > 0.5


def test_080_noise_has_neither_trend_nor_swing() -> None:
    found = [one_trend(np.random.default_rng(seed).normal(size=40)) for seed in range(300)]
    assert sum(one.significant for one in found) <= 0.05 * 300


def test_080_both_tests_are_corrected_together() -> None:
    weak = Movement(0.4, 0.03, 0.1, Swing(0.5, 0.2, 5.0))
    assert trends({"a": weak}, 0.05)[0].corrected_p_value == pytest.approx(0.06)
    assert not trends({"a": weak}, 0.05)[0].significant
