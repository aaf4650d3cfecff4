"""Forecasts: coverage of the prediction intervals, by simulation of the model and of other series."""

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.features.analysis.forecasting import MAX_POINTS, MIN_POINTS, forecast
from scrubjay.features.analysis.models import Forecast

Values = NDArray[np.float64]


def simulated(seed: int, n: int, alpha: float, beta: float) -> Values:
    """Return a simulated ETS(A,A,N) series."""
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
        result = forecast("a", values[:n], horizon, significance)
        inside += sum(
            low <= value <= high
            for low, value, high in zip(result.lower_bounds, values[n:], result.upper_bounds, strict=True)
        )
    return inside / (tries * horizon)


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.1), (0.1, 0.01), (0.9, 0.0)])
def test_082_intervals_at_95_percent_cover_95_percent_of_the_points(alpha: float, beta: float) -> None:
    assert 0.92 <= coverage(200, 8, alpha, beta, 0.05, 60) <= 0.99


def test_082_intervals_at_50_percent_cover_half_of_the_points() -> None:
    assert 0.4 <= coverage(200, 5, 0.5, 0.1, 0.5, 60) <= 0.62


def test_082_intervals_of_a_short_series_cover_most_points() -> None:
    assert coverage(12, 5, 0.5, 0.1, 0.05, 100) >= 0.85
    assert coverage(40, 5, 0.5, 0.1, 0.05, 60) >= 0.85


def test_082_a_line_is_continued_with_perfect_fit_quality() -> None:
    result = forecast("a", 3.0 + 2.0 * np.arange(30, dtype=np.float64), 3, 0.05)
    assert result.point_forecasts == pytest.approx([63, 65, 67], abs=1e-4)
    assert result.fit_quality == pytest.approx(1, abs=1e-6)
    assert result.upper_bounds[2] - result.lower_bounds[2] < 1e-3


def test_082_a_constant_series_is_continued() -> None:
    result = forecast("a", np.full(20, 5.0), 4, 0.05)
    assert result.point_forecasts == pytest.approx([5] * 4)
    assert result.fit_quality == 1


def test_082_the_smoothing_parameters_are_recovered() -> None:
    result = forecast("a", simulated(5, 900, 0.5, 0.1), 1, 0.05)
    assert result.level_smoothing == pytest.approx(0.5, abs=0.12)
    assert result.trend_smoothing == pytest.approx(0.1, abs=0.06)


def test_082_a_random_walk_has_no_fit_quality_and_widening_intervals() -> None:
    result = forecast("a", np.cumsum(np.random.default_rng(8).normal(size=300)), 20, 0.05)
    assert result.fit_quality is not None
    assert result.fit_quality < 0.1
    widths = np.array(result.upper_bounds) - np.array(result.lower_bounds)
    assert (np.diff(widths) > 0).all()
    assert widths[-1] > 3 * widths[0]


def test_082_only_the_last_points_are_used() -> None:
    values = np.concatenate([np.full(5_000, -500.0), 2.0 * np.arange(MAX_POINTS)])
    assert forecast("a", values, 1, 0.05).point_forecasts == pytest.approx([2 * MAX_POINTS], rel=1e-3)


def test_082_too_few_points_give_a_note_instead_of_a_forecast() -> None:
    assert forecast("a", np.arange(MIN_POINTS - 1, dtype=np.float64), 5, 0.05) == Forecast(
        variable="a",
        point_forecasts=(),
        lower_bounds=(),
        upper_bounds=(),
        fit_quality=None,
        level_smoothing=None,
        trend_smoothing=None,
        season=None,
        note="7 points are too few to fit four parameters; 8 are needed",
    )


def test_082_large_numbers_are_forecast() -> None:
    result = forecast("a", 1e99 * np.arange(10, dtype=np.float64), 2, 0.05)
    assert result.point_forecasts == pytest.approx([1e100, 1.1e100], rel=1e-3)
