"""Which different values there are: without `np.unique`, whose first use loads a part of numpy that nobody needs."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


def run_starts(ascending: NDArray[Any]) -> NDArray[np.int64]:
    """Where each different value begins."""
    begins = np.ones(len(ascending), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=begins[1:])
    return begins.nonzero()[0]


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Each value once, ascending."""
    ascending = np.sort(values)
    return ascending[run_starts(ascending)]
