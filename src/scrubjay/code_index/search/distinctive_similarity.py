"""How similar files are to a question in what sets them apart: not in what all files of a repository are about.

This module imports numpy, which takes a while: import it where it is needed.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scrubjay.search_index.vector_codes import Codes

# The mean of fewer than this is more about them than about what there is in common.
FEW: Final = 30
# So many rows are worked on at once: as floats all of them would take four times the room.
_BATCH: Final = 1024
# So many of the batches are kept for the second time that they are needed: those of most repositories.
_KEPT: Final = 8


class Distinct:
    """Similarities without what the living rows have in common."""

    def __init__(self, codes: Codes, alive: NDArray[np.bool_]) -> None:
        rows, dimensions = codes.directions.shape
        pointing = alive & ~np.isnan(codes.scales)
        total = np.zeros(dimensions, dtype=np.float32)
        floats: dict[int, NDArray[np.float32]] = {}
        for batch in _batches(rows):
            own = _floats(codes, batch)
            if len(floats) < _KEPT:
                floats[batch.start] = own
            total += np.where(pointing[batch], codes.scales[batch], np.float32(0)) @ own
        self._common = total / np.float32(int(pointing.sum()) + FEW)
        self._square = float(self._common @ self._common)
        self._along = np.empty(rows, dtype=np.float32)
        for batch in _batches(rows):
            own = floats.pop(batch.start) if batch.start in floats else _floats(codes, batch)
            self._along[batch] = np.nan_to_num(own @ self._common * codes.scales[batch])
        self._lengths = np.sqrt(np.maximum(1 - 2 * self._along + self._square, 1e-6)).astype(np.float32)

    def cosines(self, question: NDArray[np.float32], cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosine of what is left of each row and of the question, given the cosines of the whole of them."""
        along = float(self._common @ question)
        length = max(1 - 2 * along + self._square, 1e-6) ** 0.5
        left = cosines - self._along - np.float32(along - self._square)
        return (left / (self._lengths * np.float32(length))).astype(np.float32)


def _floats(codes: Codes, batch: slice) -> NDArray[np.float32]:
    """To multiply bytes by floats takes many times as long."""
    return codes.directions[batch].astype(np.float32)


def _batches(rows: int) -> list[slice]:
    return [slice(start, start + _BATCH) for start in range(0, rows, _BATCH)]
