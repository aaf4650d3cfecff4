"""The exact vectors of rows, kept once they were read: what is near to one question is near to others."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.storage.derived.vector_codes import unpacked

# So many rows are kept, a kilobyte each; only those that were read take space.
MOST_ROWS = 16_384
# With those that are wanted so many others are read, so that after some dozens of questions none has to be read.
READ_AHEAD = 256

Exactly = Callable[[NDArray[np.int64]], Sequence[bytes]]
"""The float16 vectors of some rows."""


class ExactVectors:
    """The vectors of one model, as long as these are not very many. Rows never change."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._is_known = np.zeros(0, dtype=np.bool_)
        self._values = np.empty((0, dimensions), dtype=np.float32)

    def of(self, rows: NDArray[np.int64], count: int, read: Exactly) -> NDArray[np.float64]:
        """The vectors of these rows (ascending) out of so many, in double precision; zeros for one that has none."""
        if count > MOST_ROWS:
            return self._read(rows, read)
        if not len(self._is_known):
            self._is_known = np.zeros(MOST_ROWS, dtype=np.bool_)
            self._values = np.empty((MOST_ROWS, self._dimensions), dtype=np.float32)
        known = self._is_known[rows]
        if not known.all():
            others = self._is_known[:count].copy()
            others[rows] = True
            missing = np.concatenate([rows[~known], np.flatnonzero(~others)[:READ_AHEAD]])
            self._values[missing] = self._read(missing, read)
            self._is_known[missing] = True
        return self._values[rows].astype(np.float64)

    def _read(self, rows: NDArray[np.int64], read: Exactly) -> NDArray[np.float64]:
        nothing = bytes(2 * self._dimensions)
        return unpacked(b"".join([vector or nothing for vector in read(rows)]), self._dimensions)
