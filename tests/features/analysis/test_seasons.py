"""Forecasts continue the season that the trend test finds: simulated series of days, hours and months."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.features.analysis.forecasting import forecast
from scrubjay.features.analysis.seasons import fit_season
from scrubjay.features.analysis.trends import classify, run_tests

Values = NDArray[np.float64]
WEEK = np.array([100.0, 110, 112, 108, 105, 40, 30])


def times(n: int) -> Values:
    return np.arange(n, dtype=np.float64)


def weekly(n: int, slope: float = 0.0) -> Values:
    return WEEK[np.arange(n) % 7] + slope * times(n)


def found_period(values: Values) -> float | None:
    return classify({"a": run_tests(values)}, 0.05)[0].period


def rising_week(n: int) -> Values:
    return weekly(n, 1.5)


def one_day_off(n: int) -> Values:
    return np.where(np.arange(n) % 7 == 6, 40.0, 100.0)


def hourly(n: int) -> Values:
    return 50 + 20 * np.sin(2 * np.pi * times(n) / 24) + np.where(times(n) % 24 > 18, 10.0, 0.0)


def two_peaks(n: int) -> Values:
    return 10 * np.sin(4 * np.pi * times(n) / 14) + 4 * np.sin(2 * np.pi * times(n) / 14)


def fraction(n: int) -> Values:
    return np.sin(2 * np.pi * times(n) / 10.4)


@pytest.mark.parametrize(
    ("shape", "points", "noise", "period"),
    [
        (weekly, 56, 8, 7),
        (weekly, 60, 8, 7),  # not a whole number of weeks
        (rising_week, 60, 8, 7),
        (one_day_off, 70, 8, 7),
        (hourly, 240, 4, 24),
        (two_peaks, 98, 2, 14),
        (fraction, 120, 0.3, 10.4),
    ],
)
def test_082_a_forecast_continues_the_season_that_was_found(
    shape: Callable[[int], Values], points: int, noise: float, period: float
) -> None:
    horizon, inside, plain, seasonal = 14, 0, 0.0, 0.0
    for seed in range(10):
        values = shape(points + horizon) + noise * np.random.default_rng(seed).normal(size=points + horizon)
        known, future = values[:points], values[points:]
        found = found_period(known)
        assert found == pytest.approx(period, rel=0.02)
        result = forecast("a", known, horizon, 0.05, found)
        assert (result.season, result.note) == (found, None)
        seasonal += float(np.mean((np.array(result.point_forecasts) - future) ** 2))
        plain += float(np.mean((np.array(forecast("a", known, horizon, 0.05).point_forecasts) - future) ** 2))
        bounds = zip(result.lower_bounds, future, result.upper_bounds, strict=True)
        inside += sum(low <= value <= high for low, value, high in bounds)
    assert seasonal < plain / 4
    assert np.sqrt(seasonal / 10) < 1.4 * noise, "the error is hardly more than the noise"
    assert inside / (10 * horizon) >= 0.88


@pytest.mark.parametrize("change", [20, 30, 40])
def test_080_a_step_of_the_level_is_not_a_season(change: int) -> None:
    values = np.where(np.arange(60) > change, 60.0, 20.0) + np.random.default_rng(change).normal(size=60)
    assert found_period(values) is None


def test_080_noise_and_random_walks_have_hardly_ever_a_season() -> None:
    noises = [np.random.default_rng(seed).normal(size=60) for seed in range(100)]
    walks = [np.cumsum(noise) for noise in noises]
    assert sum(found_period(values) is not None for values in noises) <= 5
    assert sum(found_period(values) is not None for values in walks) <= 20


def test_082_a_season_that_does_not_improve_the_fit_is_not_continued() -> None:
    noise = np.random.default_rng(1).normal(size=60)
    result = forecast("a", noise, 3, 0.05, 7.3)
    assert (result.season, result.point_forecasts) == (None, forecast("a", noise, 3, 0.05).point_forecasts)
    assert result.note == "the season of 7.3 points is not continued: the errors of the fit are not smaller with it"
    short = forecast("a", noise[:12], 3, 0.05, 7.0)
    assert short.note == "the season of 7 points is not continued: the last 12 points have too few cycles"


def test_082_a_season_without_noise_is_continued_exactly() -> None:
    values = weekly(49, 2.0)
    result = forecast("a", values[:42], 7, 0.05, 7.0)
    assert result.point_forecasts == pytest.approx(values[42:], abs=0.5)
    season = fit_season(values[:42], 7.0)
    assert season is not None
    assert season.harmonics == 3
