"""Granger causality: does the past of one series predict another better than the other's own past?

An F-test compares a regression of the effect on its own past with one that adds the past of the cause. Both models
contain one lag more than is tested, so that the test stays valid for series with a unit root (Toda and Yamamoto, 1995).
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from math import atanh, sqrt, tanh
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.correlation import standardize
from scrubjay.features.analysis.distributions import f_upper_tail, holm
from scrubjay.features.analysis.models import Causation, Interval, RelationshipType

Values = NDArray[np.float64]

MAX_LAGS = 5
# Required degrees of freedom: points minus parameters.
MIN_DEGREES = 5
MIN_POINTS = 12
# Mean square residuals of standardized values below this are rounding error.
_ROUNDING = 1e-10


class LagRegression:
    """Regressions among lagged series. The Gram matrix is computed once; each regression solves a small system."""

    def __init__(self, series: Mapping[str, Values]) -> None:
        """The series must have equal length, and none may be constant."""
        self.names = list(series)
        self.n = len(next(iter(series.values())))
        self.max_lags = max((lag for lag in range(1, MAX_LAGS + 1) if self._fits(lag, 2)), default=0)
        self._width = self.max_lags + 2
        rows = self.n - self.max_lags - 1
        columns = [np.ones(rows)]
        for values in series.values():
            columns += [values[self._width - 1 - lag : self.n - lag] for lag in range(self._width)]
        design = np.column_stack(columns)
        self.rows = rows
        self._gram = design.T @ design

    def _fits(self, lag: int, series: int) -> bool:
        return self.n - (lag + 1) - (series * (lag + 1) + 1) >= MIN_DEGREES

    def column(self, name: str, lag: int) -> int:
        return 1 + self.names.index(name) * self._width + lag

    def lag_columns(self, name: str, lags: int) -> list[int]:
        return [self.column(name, lag) for lag in range(1, lags + 1)]

    def residual_square_sum(self, target: int, columns: Sequence[int]) -> float:
        """Return the residual sum of squares of a column, regressed on these columns and a constant."""
        used = [0, *columns]
        inner = self._gram[np.ix_(used, used)] + 1e-9 * np.eye(len(used))
        with_target = self._gram[used, target]
        solved = np.linalg.solve(inner, with_target)
        return max(float(self._gram[target, target] - with_target @ solved), 0.0)

    def best_lags(self, cause: str, effect: str) -> tuple[int, float]:
        """Return the number of lags with the lowest p-value, and that p-value, Bonferroni-corrected for the choice."""
        tested = {lags: self.granger_p_value(cause, effect, lags) for lags in range(1, self.max_lags + 1)}
        known = {lags: p for lags, p in tested.items() if p is not None}
        best = min(known, key=known.__getitem__)
        return best, min(1.0, len(known) * known[best])

    def granger_p_value(self, cause: str, effect: str, lags: int, given: Sequence[str] = ()) -> float | None:
        """Return the p-value of Granger's F-test, controlling for the series `given`; None with too few points."""
        target = self.column(effect, 0)
        others = [column for name in given for column in self.lag_columns(name, lags + 1)]
        own = [*self.lag_columns(effect, lags + 1), *others, self.column(cause, lags + 1)]
        degrees = self.rows - 1 - len(own) - lags
        if degrees < MIN_DEGREES:
            return None
        without = self.residual_square_sum(target, own)
        with_cause = self.residual_square_sum(target, [*own, *self.lag_columns(cause, lags)])
        if without <= _ROUNDING * self.rows:
            return 1.0
        explained = max(0.0, without - with_cause)
        f = (explained / lags) / max(with_cause / degrees, _ROUNDING)
        return f_upper_tail(f, lags, degrees)

    def strongest_lag(self, cause: str, effect: str, lags: int) -> tuple[int, float]:
        """Return the lag with the largest partial correlation, and that correlation."""
        target = self.column(effect, 0)
        best = (1, 0.0)
        for lag in range(1, lags + 1):
            column = self.column(cause, lag)
            given = [
                *self.lag_columns(effect, lags + 1),
                *(one for one in self.lag_columns(cause, lags + 1) if one != column),
            ]
            alone, together = (
                self.residual_square_sum(target, given),
                self.residual_square_sum(target, [*given, column]),
            )
            if alone <= _ROUNDING * self.rows:
                continue
            size = sqrt(min(1.0, max(0.0, 1 - together / alone)))
            if size > abs(best[1]):
                best = (lag, size * self._sign(target, column, given))
        return best

    def _sign(self, target: int, column: int, given: Sequence[int]) -> float:
        used = [0, *given, column]
        inner = self._gram[np.ix_(used, used)] + 1e-9 * np.eye(len(used))
        return 1.0 if float(np.linalg.solve(inner, self._gram[used, target])[-1]) >= 0 else -1.0


def find_causations(
    series: Mapping[str, Values], related: Mapping[frozenset[str], bool], significance: float
) -> list[Causation]:
    """Test every ordered pair, with Holm correction over all of them.

    `related` has the pairs with a significant correlation at lag 0, which are `Spurious` rather than `None` without a
    significant test.
    """
    points = min((len(values) for values in series.values()), default=0)
    if points < MIN_POINTS:
        return []
    usable = {name: scaled for name, values in series.items() if (scaled := standardize(values[:points])) is not None}
    if len(usable) < 2:
        return []
    regression = LagRegression(usable)
    if not regression.max_lags:
        return []
    pairs = list(permutations(usable, 2))
    tested = [regression.best_lags(cause, effect) for cause, effect in pairs]
    lags, p_values = [lags for lags, _ in tested], [p for _, p in tested]
    corrected = holm(p_values)
    causes = {pair for pair, p in zip(pairs, corrected, strict=True) if p <= significance}
    answer: list[Causation] = []
    for pair, lag, p, correct in zip(pairs, lags, p_values, corrected, strict=True):
        strongest, strength = regression.strongest_lag(*pair, lag)
        is_correlated = related.get(frozenset(pair), False)
        answer.append(
            Causation(
                cause=pair[0],
                effect=pair[1],
                lag=strongest,
                strength=strength,
                p_value=p,
                corrected_p_value=correct,
                significant=pair in causes,
                relationship_type=_relationship(regression, pair, lag, causes, is_correlated, significance),
                confidence_interval=_confidence_interval(strength, regression.rows - 2 * lag - 3, significance),
            )
        )
    return answer


def _relationship(
    regression: LagRegression,
    pair: tuple[str, str],
    lags: int,
    causes: set[tuple[str, str]],
    is_correlated: bool,
    significance: float,
) -> RelationshipType:
    cause, effect = pair
    if pair not in causes:
        return "Spurious" if is_correlated else "None"
    explaining = [
        other
        for other in regression.names
        if other not in pair
        and (other, effect) in causes
        and (p := regression.granger_p_value(cause, effect, lags, given=[other])) is not None
        and p > significance
    ]
    if not explaining:
        return "Direct"
    return "Indirect" if any((cause, other) in causes for other in explaining) else "Spurious"


def _confidence_interval(strength: float, degrees: int, significance: float) -> Interval | None:
    """Return the confidence interval of a partial correlation, by Fisher's transformation."""
    if degrees < 2 or abs(strength) >= 1:
        return None
    half = NormalDist().inv_cdf(1 - significance / 2) / sqrt(degrees - 1)
    return (tanh(atanh(strength) - half), tanh(atanh(strength) + half))
