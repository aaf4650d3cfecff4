"""Probabilities of the normal, Student's and Fisher's distribution, exact for few points as well."""

from collections.abc import Sequence
from math import erfc, exp, inf, isinf, lgamma, log, log1p, sqrt

_SMALLEST = 1e-300
_PRECISION = 1e-15
_MOST_TERMS = 500


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function: the share of a beta(a, b) distribution below x."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b))
    # The fraction converges fast below the mean; above it, the other tail's does.
    if x < (a + 1) / (a + b + 2):
        return front * _continued(a, b, x) / a
    return 1.0 - front * _continued(b, a, 1 - x) / b


def _continued(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, from the front (the method of Lentz)."""
    numerator, denominator = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = denominator
    for m in range(1, _MOST_TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            denominator = 1.0 / _away(1.0 + term * denominator)
            numerator = _away(1.0 + term / numerator)
            change = numerator * denominator
            value *= change
        if abs(change - 1.0) < _PRECISION:
            break
    return value


def _away(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST


def two_sided_t(t: float, degrees: float) -> float:
    """How probable a value of Student's distribution is that is as far from 0 as t."""
    if isinf(t):
        return 0.0
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def above_f(f: float, first: float, second: float) -> float:
    """How probable a value of Fisher's distribution is that is above f."""
    if f <= 0:
        return 1.0
    if isinf(f):
        return 0.0
    return incomplete_beta(second / 2, first / 2, second / (second + first * f))


def two_sided_normal(z: float) -> float:
    """How probable a normal value is that is as far from its mean as z standard deviations."""
    return erfc(abs(z) / sqrt(2))


def t_quantile(share: float, degrees: float) -> float:
    """Below which value of Student's distribution this share is; for shares above a half."""
    tail = 2 * (1 - share)
    low, high = 0.0, 1.0
    while two_sided_t(high, degrees) > tail:
        high *= 2
        if high > 1e12:
            return inf
    for _ in range(100):
        middle = (low + high) / 2
        if two_sided_t(middle, degrees) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values as they are when so many tests are made at once (the step-down method of Holm)."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = highest
    return corrected
