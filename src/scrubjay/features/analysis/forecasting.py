"""Forecasts by exponential smoothing with additive error and additive trend, ETS(A,A,N).

For each pair of smoothing parameters, the errors are linear in the initial level and slope, so these are solved
exactly. The smoothing parameters are found on a grid that is refined twice around its best point. The prediction
intervals include the uncertainty of the parameters: every pair of the grid is weighted by its likelihood.

A season of known length is subtracted before the model is fitted and added to its forecast.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.distributions import t_quantile
from scrubjay.features.analysis.models import Forecast
from scrubjay.features.analysis.seasons import Season, fit_season

Values = NDArray[np.float64]

# Two smoothing parameters, the initial level and the initial slope.
PARAMETERS = 4
MIN_POINTS = PARAMETERS + 4
# The last points that are used; older ones hardly affect the forecast.
MAX_POINTS = 1_000
_GRID = 10
_REFINED_GRID = 7
# Squares of values between -1 and 1 below this are rounding error.
_ROUNDING = 1e-24


@dataclass(frozen=True, slots=True)
class _Fit:
    """The model fitted to a series without its season."""

    scaled: Values
    offset: float
    scale: float
    coarse: "_ParameterGrid"
    grid: "_ParameterGrid"
    best: int
    degrees: int
    """Points less the parameters of the model and of the season."""

    @property
    def variance(self) -> float:
        """Variance of the one-step errors."""
        return float(self.grid.squares[self.best]) / self.degrees * self.scale**2


def forecast(name: str, values: Values, horizon: int, significance: float, period: float | None = None) -> Forecast:
    """Return the next points with prediction intervals at level 1 - `significance`.

    A season of `period` points is continued, unless it makes the errors of the fit larger.
    """
    if len(values) < MIN_POINTS:
        return _no_forecast(name, f"{len(values)} points are too few to fit four parameters; {MIN_POINTS} are needed")
    recent = values[-MAX_POINTS:]
    fit, season, note = _fit(recent, 0), None, None
    if period is not None:
        season, fit, note = _with_season(recent, period, fit)
    points = fit.grid.means(horizon)[:, fit.best]
    parameters = season.parameters if season is not None else 0
    # The errors of the season's own coefficients, and the degrees of freedom that they take.
    inflation = (1 + parameters / len(recent)) * (fit.degrees + parameters) / fit.degrees
    deviation = np.sqrt(fit.coarse.mean_square_around(points) * inflation)
    half = t_quantile(1 - significance / 2, fit.degrees) * deviation
    ahead = len(recent) + np.arange(horizon, dtype=np.float64)
    added = season.at(ahead) if season is not None else np.zeros(horizon)
    middle, lower, upper = (fit.offset + fit.scale * side + added for side in (points, points - half, points + half))
    if not all(np.isfinite(side).all() for side in (middle, lower, upper)):
        return _no_forecast(name, "the numbers are too large to forecast")
    return Forecast(
        variable=name,
        point_forecasts=middle.tolist(),
        lower_bounds=lower.tolist(),
        upper_bounds=upper.tolist(),
        fit_quality=_quality(fit.variance / fit.scale**2, (recent - fit.offset) / fit.scale),
        level_smoothing=float(fit.grid.alphas[fit.best]),
        trend_smoothing=float(fit.grid.betas[fit.best]),
        season=season.period if season is not None else None,
        note=note,
    )


def _with_season(recent: Values, period: float, plain: _Fit) -> tuple[Season | None, _Fit, str | None]:
    """Return the season and the fit without it; the plain fit, with the reason, if the season does not improve it."""
    about = f"the season of {period:.3g} points is not continued: "
    season = fit_season(recent, period)
    if season is None or len(recent) < PARAMETERS + season.parameters + 4:
        return None, plain, f"{about}the last {len(recent)} points have too few cycles"
    fit = _fit(recent - season.at(np.arange(len(recent), dtype=np.float64)), season.parameters)
    if fit.variance >= plain.variance:
        return None, plain, f"{about}the errors of the fit are not smaller with it"
    return season, fit, None


def _fit(values: Values, season_parameters: int) -> _Fit:
    offset = float(values.mean())
    scale = float(np.max(np.abs(values - offset))) or 1.0
    scaled = (values - offset) / scale
    coarse = _ParameterGrid(scaled, np.linspace(0.0, 0.99, _GRID), np.linspace(0.0, 1.0, _GRID))
    grid, best = coarse, coarse.best
    reach = 0.5 / (_GRID - 1)
    for _ in range(2):
        alpha, share = float(grid.alphas[best]), float(grid.shares[best])
        around = np.linspace(-reach, reach, _REFINED_GRID)
        grid = _ParameterGrid(scaled, np.clip(alpha + around, 0.0, 0.999), np.clip(share + around, 0.0, 1.0))
        best, reach = grid.best, reach / _REFINED_GRID
    degrees = len(scaled) - PARAMETERS - season_parameters
    return _Fit(scaled, offset, scale, coarse, grid, best, degrees)


def _no_forecast(name: str, note: str) -> Forecast:
    return Forecast(
        variable=name,
        point_forecasts=(),
        lower_bounds=(),
        upper_bounds=(),
        fit_quality=None,
        level_smoothing=None,
        trend_smoothing=None,
        season=None,
        note=note,
    )


def _quality(variance: float, values: Values) -> float:
    """Return the reduction of the squared error compared with repeating the last value, 0 to 1."""
    steps = np.diff(values)
    naive = float(np.dot(steps, steps)) / len(steps)
    return 1.0 if naive < _ROUNDING else max(0.0, 1.0 - variance / naive)


class _ParameterGrid:
    """The model, fitted for every pair of smoothing parameters.

    The parameter of the trend is a share of that of the level, so that every pair is admissible.
    """

    def __init__(self, values: Values, alphas: Values, shares: Values) -> None:
        first, second = np.meshgrid(alphas, shares)
        self.alphas, self.shares = first.ravel(), second.ravel()
        self.betas = self.alphas * self.shares
        self.n, pairs = len(values), len(self.alphas)
        # Contributions of the values, of one unit of the initial level, and of one unit of the initial slope.
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
        """Return the point forecasts of each pair, for every step ahead."""
        ahead = np.arange(1, horizon + 1)[:, None]
        return (self._level * self._start).sum(axis=0) + ahead * (self._slope * self._start).sum(axis=0)

    def mean_square_around(self, points: Values) -> Values:
        """Return the mean squared deviation from these points, over all pairs weighted by likelihood."""
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
