"""Trend detection by the Mann-Kendall test, and oscillation detection by Fisher's test of the periodogram."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, floor, lgamma, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.correlation import standardize
from scrubjay.features.analysis.distributions import holm, two_sided_normal
from scrubjay.features.analysis.models import Trend
from scrubjay.features.analysis.seasons import refine_period

# Points whose pairs are all compared; a longer series is reduced to the means of this many sections.
MAX_COMPARED = 2_000
# Up to this many points, and without ties, the p-value is exact.
MAX_EXACT = 60
# Cycles of an oscillation and points of a series that are needed to detect it.
MIN_CYCLES, MIN_OSCILLATION_POINTS = 2, 12
# The period of an oscillation that no significance level accepts is not refined, which takes most of the time.
MAX_SIGNIFICANCE = 0.5
# Cycles of a season around a trend: with fewer, a step of the level looks like one.
MIN_SEASON_CYCLES = 3


@dataclass(frozen=True, slots=True)
class Oscillation:
    """The strongest oscillation of a series."""

    p_value: float
    share: float
    """Share of the variance, 0 to 1."""
    period: float
    """Points per cycle."""
    cycles: float
    """Cycles in the series."""


@dataclass(frozen=True, slots=True)
class TrendTests:
    """Results of both tests for a series, before the correction for multiple tests."""

    tau: float
    p_value: float | None
    """None for a constant series."""
    slope: float
    oscillation: Oscillation | None


def run_tests(values: NDArray[np.float64]) -> TrendTests:
    return TrendTests(*kendall(values), strongest_oscillation(values))


def classify(movements: Mapping[str, TrendTests], significance: float) -> list[Trend]:
    """Return the trend of each series, with Holm correction over both tests of all series."""
    tests = [one.p_value for one in movements.values()] + [
        one.oscillation and one.oscillation.p_value for one in movements.values()
    ]
    known = iter(holm([p for p in tests if p is not None]))
    corrected = [None if p is None else next(known) for p in tests]
    answer: list[Trend] = []
    for place, (name, one) in enumerate(movements.items()):
        of_trend, of_swing = corrected[place], corrected[place + len(movements)]
        direction, strength, p, correct, period = "Stationary", abs(one.tau), one.p_value, of_trend, None
        significant = of_trend is not None and of_trend <= significance
        swings = one.oscillation is not None and of_swing is not None and of_swing <= significance
        if significant:
            direction = "Increasing" if one.tau > 0 else "Decreasing"
            if one.oscillation is not None and swings and one.oscillation.cycles >= MIN_SEASON_CYCLES:
                period = one.oscillation.period
        elif one.oscillation is not None and swings:
            direction, significant, correct = "Oscillating", True, of_swing
            strength, p, period = one.oscillation.share, one.oscillation.p_value, one.oscillation.period
        answer.append(
            Trend(
                variable=name,
                direction=direction,
                strength=strength,
                p_value=p,
                corrected_p_value=correct,
                significant=significant,
                slope=one.slope,
                period=period,
            )
        )
    return answer


def kendall(values: NDArray[np.float64]) -> tuple[float, float | None, float]:
    """Return Kendall's tau of the values with time, its p-value (None for a constant series), and the median slope."""
    stretch = ceil(len(values) / MAX_COMPARED)
    if stretch > 1:
        values = values[: len(values) // stretch * stretch].reshape(-1, stretch).mean(axis=1)
    n = len(values)
    score, slopes = 0, np.empty(n * (n - 1) // 2)
    place = 0
    for lag in range(1, n):
        difference = values[lag:] - values[:-lag]
        score += int(np.sign(difference).sum())
        slopes[place : place + n - lag] = difference / lag
        place += n - lag
    slope = float(np.median(slopes)) / stretch
    pairs = n * (n - 1) / 2
    _, counts = np.unique(values, return_counts=True)
    ties = counts[counts > 1].astype(np.float64)
    if len(counts) == 1:
        return 0.0, None, slope
    tau = score / sqrt(pairs * (pairs - float((ties * (ties - 1) / 2).sum())))
    if not len(ties) and n <= MAX_EXACT:
        return tau, _exact_p_value(n, abs(score)), slope
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    z = 0.0 if score == 0 else (abs(score) - 1) / sqrt(variance)
    return tau, two_sided_normal(z), slope


def _exact_p_value(n: int, score: int) -> float:
    """Return the exact two-sided p-value of a Mann-Kendall score of n points without ties."""
    shares = _inversion_distribution(n)
    swapped = (n * (n - 1) // 2 - score) // 2
    return min(1.0, 2 * float(shares[: swapped + 1].sum()))


@lru_cache(maxsize=MAX_EXACT)
def _inversion_distribution(n: int) -> NDArray[np.float64]:
    """Return the distribution of the number of inversions in a random permutation of n points."""
    shares = np.ones(1)
    for size in range(2, n + 1):
        shares = np.convolve(shares, np.full(size, 1 / size))
    return shares


def strongest_oscillation(values: NDArray[np.float64]) -> Oscillation | None:
    """Return the strongest oscillation, by Fisher's test of the periodogram after removing a linear trend.

    None for a short series, for a line, and when the strongest oscillation has fewer than `MIN_CYCLES` cycles.
    """
    n = len(values)
    if n < MIN_OSCILLATION_POINTS:
        return None
    time = np.arange(n) - (n - 1) / 2
    scaled = standardize(values)
    if scaled is None:
        return None
    rest = scaled - time * float(np.dot(time, scaled) / np.dot(time, time))
    if standardize(rest) is None or float(np.dot(rest, rest)) < 1e-18 * n:
        return None
    power = np.abs(np.fft.rfft(rest)[1 : (n - 1) // 2 + 1]) ** 2
    strongest = int(np.argmax(power))
    if strongest + 1 < MIN_CYCLES:
        return None
    share = float(power[strongest] / power.sum())
    p_value = _fisher_g(share, len(power))
    period = refine_period(scaled, strongest + 1) if p_value <= MAX_SIGNIFICANCE else n / (strongest + 1)
    return Oscillation(p_value, share, period, n / period)


def _fisher_g(share: float, frequencies: int) -> float:
    """Return the p-value of Fisher's g: the largest share of the power among this many frequencies of white noise."""
    total, most = 0.0, min(floor(1 / share), frequencies)
    for j in range(1, most + 1):
        if j * share >= 1:
            break
        ways = lgamma(frequencies + 1) - lgamma(j + 1) - lgamma(frequencies - j + 1)
        term = exp(ways + (frequencies - 1) * log1p(-j * share))
        total += term if j % 2 else -term
        # The alternating sum loses precision for a small share, where the p-value is near 1 anyway.
        if j == 1 and term > 5:
            return 1.0
    return min(1.0, max(0.0, total))
