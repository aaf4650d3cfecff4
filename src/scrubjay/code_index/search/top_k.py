"""Partial sorting of scores.

This module imports numpy, which is slow to load.
"""

import numpy as np
from numpy.typing import NDArray


def top_k(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the indices of the `count` highest scores above 0, highest first; ties in index order."""
    # Most scores are 0, and partitioning many equal values is slow.
    near = np.flatnonzero(scores > 0)
    if 0 < count < len(near):
        near = near[scores[near] >= np.partition(scores[near], -count)[-count]]
    return near[np.argsort(-scores[near], kind="stable")][:count]
