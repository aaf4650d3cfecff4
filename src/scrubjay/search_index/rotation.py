"""A rotation that spreads what a vector says evenly over all its places; the same on every machine, to the last bit.

It flips signs by a fixed pattern and multiplies by a Hadamard matrix (all ones and minus ones). The values are whole
numbers of at most 24 bits, in which single precision adds without rounding: so the order of the sums, which differs
from library to library and from row to row, cannot change a result.
"""

import hashlib
import math

import numpy as np
from numpy.typing import NDArray

# The length of the vectors that are rotated. A sum of all places is at most this times the root of their number.
LENGTH = 65_536
MOST_DIMENSIONS = 16_384


class Rotation:
    """Rotates vectors of whole numbers with `LENGTH`, and rounds the result to whole numbers again."""

    def __init__(self, dimensions: int) -> None:
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            raise ValueError(f"a vector has 1 to {MOST_DIMENSIONS} dimensions, not {dimensions}")
        size = 1 << (dimensions.bit_length() - 1)
        # Twice, because once leaves vectors with few large places poorly mixed (of their ten nearest among 100,000, 500
        # candidates contain .89 instead of .99). A Hadamard matrix has a power of two of rows: other lengths are mixed
        # from both ends in turn.
        starts = [0, 0] if size == dimensions else [0, dimensions - size] * 2
        self.starts: NDArray[np.int64] = np.array(starts, dtype=np.int64)
        self.signs: NDArray[np.float32] = np.stack([_signs(step, size) for step in range(len(starts))])
        """What each step flips: one row a step."""
        self._steps = [(slice(start, start + size), self.signs[step]) for step, start in enumerate(starts)]
        rows = 1 << (size.bit_length() // 2)
        self._left, self._right = _hadamard(rows), _hadamard(size // rows)
        self.shrink = np.float32(1 / math.sqrt(size))

    def rotate(self, values: NDArray[np.float32]) -> None:
        """Rotate each row, in place."""
        for places, signs in self._steps:
            part = (values[:, places] * signs).reshape(-1, len(self._left), len(self._right))
            # The product with a large Hadamard matrix is that with a small one from each side.
            mixed = self._left @ (part @ self._right)
            values[:, places] = np.rint(mixed.reshape(len(values), -1) * self.shrink)


def _signs(step: int, size: int) -> NDArray[np.float32]:
    pattern = np.frombuffer(hashlib.shake_128(f"recollect rotation {step}".encode()).digest(-(-size // 8)), np.uint8)
    return np.where(np.unpackbits(pattern)[:size], np.float32(1), np.float32(-1))


def _hadamard(size: int) -> NDArray[np.float32]:
    matrix = np.ones((1, 1), dtype=np.float32)
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix
