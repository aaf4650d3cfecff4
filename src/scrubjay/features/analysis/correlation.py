"""Pearson correlation of every pair of series, with Student's t-test."""

from collections.abc import Mapping
from itertools import combinations
from math import atanh, inf, sqrt, tanh
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.distributions import holm, two_sided_t
from scrubjay.features.analysis.models import Correlation, Interval

# A relative deviation below this is rounding error of a constant series.
_ROUNDING = 1e-13
_ONE = 1 - 1e-15


def correlate(series: Mapping[str, NDArray[np.float64]], significance: float) -> list[Correlation]:
    """Return the correlation of every pair over their common length, with Holm correction over all pairs."""
    found = [(pair, *_pearson(series[pair[0]], series[pair[1]])) for pair in combinations(series, 2)]
    corrected = iter(holm([p for _, _, _, p in found if p is not None]))
    answer: list[Correlation] = []
    for pair, points, coefficient, p in found:
        correct = None if p is None else next(corrected)
        answer.append(
            Correlation(
                variables=pair,
                points=points,
                coefficient=coefficient,
                p_value=p,
                corrected_p_value=correct,
                significant=correct is not None and correct <= significance,
                confidence_interval=None
                if coefficient is None
                else _confidence_interval(coefficient, points, significance),
            )
        )
    return answer


def _pearson(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[int, float | None, float | None]:
    """Return the common number of points, the coefficient and its two-sided p-value."""
    points = min(len(first), len(second))
    a, b = standardize(first[:points]), standardize(second[:points])
    if a is None or b is None:
        return points, None, None
    r = float(np.clip(np.dot(a, b) / points, -1.0, 1.0))
    degrees = points - 2
    t = inf if abs(r) >= _ONE else r * sqrt(degrees / ((1 - r) * (1 + r)))
    return points, r, two_sided_t(t, degrees)


def standardize(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Scale values to mean 0 and standard deviation 1; None for a constant series."""
    scale = float(np.max(np.abs(values)))
    if scale == 0:
        return None
    scaled = values / scale
    centred = scaled - scaled.mean()
    deviation = sqrt(float(np.dot(centred, centred)) / len(values))
    return None if deviation <= _ROUNDING else centred / deviation


def _confidence_interval(r: float, points: int, significance: float) -> Interval | None:
    """Return the confidence interval of a coefficient, by Fisher's transformation."""
    if points < 4:
        return None
    if abs(r) >= _ONE:
        return (r, r)
    half = NormalDist().inv_cdf(1 - significance / 2) / sqrt(points - 3)
    return (tanh(atanh(r) - half), tanh(atanh(r) + half))
