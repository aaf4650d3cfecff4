"""Points that are far from all others: DBSCAN over what is left when the running median is taken off."""

from math import ceil
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.models import Anomalies

Values = NDArray[np.float64]

FEWEST_POINTS = 5
# A stretch whose median is the level of its middle; at most half of it can be outliers.
WINDOW = 11
# How near is near, in robust standard deviations: 3.5 at sensitivity 0, 2 at one half, 0.5 at 1.
WIDEST, NARROWED = 3.5, 3.0
# A place is dense with this share of all points, and at least three.
DENSE_SHARE, DENSE_LEAST = 0.1, 3
# A normal value is by this much farther from the mean than from the median of all deviations.
_MAD, _MEAN_DEVIATION = 1.4826, 1.2533


def anomalies(name: str, values: Values, sensitivity: float) -> Anomalies:
    """The points that are in no cluster and not beside one."""
    nothing = Anomalies(variable=name, indices=(), scores=(), confidence=None)
    if len(values) < FEWEST_POINTS:
        return nothing
    rest = values - _level(values)
    centred = rest - np.median(rest)
    size = float(np.median(np.abs(centred))) * _MAD
    largest = float(np.max(np.abs(centred)))
    if size <= 1e-9 * largest:
        size = float(np.mean(np.abs(centred))) * _MEAN_DEVIATION
    if size <= 1e-12 * float(np.max(np.abs(values))) or size == 0:
        return nothing
    scaled = centred / size
    found, distances = _noise(scaled, WIDEST - NARROWED * sensitivity)
    if not len(found):
        return nothing
    nearest = float(np.min(np.abs(scaled[found])))
    return Anomalies(
        variable=name,
        indices=found.tolist(),
        scores=distances.tolist(),
        # That normal noise of this length stays nearer to its middle than the least of them is.
        confidence=(1 - 2 * NormalDist().cdf(-nearest)) ** len(values),
    )


def _level(values: Values) -> Values:
    """The running median; over all points when there are few."""
    n = len(values)
    if n <= WINDOW:
        return np.full(n, np.median(values))
    half = WINDOW // 2
    around = np.lib.stride_tricks.sliding_window_view(values, WINDOW)
    middle = np.median(around, axis=1)
    return np.concatenate([np.full(half, middle[0]), middle, np.full(half, middle[-1])])


def _noise(values: Values, reach: float) -> tuple[NDArray[np.intp], Values]:
    """What DBSCAN calls noise, and how far each is from the nearest core point.

    On a line neighbours are found by sorting: a point is core when enough points are within reach, and noise when no
    core point is.
    """
    order = np.argsort(values, kind="stable")
    line = values[order]
    within = np.searchsorted(line, line + reach, side="right") - np.searchsorted(line, line - reach, side="left")
    cores = line[within >= max(DENSE_LEAST, ceil(DENSE_SHARE * len(line)))]
    if not len(cores):
        return np.empty(0, dtype=np.intp), np.empty(0)
    place = np.searchsorted(cores, values)
    below = np.abs(values - cores[np.maximum(place - 1, 0)])
    above = np.abs(cores[np.minimum(place, len(cores) - 1)] - values)
    distance = np.minimum(below, above)
    found = np.flatnonzero(distance > reach)
    return found, distance[found]
