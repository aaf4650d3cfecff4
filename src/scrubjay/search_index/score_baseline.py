"""How similar any memory is to a question, against which a similarity stands out."""

import math

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]

# What is assumed of a store before it has memories that tell: so many of them, with no direction in common, whose
# similarities to a question spread like this.
ASSUMED = 20
ASSUMED_SPREAD = 0.12
_TINY = np.float32(1e-6)


class Background:
    """Some memories that stand for all of a store.

    All vectors of a store have something in common, which says nothing: it is taken away before anything is compared.
    """

    def __init__(self, sample: Values) -> None:
        sample = sample[~np.isnan(sample[:, 0])]
        self._common = sample.sum(axis=0) / np.float32(len(sample) + ASSUMED)
        self._length = self._common @ self._common
        self._sample = _directions(sample - self._common)

    def compared(self, question: Values, values: Values) -> tuple[Values, Values]:
        """How similar these are to the question, and by how many standard deviations more than any memory is.

        NaN stays NaN.
        """
        direction = question - self._common
        length = math.sqrt(float(direction @ direction)) or 1.0
        typical = self._sample @ direction
        count, total = len(typical) + ASSUMED, float(np.add.reduce(typical))
        mean = total / count
        squares = float(typical @ typical) - 2 * mean * total + len(typical) * mean**2
        deviation = math.sqrt((squares + ASSUMED * (ASSUMED_SPREAD * length) ** 2) / count)
        # Of vectors of length 1 without what is common, by their products with both: nothing as large is made anew.
        cosines, beside = values @ question, values @ self._common
        lengths = np.sqrt(np.maximum(1 + self._length - 2 * beside, _TINY))
        above = (cosines - beside - self._common @ direction) / lengths - np.float32(mean)
        return np.minimum(cosines, 1), above / np.float32(deviation)


def _directions(values: Values) -> Values:
    lengths = np.sqrt(np.vecdot(values, values))
    return np.asarray(values / np.where(lengths > 0, lengths, np.float32(1))[:, np.newaxis], dtype=np.float32)
