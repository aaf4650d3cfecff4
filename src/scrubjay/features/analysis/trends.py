"""Where a series goes: the test of Mann and Kendall, and for swings the one of Fisher."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, floor, lgamma, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.correlation import standardised
from scrubjay.features.analysis.distributions import holm, two_sided_normal
from scrubjay.features.analysis.models import Trend

# Pairs are counted point by point up to here; of a longer series, means of as many stretches are compared.
MOST_COMPARED = 2_000
# Up to here, and without ties, the exact distribution is used.
MOST_EXACT = 60
# A swing must be seen at least twice, and fewer points than this show none.
LEAST_SWINGS, LEAST_FOR_SWINGS = 2, 12


@dataclass(frozen=True, slots=True)
class Swing:
    """The strongest swing of a series."""

    p_value: float
    share: float
    """Of the variance."""
    period: float
    """In points."""


@dataclass(frozen=True, slots=True)
class Movement:
    """What both tests say of a series, not corrected yet."""

    tau: float
    p_value: float | None
    """None for a series that never changes."""
    slope: float
    swing: Swing | None


def movement(values: NDArray[np.float64]) -> Movement:
    return Movement(*kendall(values), swinging(values))


def trends(movements: Mapping[str, Movement], significance: float) -> list[Trend]:
    """The trend of each series; both tests of all series are corrected together, by Holm."""
    tests = [one.p_value for one in movements.values()] + [
        one.swing and one.swing.p_value for one in movements.values()
    ]
    known = iter(holm([p for p in tests if p is not None]))
    corrected = [None if p is None else next(known) for p in tests]
    answer: list[Trend] = []
    for place, (name, one) in enumerate(movements.items()):
        of_trend, of_swing = corrected[place], corrected[place + len(movements)]
        direction, strength, p, correct, period = "Stationary", abs(one.tau), one.p_value, of_trend, None
        significant = of_trend is not None and of_trend <= significance
        if significant:
            direction = "Increasing" if one.tau > 0 else "Decreasing"
        elif one.swing is not None and of_swing is not None and of_swing <= significance:
            direction, significant, correct = "Oscillating", True, of_swing
            strength, p, period = one.swing.share, one.swing.p_value, one.swing.period
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
    """Kendall's tau of the values with time, how probable one as far from 0 is by chance, and the median slope.

    No probability for a series that never changes.
    """
    stretch = ceil(len(values) / MOST_COMPARED)
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
    if not len(ties) and n <= MOST_EXACT:
        return tau, _exact(n, abs(score)), slope
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    z = 0.0 if score == 0 else (abs(score) - 1) / sqrt(variance)
    return tau, two_sided_normal(z), slope


def _exact(n: int, score: int) -> float:
    """How probable a score as far from 0 is when every order of n points is equally probable."""
    shares = _orders(n)
    swapped = (n * (n - 1) // 2 - score) // 2
    return min(1.0, 2 * float(shares[: swapped + 1].sum()))


@lru_cache(maxsize=MOST_EXACT)
def _orders(n: int) -> NDArray[np.float64]:
    """The share of all orders of n points that have each number of swapped pairs."""
    shares = np.ones(1)
    for size in range(2, n + 1):
        shares = np.convolve(shares, np.full(size, 1 / size))
    return shares


def swinging(values: NDArray[np.float64]) -> Swing | None:
    """Of the strongest swing: how probable one as strong is in noise, its share of the variance, and its period.

    Fisher's test of the periodogram, after a straight line is taken off. None for few points, for a series that is
    just a line, and when the strongest swing is slower than half the series.
    """
    n = len(values)
    if n < LEAST_FOR_SWINGS:
        return None
    time = np.arange(n) - (n - 1) / 2
    scaled = standardised(values)
    if scaled is None:
        return None
    rest = scaled - time * float(np.dot(time, scaled) / np.dot(time, time))
    if standardised(rest) is None or float(np.dot(rest, rest)) < 1e-18 * n:
        return None
    power = np.abs(np.fft.rfft(rest)[1 : (n - 1) // 2 + 1]) ** 2
    strongest = int(np.argmax(power))
    if strongest + 1 < LEAST_SWINGS:
        return None
    share = float(power[strongest] / power.sum())
    return Swing(_fisher_g(share, len(power)), share, n / (strongest + 1))


def _fisher_g(share: float, frequencies: int) -> float:
    """How probable it is that one of so many frequencies of noise has at least this share of the power."""
    total, most = 0.0, min(floor(1 / share), frequencies)
    for j in range(1, most + 1):
        if j * share >= 1:
            break
        ways = lgamma(frequencies + 1) - lgamma(j + 1) - lgamma(frequencies - j + 1)
        term = exp(ways + (frequencies - 1) * log1p(-j * share))
        total += term if j % 2 else -term
        # The terms fall fast where the answer matters; with a small share they do not, and the answer is near 1.
        if j == 1 and term > 5:
            return 1.0
    return min(1.0, max(0.0, total))
