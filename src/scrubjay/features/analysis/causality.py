"""What the past of one series tells about another: Granger's test, both ways, for every pair.

The effect is explained by its own past, and then by the past of the cause as well; an F test says whether that is
better than chance. One lag more than is tested stands in both models, so that series with a unit root do not deceive
(Toda and Yamamoto).
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from math import atanh, sqrt, tanh
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.correlation import standardised
from scrubjay.features.analysis.distributions import above_f, holm
from scrubjay.features.analysis.models import Causation, Interval, RelationshipType

Values = NDArray[np.float64]

MOST_LAGS = 5
# What must be left of the points when all parameters are taken off.
LEAST_DEGREES = 5
LEAST_POINTS = 12
# Of standardised values: less than this is rounding, and what explains it explains nothing.
_ROUNDING = 1e-10


class Pasts:
    """Some series with their pasts: every regression among them is a small system of equations."""

    def __init__(self, series: Mapping[str, Values]) -> None:
        """All of one length, and each changing."""
        self.names = list(series)
        self.n = len(next(iter(series.values())))
        self.most_lags = max((lag for lag in range(1, MOST_LAGS + 1) if self._fits(lag, 2)), default=0)
        self._width = self.most_lags + 2
        rows = self.n - self.most_lags - 1
        columns = [np.ones(rows)]
        for values in series.values():
            columns += [values[self._width - 1 - lag : self.n - lag] for lag in range(self._width)]
        design = np.column_stack(columns)
        self.rows = rows
        self._gram = design.T @ design

    def _fits(self, lag: int, series: int) -> bool:
        return self.n - (lag + 1) - (series * (lag + 1) + 1) >= LEAST_DEGREES

    def column(self, name: str, lag: int) -> int:
        return 1 + self.names.index(name) * self._width + lag

    def past(self, name: str, lags: int) -> list[int]:
        return [self.column(name, lag) for lag in range(1, lags + 1)]

    def rest(self, target: int, columns: Sequence[int]) -> float:
        """The squares that are left of a column when these, and a constant, explain it."""
        used = [0, *columns]
        inner = self._gram[np.ix_(used, used)] + 1e-9 * np.eye(len(used))
        with_target = self._gram[used, target]
        solved = np.linalg.solve(inner, with_target)
        return max(float(self._gram[target, target] - with_target @ solved), 0.0)

    def lags(self, cause: str, effect: str) -> tuple[int, float]:
        """With how many lags the cause tells most, and how probable that is by chance: the choice is paid for."""
        tested = {lags: self.test(cause, effect, lags) for lags in range(1, self.most_lags + 1)}
        known = {lags: p for lags, p in tested.items() if p is not None}
        best = min(known, key=known.__getitem__)
        return best, min(1.0, len(known) * known[best])

    def test(self, cause: str, effect: str, lags: int, given: Sequence[str] = ()) -> float | None:
        """How probable it is that the cause's past explains so much by chance; None when there are too few points."""
        target = self.column(effect, 0)
        others = [column for name in given for column in self.past(name, lags + 1)]
        own = [*self.past(effect, lags + 1), *others, self.column(cause, lags + 1)]
        degrees = self.rows - 1 - len(own) - lags
        if degrees < LEAST_DEGREES:
            return None
        without = self.rest(target, own)
        with_cause = self.rest(target, [*own, *self.past(cause, lags)])
        if without <= _ROUNDING * self.rows:
            return 1.0
        explained = max(0.0, without - with_cause)
        f = (explained / lags) / max(with_cause / degrees, _ROUNDING)
        return above_f(f, lags, degrees)

    def strongest(self, cause: str, effect: str, lags: int) -> tuple[int, float]:
        """The lag at which the cause tells most of what nothing else tells, and its partial correlation."""
        target = self.column(effect, 0)
        best = (1, 0.0)
        for lag in range(1, lags + 1):
            column = self.column(cause, lag)
            given = [*self.past(effect, lags + 1), *(one for one in self.past(cause, lags + 1) if one != column)]
            alone, together = self.rest(target, given), self.rest(target, [*given, column])
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


def causations(
    series: Mapping[str, Values], related: Mapping[frozenset[str], bool], significance: float
) -> list[Causation]:
    """Every ordered pair that can be tested, corrected by Holm over all of them.

    `related` tells which pairs go together at the same time: so do many that cause nothing in each other.
    """
    points = min((len(values) for values in series.values()), default=0)
    if points < LEAST_POINTS:
        return []
    usable = {name: scaled for name, values in series.items() if (scaled := standardised(values[:points])) is not None}
    if len(usable) < 2:
        return []
    pasts = Pasts(usable)
    if not pasts.most_lags:
        return []
    pairs = list(permutations(usable, 2))
    tested = [pasts.lags(cause, effect) for cause, effect in pairs]
    lags, p_values = [lags for lags, _ in tested], [p for _, p in tested]
    corrected = holm(p_values)
    causes = {pair for pair, p in zip(pairs, corrected, strict=True) if p <= significance}
    answer: list[Causation] = []
    for pair, lag, p, correct in zip(pairs, lags, p_values, corrected, strict=True):
        strongest, strength = pasts.strongest(*pair, lag)
        goes_together = related.get(frozenset(pair), False)
        answer.append(
            Causation(
                cause=pair[0],
                effect=pair[1],
                lag=strongest,
                strength=strength,
                p_value=p,
                corrected_p_value=correct,
                significant=pair in causes,
                relationship_type=_relationship(pasts, pair, lag, causes, goes_together, significance),
                confidence_interval=_bounds(strength, pasts.rows - 2 * lag - 3, significance),
            )
        )
    return answer


def _relationship(
    pasts: Pasts,
    pair: tuple[str, str],
    lags: int,
    causes: set[tuple[str, str]],
    goes_together: bool,
    significance: float,
) -> RelationshipType:
    cause, effect = pair
    if pair not in causes:
        return "Spurious" if goes_together else "None"
    explaining = [
        other
        for other in pasts.names
        if other not in pair
        and (other, effect) in causes
        and (p := pasts.test(cause, effect, lags, given=[other])) is not None
        and p > significance
    ]
    if not explaining:
        return "Direct"
    return "Indirect" if any((cause, other) in causes for other in explaining) else "Spurious"


def _bounds(strength: float, degrees: int, significance: float) -> Interval | None:
    """Within which bounds the partial correlation is, by Fisher's transformation."""
    if degrees < 2 or abs(strength) >= 1:
        return None
    half = NormalDist().inv_cdf(1 - significance / 2) / sqrt(degrees - 1)
    return (tanh(atanh(strength) - half), tanh(atanh(strength) + half))
