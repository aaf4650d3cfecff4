"""A rotation that spreads a vector's information evenly over its dimensions; bit-identical on every machine.

It flips signs by a fixed pattern and multiplies by a Hadamard matrix (all entries 1 or -1). The values are integers of
at most 24 bits, which single precision adds without rounding: so the order of summation, which differs between
libraries and between rows, cannot change the result.
"""

import hashlib
import math

import numpy as np
from numpy.typing import NDArray

# Length of the vectors before rotation. A sum over all dimensions is at most this times the root of their number.
LENGTH = 65_536
MAX_DIMENSIONS = 16_384


class Rotation:
    """Rotates integer vectors of length `LENGTH`, and rounds the result to integers."""

    def __init__(self, dimensions: int) -> None:
        if not 1 <= dimensions <= MAX_DIMENSIONS:
            raise ValueError(f"a vector has 1 to {MAX_DIMENSIONS} dimensions, not {dimensions}")
        size = 1 << (dimensions.bit_length() - 1)
        # Twice, because one step mixes vectors with few large values poorly (of their ten nearest among 100,000, the
        # first 500 candidates contain .89 instead of .99). The size of a Hadamard matrix is a power of two; for other
        # dimensions the steps alternate between both ends.
        starts = [0, 0] if size == dimensions else [0, dimensions - size] * 2
        self.starts: NDArray[np.int64] = np.array(starts, dtype=np.int64)
        self.signs: NDArray[np.float32] = np.stack([_signs(step, size) for step in range(len(starts))])
        """Sign flips of each step, one row per step."""
        self._steps = [(slice(start, start + size), self.signs[step]) for step, start in enumerate(starts)]
        rows = 1 << (size.bit_length() // 2)
        self._left, self._right = _hadamard(rows), _hadamard(size // rows)
        self.shrink = np.float32(1 / math.sqrt(size))

    def rotate(self, values: NDArray[np.float32]) -> None:
        """Rotate each row in place."""
        for columns, signs in self._steps:
            part = (values[:, columns] * signs).reshape(-1, len(self._left), len(self._right))
            # A product with a large Hadamard matrix equals products with a small one from both sides.
            mixed = self._left @ (part @ self._right)
            values[:, columns] = np.rint(mixed.reshape(len(values), -1) * self.shrink)


def _signs(step: int, size: int) -> NDArray[np.float32]:
    pattern = np.frombuffer(hashlib.shake_128(f"recollect rotation {step}".encode()).digest(-(-size // 8)), np.uint8)
    return np.where(np.unpackbits(pattern)[:size], np.float32(1), np.float32(-1))


def _hadamard(size: int) -> NDArray[np.float32]:
    matrix = np.ones((1, 1), dtype=np.float32)
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix
