"""How series go on: exponential smoothing with an additive error and an additive trend, ETS(A,A,N).

For each pair of smoothing parameters the errors are linear in the first level and slope, so these two are found
exactly; the parameters themselves on a grid that is made finer twice around its best place. The bounds allow for what
is not known of the parameters as well: every pair of the grid counts by its likelihood.
"""

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.distributions import t_quantile
from scrubjay.features.analysis.models import Forecast

Values = NDArray[np.float64]

# What is estimated: two smoothing parameters, the first level, the first slope.
PARAMETERS = 4
LEAST_POINTS = PARAMETERS + 4
# What is longer ago says little of what comes; the last points are used.
MOST_REMEMBERED = 1_000
_GRID = 10
_FINER = 7
# Of values between -1 and 1: what is less is rounding.
_ROUNDING = 1e-24


def forecast(name: str, values: Values, horizon: int, significance: float) -> Forecast:
    """The next points, with bounds that each holds with the probability 1 - significance."""
    if len(values) < LEAST_POINTS:
        return _nothing(
            name, f"{len(values)} points do not tell four parameters and their error: {LEAST_POINTS} are needed"
        )
    recent = values[-MOST_REMEMBERED:]
    offset = float(recent.mean())
    scale = float(np.max(np.abs(recent - offset))) or 1.0
    scaled = (recent - offset) / scale
    coarse = _Grid(scaled, np.linspace(0.0, 0.99, _GRID), np.linspace(0.0, 1.0, _GRID))
    grid, best = coarse, coarse.best
    reach = 0.5 / (_GRID - 1)
    for _ in range(2):
        alpha, share = float(grid.alphas[best]), float(grid.shares[best])
        around = np.linspace(-reach, reach, _FINER)
        grid = _Grid(scaled, np.clip(alpha + around, 0.0, 0.999), np.clip(share + around, 0.0, 1.0))
        best, reach = grid.best, reach / _FINER
    points = grid.means(horizon)[:, best]
    deviation = np.sqrt(coarse.spread_around(points))
    degrees = len(scaled) - PARAMETERS
    half = t_quantile(1 - significance / 2, degrees) * deviation
    told = [offset + scale * side for side in (points, points - half, points + half)]
    if not all(np.isfinite(side).all() for side in told):
        return _nothing(name, "the numbers are too large to go on with")
    return Forecast(
        variable=name,
        point_forecasts=told[0].tolist(),
        lower_bounds=told[1].tolist(),
        upper_bounds=told[2].tolist(),
        fit_quality=_quality(float(grid.squares[best]) / degrees, scaled),
        level_smoothing=float(grid.alphas[best]),
        trend_smoothing=float(grid.betas[best]),
        note=None,
    )


def _nothing(name: str, note: str) -> Forecast:
    return Forecast(
        variable=name,
        point_forecasts=(),
        lower_bounds=(),
        upper_bounds=(),
        fit_quality=None,
        level_smoothing=None,
        trend_smoothing=None,
        note=note,
    )


def _quality(variance: float, values: Values) -> float:
    """By how much the errors are smaller than those of saying that the next point is like the last; at least 0."""
    steps = np.diff(values)
    naive = float(np.dot(steps, steps)) / len(steps)
    return 1.0 if naive < _ROUNDING else max(0.0, 1.0 - variance / naive)


class _Grid:
    """The model with every pair of some smoothing parameters.

    The trend's parameter is a share of the level's, which keeps all of them admissible.
    """

    def __init__(self, values: Values, alphas: Values, shares: Values) -> None:
        first, second = np.meshgrid(alphas, shares)
        self.alphas, self.shares = first.ravel(), second.ravel()
        self.betas = self.alphas * self.shares
        self.n, pairs = len(values), len(self.alphas)
        # What comes from the values alone, and from one unit of the first level and of the first slope.
        level, slope = np.zeros((3, pairs)), np.zeros((3, pairs))
        level[1] = slope[2] = 1.0
        errors, given = np.empty((self.n, 3, pairs)), np.zeros((3, 1))
        for place in range(self.n):
            given[0, 0] = values[place]
            ahead = level + slope
            errors[place] = error = given - ahead
            level = ahead + self.alphas * error
            slope = slope + self.betas * error
        plain, begun = errors[:, 0], errors[:, 1:]
        gram = np.einsum("nip,njp->pij", begun, begun) + 1e-12 * np.eye(2)
        product = np.einsum("nip,np->pi", begun, plain)
        uncertain = np.empty_like(gram)
        uncertain[:, 0, 0], uncertain[:, 1, 1] = gram[:, 1, 1], gram[:, 0, 0]
        uncertain[:, 0, 1] = uncertain[:, 1, 0] = -gram[:, 0, 1]
        uncertain /= (gram[:, 0, 0] * gram[:, 1, 1] - gram[:, 0, 1] ** 2)[:, None, None]
        start = -np.einsum("pij,pj->pi", uncertain, product)
        rest = plain + np.einsum("nip,pi->np", begun, start)
        self.squares = np.maximum(np.einsum("np,np->p", rest, rest), _ROUNDING * self.n)
        self._uncertain = uncertain
        self._start = np.vstack([np.ones(pairs), start.T])
        self._level, self._slope = level, slope

    @property
    def best(self) -> int:
        return int(np.argmin(self.squares))

    def means(self, horizon: int) -> Values:
        """What each pair expects, for every step ahead."""
        ahead = np.arange(1, horizon + 1)[:, None]
        return (self._level * self._start).sum(axis=0) + ahead * (self._slope * self._start).sum(axis=0)

    def spread_around(self, points: Values) -> Values:
        """The mean square of what comes around these points, over all pairs by their likelihood."""
        horizon = len(points)
        likelihood = np.log(self.squares) * -((self.n - 2) / 2)
        weights = np.exp(likelihood - likelihood.max())
        weights /= weights.sum()
        ahead = np.arange(1, horizon + 1)[:, None]
        carried = (self.alphas + self.betas * np.arange(1, horizon)[:, None]) ** 2
        noise = 1.0 + np.vstack([np.zeros(len(weights)), np.cumsum(carried, axis=0)])
        by_start = self._level[1:] + ahead[:, None] * self._slope[1:]
        start = np.einsum("hip,pij,hjp->hp", by_start, self._uncertain, by_start)
        variance = self.squares / (self.n - PARAMETERS)
        return ((noise + start) * variance + (self.means(horizon) - points[:, None]) ** 2) @ weights
