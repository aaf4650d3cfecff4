"""The best of many scores, without putting all of them in order.

This module imports numpy, which takes a while: import it where it is needed.
"""

import numpy as np
from numpy.typing import NDArray


def best(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Where the greatest of the scores above 0 are, greatest first; of equal ones the first."""
    least = np.partition(scores, -count)[-count] if 0 < count < len(scores) else np.float32(0)
    near = np.flatnonzero((scores >= least) & (scores > 0))
    return near[np.argsort(-scores[near], kind="stable")][:count]
