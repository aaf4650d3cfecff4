"""Similarity of files to a query without the component that all files of a repository share.

This module imports numpy, which is slow to load.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scrubjay.search_index.vector_codes import Codes

# Added to the number of rows, to shrink the mean of few rows, which says more about them than about the repository.
SMOOTHING_ROWS: Final = 30
# Rows converted to floats at a time: floats take four times the memory of the codes.
_BATCH_ROWS: Final = 1024
# Batches kept for the second pass; enough for all rows of most repositories.
_CACHED_BATCHES: Final = 8


class DistinctiveSimilarity:
    """Cosines after subtracting the mean of the living rows."""

    def __init__(self, codes: Codes, alive: NDArray[np.bool_]) -> None:
        rows, dimensions = codes.directions.shape
        pointing = alive & ~np.isnan(codes.scales)
        total = np.zeros(dimensions, dtype=np.float32)
        floats: dict[int, NDArray[np.float32]] = {}
        for batch in _batches(rows):
            own = _floats(codes, batch)
            if len(floats) < _CACHED_BATCHES:
                floats[batch.start] = own
            total += np.where(pointing[batch], codes.scales[batch], np.float32(0)) @ own
        self._common = total / np.float32(int(pointing.sum()) + SMOOTHING_ROWS)
        self._square = float(self._common @ self._common)
        self._along = np.empty(rows, dtype=np.float32)
        for batch in _batches(rows):
            own = floats.pop(batch.start) if batch.start in floats else _floats(codes, batch)
            self._along[batch] = np.nan_to_num(own @ self._common * codes.scales[batch])
        self._lengths = np.sqrt(np.maximum(1 - 2 * self._along + self._square, 1e-6)).astype(np.float32)

    def cosines(self, question: NDArray[np.float32], cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of each row with the query after subtraction of the mean, from the ordinary cosines."""
        along = float(self._common @ question)
        length = max(1 - 2 * along + self._square, 1e-6) ** 0.5
        left = cosines - self._along - np.float32(along - self._square)
        return (left / (self._lengths * np.float32(length))).astype(np.float32)


def _floats(codes: Codes, batch: slice) -> NDArray[np.float32]:
    """Convert to floats: multiplying bytes by floats is many times slower."""
    return codes.directions[batch].astype(np.float32)


def _batches(rows: int) -> list[slice]:
    return [slice(start, start + _BATCH_ROWS) for start in range(0, rows, _BATCH_ROWS)]
