"""Estimate how similar an arbitrary memory is to a query, as a baseline for similarities."""

import math

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]

# Assumed for a small store: this many memories without a common direction, whose similarities to a query have this
# standard deviation.
ASSUMED_SAMPLES = 20
ASSUMED_SPREAD = 0.12
_TINY = np.float32(1e-6)


class ScoreBaseline:
    """A sample of memories that represents a store.

    All vectors of a store share a common component, which carries no information; it is removed before comparing.
    """

    def __init__(self, sample: Values) -> None:
        sample = sample[~np.isnan(sample[:, 0])]
        self._common = sample.sum(axis=0) / np.float32(len(sample) + ASSUMED_SAMPLES)
        self._length = self._common @ self._common
        self._sample = _directions(sample - self._common)

    def compare(self, query: Values, values: Values) -> tuple[Values, Values]:
        """Return the similarities to the query, and by how many standard deviations each exceeds a typical one.

        NaN stays NaN.
        """
        direction = query - self._common
        length = math.sqrt(float(direction @ direction)) or 1.0
        typical = self._sample @ direction
        count, total = len(typical) + ASSUMED_SAMPLES, float(np.add.reduce(typical))
        mean = total / count
        squares = float(typical @ typical) - 2 * mean * total + len(typical) * mean**2
        deviation = math.sqrt((squares + ASSUMED_SAMPLES * (ASSUMED_SPREAD * length) ** 2) / count)
        # Computed from products of unit vectors with the query and the common component, without a large temporary
        # array.
        cosines, with_common = values @ query, values @ self._common
        lengths = np.sqrt(np.maximum(1 + self._length - 2 * with_common, _TINY))
        above = (cosines - with_common - self._common @ direction) / lengths - np.float32(mean)
        return np.minimum(cosines, 1), above / np.float32(deviation)


def _directions(values: Values) -> Values:
    lengths = np.sqrt(np.vecdot(values, values))
    return np.asarray(values / np.where(lengths > 0, lengths, np.float32(1))[:, np.newaxis], dtype=np.float32)
