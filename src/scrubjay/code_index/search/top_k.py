"""The best of many scores, without putting all of them in order.

This module imports numpy, which takes a while: import it where it is needed.
"""

import numpy as np
from numpy.typing import NDArray


def best(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Where the greatest of the scores above 0 are, greatest first; of equal ones the first."""
    # Most are 0, and to put many equal ones apart takes long.
    near = np.flatnonzero(scores > 0)
    if 0 < count < len(near):
        near = near[scores[near] >= np.partition(scores[near], -count)[-count]]
    return near[np.argsort(-scores[near], kind="stable")][:count]
