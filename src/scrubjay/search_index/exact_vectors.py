"""Cache the exact vectors of rows: the neighbours of one query are likely to be those of others."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from scrubjay.search_index.vector_codes import unpack_vectors

# Enough for 16,384 memories with the bundled model. In larger stores, vectors are read when needed.
MAX_BYTES = 16 * 1024 * 1024
# This many other rows are read along, so that after some dozens of queries nothing is left to read.
READ_AHEAD = 256

ReadVectors = Callable[[NDArray[np.int64]], Sequence[bytes]]
"""Reads the float16 vectors of rows; empty for a row without one, or one that this reader does not see yet."""


class ExactVectors:
    """Exact vectors of one model, for stores up to `MOST_BYTES`. Rows are immutable. Safe for threads."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        max_rows = MAX_BYTES // (4 * dimensions)
        # Memory is used only for the rows that are written.
        self.values = np.empty((max_rows, dimensions), dtype=np.float32)
        self.is_known = np.zeros(max_rows, dtype=np.bool_)

    def load(self, rows: NDArray[np.int64], count: int, read: ReadVectors) -> NDArray[np.float64]:
        """Return the vectors of these rows (ascending, of `count`) in double precision; zeros for a row without one."""
        if count > len(self.is_known):
            return self._unpack(read(rows))
        known = self.is_known[rows]
        if not known.all():
            others = self.is_known[:count].copy()
            others[rows] = True
            missing = np.concatenate([rows[~known], np.flatnonzero(~others)[:READ_AHEAD]])
            vectors = read(missing)
            self.values[missing] = self._unpack(vectors)
            # A missing vector may appear later: another reader may see it already.
            self.is_known[missing[[bool(vector) for vector in vectors]]] = True
        return self.values[rows].astype(np.float64)

    def _unpack(self, vectors: Sequence[bytes]) -> NDArray[np.float64]:
        nothing = bytes(2 * self._dimensions)
        return unpack_vectors(b"".join([vector or nothing for vector in vectors]), self._dimensions)
