"""Seasons of a series: the length of a cycle, and its shape as a sum of harmonics."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

# The last points from which a season is fitted.
MAX_POINTS = 1_000
MAX_HARMONICS = 12
# Harmonics by which lengths are compared, lengths tried between two frequencies, and multiples tried: a season with two
# peaks has most power at half of its length.
_COMPARED_HARMONICS = 3
_LENGTHS = 40
_MULTIPLES = (1, 2, 3)
MIN_CYCLES = 2


@dataclass(frozen=True, slots=True)
class Season:
    """The shape of a season."""

    period: float
    """Points per cycle."""
    harmonics: int
    coefficients: Values

    @property
    def parameters(self) -> int:
        return 2 * self.harmonics

    def at(self, times: Values) -> Values:
        """Return the deviation from the level at these times, counted in points from the start of the fitted series."""
        return _waves(times, self.period, self.harmonics) @ self.coefficients


def refine_period(values: Values, cycles: int) -> float:
    """Return the points per cycle of an oscillation whose frequency was found as a whole number of cycles.

    The length between the neighbouring frequencies, or a multiple of it, is the one that explains the series best by
    Schwarz's criterion. A whole number of points is preferred to a fraction that is hardly better.
    """
    n, recent = len(values), values[-MAX_POINTS:]
    low, high = n / (cycles + 1), n / max(cycles - 1, MIN_CYCLES - 0.5)
    best, best_criterion = n / cycles, float("inf")
    for multiple in _MULTIPLES:
        for period in _lengths(multiple * low, multiple * high):
            if period < 2 or period * MIN_CYCLES > len(recent):
                continue
            harmonics = max(1, min(_COMPARED_HARMONICS, int(period // 2)))
            # A fraction of a point is one more parameter, and a multiple must earn its longer cycle.
            cost = (float(period) != round(period)) + 2 * (multiple > 1)
            criterion = _criterion(recent, period, harmonics, cost)
            if criterion < best_criterion:
                best, best_criterion = float(period), criterion
    return best


def fit_season(values: Values, period: float) -> Season | None:
    """Return the season of this length with the number of harmonics that Schwarz's criterion prefers.

    None for fewer than two cycles.
    """
    if period < 2 or period * MIN_CYCLES > len(values):
        return None
    most = min(MAX_HARMONICS, int(period // 2), (len(values) - 8) // 2)
    if most < 1:
        return None
    harmonics = min(range(1, most + 1), key=lambda count: _criterion(values, period, count, 0))
    coefficients = _fit(values, period, harmonics)[0]
    return Season(period, harmonics, coefficients[2:])


def _lengths(low: float, high: float) -> Iterator[float]:
    yield from (float(length) for length in range(int(np.ceil(low)), int(high) + 1))
    yield from np.linspace(low, high, _LENGTHS + 2)[1:-1].tolist()


def _criterion(values: Values, period: float, harmonics: int, cost: int) -> float:
    n = len(values)
    square = max(_fit(values, period, harmonics)[1], 1e-24 * n)
    return n * log(square / n) + (2 * harmonics + cost) * log(n)


def _fit(values: Values, period: float, harmonics: int) -> tuple[Values, float]:
    """Return the coefficients of a line and the waves of a season, and the sum of squares that they leave."""
    time = np.arange(len(values), dtype=np.float64)
    columns = np.column_stack([np.ones(len(values)), time / len(values), _waves(time, period, harmonics)])
    coefficients: Values = np.linalg.lstsq(columns, values, rcond=None)[0].astype(np.float64, copy=False)
    rest = values - columns @ coefficients
    return coefficients, float(np.dot(rest, rest))


def _waves(times: Values, period: float, harmonics: int) -> Values:
    angles = 2 * np.pi * times[:, None] * np.arange(1, harmonics + 1) / period
    return np.hstack([np.cos(angles), np.sin(angles)])
