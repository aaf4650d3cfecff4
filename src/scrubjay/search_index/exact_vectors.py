"""The exact vectors of rows, kept once they were read: what is near to one question is near to others."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from scrubjay.search_index.vector_codes import unpacked

# So much is kept: all of 16,384 memories with the bundled model. Of larger stores each is read when it is needed.
MOST_BYTES = 16 * 1024 * 1024
# With those that are wanted so many others are read, so that after some dozens of questions none has to be read.
READ_AHEAD = 256

Exactly = Callable[[NDArray[np.int64]], Sequence[bytes]]
"""The float16 vectors of some rows; empty for one that has none, or that this reader does not see yet."""


class ExactVectors:
    """The vectors of one model, as long as these are not very many. Rows never change. Threads may ask at once."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        most_rows = MOST_BYTES // (4 * dimensions)
        # Only rows that are written take space.
        self.values = np.empty((most_rows, dimensions), dtype=np.float32)
        self.is_known = np.zeros(most_rows, dtype=np.bool_)

    def of(self, rows: NDArray[np.int64], count: int, read: Exactly) -> NDArray[np.float64]:
        """The vectors of these rows (ascending) out of so many, in double precision; zeros for one that has none."""
        if count > len(self.is_known):
            return self._unpacked(read(rows))
        known = self.is_known[rows]
        if not known.all():
            others = self.is_known[:count].copy()
            others[rows] = True
            missing = np.concatenate([rows[~known], np.flatnonzero(~others)[:READ_AHEAD]])
            vectors = read(missing)
            self.values[missing] = self._unpacked(vectors)
            # What was not there may come: another reader may see it already.
            self.is_known[missing[[bool(vector) for vector in vectors]]] = True
        return self.values[rows].astype(np.float64)

    def _unpacked(self, vectors: Sequence[bytes]) -> NDArray[np.float64]:
        nothing = bytes(2 * self._dimensions)
        return unpacked(b"".join([vector or nothing for vector in vectors]), self._dimensions)
