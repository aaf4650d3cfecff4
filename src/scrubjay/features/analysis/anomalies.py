"""Outlier detection: DBSCAN on the residuals from a running median."""

from math import ceil
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.models import Anomalies

Values = NDArray[np.float64]

MIN_POINTS = 5
# Window of the running median, in points; it tolerates outliers in up to half of the window.
WINDOW = 11
# DBSCAN radius in robust standard deviations: 3.5 at sensitivity 0, 2 at 0.5, 0.5 at 1.
MAX_REACH, REACH_RANGE = 3.5, 3.0
# A core point has this share of all points within the radius, and at least three.
DENSE_SHARE, DENSE_MIN_POINTS = 0.1, 3
# Factors from the median absolute deviation, and from the mean absolute deviation, to the standard deviation of a
# normal distribution.
_MAD, _MEAN_DEVIATION = 1.4826, 1.2533


def find_anomalies(name: str, values: Values, sensitivity: float) -> Anomalies:
    """Return the points that DBSCAN classifies as noise; none for a series that is short or constant."""
    nothing = Anomalies(variable=name, indices=(), scores=(), confidence=None)
    if len(values) < MIN_POINTS:
        return nothing
    rest = values - _running_median(values)
    centred = rest - np.median(rest)
    size = float(np.median(np.abs(centred))) * _MAD
    largest = float(np.max(np.abs(centred)))
    if size <= 1e-9 * largest:
        size = float(np.mean(np.abs(centred))) * _MEAN_DEVIATION
    if size <= 1e-12 * float(np.max(np.abs(values))) or size == 0:
        return nothing
    scaled = centred / size
    found, distances = _noise_points(scaled, MAX_REACH - REACH_RANGE * sensitivity)
    if not len(found):
        return nothing
    nearest = float(np.min(np.abs(scaled[found])))
    return Anomalies(
        variable=name,
        indices=found.tolist(),
        scores=distances.tolist(),
        # Probability that normal noise of this length has no point as far out as the nearest outlier.
        confidence=(1 - 2 * NormalDist().cdf(-nearest)) ** len(values),
    )


def _running_median(values: Values) -> Values:
    """Return the running median; the median of all points when they fit one window."""
    n = len(values)
    if n <= WINDOW:
        return np.full(n, np.median(values))
    half = WINDOW // 2
    around = np.lib.stride_tricks.sliding_window_view(values, WINDOW)
    middle = np.median(around, axis=1)
    return np.concatenate([np.full(half, middle[0]), middle, np.full(half, middle[-1])])


def _noise_points(values: Values, reach: float) -> tuple[NDArray[np.intp], Values]:
    """Return the indices of DBSCAN's noise points and their distances from the nearest core point.

    In one dimension, sorting finds the neighbours: a point is a core point when enough points are within `reach`, and
    noise when no core point is.
    """
    order = np.argsort(values, kind="stable")
    line = values[order]
    within = np.searchsorted(line, line + reach, side="right") - np.searchsorted(line, line - reach, side="left")
    cores = line[within >= max(DENSE_MIN_POINTS, ceil(DENSE_SHARE * len(line)))]
    if not len(cores):
        return np.empty(0, dtype=np.intp), np.empty(0)
    place = np.searchsorted(cores, values)
    below = np.abs(values - cores[np.maximum(place - 1, 0)])
    above = np.abs(cores[np.minimum(place, len(cores) - 1)] - values)
    distance = np.minimum(below, above)
    found = np.flatnonzero(distance > reach)
    return found, distance[found]
