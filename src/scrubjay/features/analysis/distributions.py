"""Tail probabilities of the normal, Student's t and F distributions, and Holm's correction."""

from collections.abc import Sequence
from math import erfc, exp, inf, isinf, lgamma, log, log1p, sqrt

_TINY = 1e-300
_PRECISION = 1e-15
_MAX_TERMS = 500


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function: the cumulative distribution of beta(a, b) at x."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b))
    # The continued fraction converges fast below the mean; above it, that of the other tail does.
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, x) / a
    return 1.0 - front * _continued_fraction(b, a, 1 - x) / b


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function by Lentz's method."""
    numerator, denominator = 1.0, 1.0 / _nonzero(1.0 - (a + b) * x / (a + 1.0))
    value = denominator
    for m in range(1, _MAX_TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            denominator = 1.0 / _nonzero(1.0 + term * denominator)
            numerator = _nonzero(1.0 + term / numerator)
            change = numerator * denominator
            value *= change
        if abs(change - 1.0) < _PRECISION:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def two_sided_t(t: float, degrees: float) -> float:
    """Return the two-sided p-value of Student's t."""
    if isinf(t):
        return 0.0
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def f_upper_tail(f: float, first: float, second: float) -> float:
    """Return the upper tail probability of the F distribution with these degrees of freedom."""
    if f <= 0:
        return 1.0
    if isinf(f):
        return 0.0
    return incomplete_beta(second / 2, first / 2, second / (second + first * f))


def two_sided_normal(z: float) -> float:
    """Return the two-sided p-value of a standard normal z."""
    return erfc(abs(z) / sqrt(2))


def t_quantile(share: float, degrees: float) -> float:
    """Return the quantile of Student's t distribution for a share above 0.5, by bisection."""
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
    """Return p-values corrected for multiple tests by Holm's step-down method, in the given order."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = highest
    return corrected
