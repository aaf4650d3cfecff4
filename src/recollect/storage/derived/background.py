"""How similar any memory is to a question, against which a similarity stands out."""

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

    def standings(self, question: Values, values: Values) -> Values:
        """By how many standard deviations these are more similar to the question than any memory is; NaN stays NaN."""
        direction = _directions((question - self._common)[np.newaxis])[0]
        typical = self._sample @ direction
        count = len(typical) + ASSUMED
        mean = np.add.reduce(typical) / count
        typical -= mean
        variance = (typical @ typical + ASSUMED * ASSUMED_SPREAD**2) / count
        # Of vectors of length 1 without what is common, by their products with both: nothing as large is made anew.
        along, beside = (values @ np.stack([direction, self._common], axis=1)).T
        squares = 1 - 2 * beside + self._length
        cosines = (along - self._common @ direction) / np.sqrt(np.maximum(squares, _TINY))
        return np.asarray((cosines - mean) / np.sqrt(variance), dtype=np.float32)


def _directions(values: Values) -> Values:
    lengths = np.sqrt(np.vecdot(values, values))
    return np.asarray(values / np.where(lengths > 0, lengths, np.float32(1))[:, np.newaxis], dtype=np.float32)
