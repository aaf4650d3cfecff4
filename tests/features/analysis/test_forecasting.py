"""Forecasts: bounds that hold as often as they say, by simulation of the model and of others."""

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.features.analysis.forecasting import LEAST_POINTS, MOST_REMEMBERED, forecast
from scrubjay.features.analysis.models import Forecast

Values = NDArray[np.float64]


def simulated(seed: int, n: int, alpha: float, beta: float) -> Values:
    """What the model itself makes: ETS(A,A,N)."""
    random = np.random.default_rng(seed)
    level, slope = 10.0, 0.3
    values: list[float] = []
    for error in random.normal(size=n):
        values.append(level + slope + error)
        level, slope = level + slope + alpha * error, slope + beta * error
    return np.array(values)


def coverage(n: int, horizon: int, alpha: float, beta: float, significance: float, tries: int) -> float:
    inside = 0
    for seed in range(tries):
        values = simulated(seed, n + horizon, alpha, beta)
        made = forecast("a", values[:n], horizon, significance)
        inside += sum(
            low <= value <= high
            for low, value, high in zip(made.lower_bounds, values[n:], made.upper_bounds, strict=True)
        )
    return inside / (tries * horizon)


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.1), (0.1, 0.01), (0.9, 0.0)])
def test_082_ninety_five_of_a_hundred_points_are_within_the_bounds(alpha: float, beta: float) -> None:
    assert 0.92 <= coverage(200, 8, alpha, beta, 0.05, 60) <= 0.99


def test_082_bounds_of_one_half_hold_half_of_the_points() -> None:
    assert 0.4 <= coverage(200, 5, 0.5, 0.1, 0.5, 60) <= 0.62


def test_082_a_short_series_has_bounds_that_still_hold_most_points() -> None:
    assert coverage(12, 5, 0.5, 0.1, 0.05, 100) >= 0.85
    assert coverage(40, 5, 0.5, 0.1, 0.05, 60) >= 0.85


def test_082_a_line_goes_on_and_is_known_to_be_one() -> None:
    made = forecast("a", 3.0 + 2.0 * np.arange(30, dtype=np.float64), 3, 0.05)
    assert made.point_forecasts == pytest.approx([63, 65, 67], abs=1e-4)
    assert made.fit_quality == pytest.approx(1, abs=1e-6)
    assert made.upper_bounds[2] - made.lower_bounds[2] < 1e-3


def test_082_a_constant_stays() -> None:
    made = forecast("a", np.full(20, 5.0), 4, 0.05)
    assert made.point_forecasts == pytest.approx([5] * 4)
    assert made.fit_quality == 1


def test_082_the_parameters_of_the_model_are_found_again() -> None:
    made = forecast("a", simulated(5, 900, 0.5, 0.1), 1, 0.05)
    assert made.level_smoothing == pytest.approx(0.5, abs=0.12)
    assert made.trend_smoothing == pytest.approx(0.1, abs=0.06)


def test_082_what_cannot_be_foretold_has_no_quality_and_ever_wider_bounds() -> None:
    made = forecast("a", np.cumsum(np.random.default_rng(8).normal(size=300)), 20, 0.05)
    assert made.fit_quality is not None
    assert made.fit_quality < 0.1
    widths = np.array(made.upper_bounds) - np.array(made.lower_bounds)
    assert (np.diff(widths) > 0).all()
    assert widths[-1] > 3 * widths[0]


def test_082_the_last_points_are_used_and_not_the_first() -> None:
    values = np.concatenate([np.full(5_000, -500.0), 2.0 * np.arange(MOST_REMEMBERED)])
    assert forecast("a", values, 1, 0.05).point_forecasts == pytest.approx([2 * MOST_REMEMBERED], rel=1e-3)


def test_082_too_few_points_give_no_forecast_and_say_so() -> None:
    assert forecast("a", np.arange(LEAST_POINTS - 1, dtype=np.float64), 5, 0.05) == Forecast(
        variable="a",
        point_forecasts=(),
        lower_bounds=(),
        upper_bounds=(),
        fit_quality=None,
        level_smoothing=None,
        trend_smoothing=None,
        note="7 points do not tell four parameters and their error: 8 are needed",
    )


def test_082_large_numbers_are_foretold_as_well() -> None:
    made = forecast("a", 1e99 * np.arange(10, dtype=np.float64), 2, 0.05)
    assert made.point_forecasts == pytest.approx([1e100, 1.1e100], rel=1e-3)
