"""Trends; expected values are from scipy.stats.kendalltau(method="exact") and theilslopes 1.17.1."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.features.analysis.models import Trend
from scrubjay.features.analysis.trends import MAX_COMPARED, Oscillation, TrendTests, classify, kendall, run_tests


def nearly(value: float) -> Any:
    """Return `approx` typed for use inside a compared dataclass."""
    return pytest.approx(value)


def one_trend(values: NDArray[np.float64], significance: float = 0.05) -> Trend:
    return classify({"a": run_tests(values)}, significance)[0]


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


def test_080_ties_are_handled() -> None:
    tau, _, slope = kendall(np.array([5, 4, 4, 3, 6, 2, 1, 1, 0, 3], dtype=np.float64))
    assert (tau, slope) == pytest.approx((-0.598056818096707, -0.5714285714285714))


def test_080_three_increasing_points_are_not_a_significant_trend() -> None:
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


def test_080_a_constant_series_is_not_tested() -> None:
    assert run_tests(np.full(20, 7.0)) == TrendTests(0.0, None, 0.0, None)
    assert one_trend(np.full(20, 7.0)).direction == "Stationary"


@pytest.mark.parametrize(("step", "direction"), [(0.2, "Increasing"), (-0.2, "Decreasing")])
def test_080_a_noisy_trend_is_found_with_its_slope(step: float, direction: str) -> None:
    found = one_trend(step * np.arange(60) + np.random.default_rng(3).normal(size=60))
    assert (found.direction, found.significant) == (direction, True)
    assert found.slope == pytest.approx(step, abs=0.03)


def test_080_a_long_series_is_reduced_to_means_of_sections() -> None:
    n = 5 * MAX_COMPARED
    found = one_trend(0.001 * np.arange(n) + np.random.default_rng(3).normal(size=n))
    assert found.direction == "Increasing"
    assert found.slope == pytest.approx(0.001, rel=0.05)


def test_080_an_oscillation_is_found_with_its_period() -> None:
    time = np.arange(96)
    found = one_trend(np.sin(2 * np.pi * time / 12) + 0.5 * np.random.default_rng(3).normal(size=96))
    assert (found.direction, found.significant) == ("Oscillating", True)
    assert found.period == pytest.approx(12)
    assert found.strength > 0.5


def test_080_noise_has_neither_trend_nor_oscillation() -> None:
    found = [one_trend(np.random.default_rng(seed).normal(size=40)) for seed in range(300)]
    assert sum(one.significant for one in found) <= 0.05 * 300


def test_080_both_tests_are_corrected_together() -> None:
    weak = TrendTests(0.4, 0.03, 0.1, Oscillation(0.5, 0.2, 5.0, 12.0))
    assert classify({"a": weak}, 0.05)[0].corrected_p_value == pytest.approx(0.06)
    assert not classify({"a": weak}, 0.05)[0].significant
