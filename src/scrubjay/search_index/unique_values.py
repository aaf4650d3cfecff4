"""Distinct values, without `np.unique`, whose first use imports a large part of numpy."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


def run_starts(ascending: NDArray[Any]) -> NDArray[np.int64]:
    """Return the start of each run of equal values."""
    begins = np.ones(len(ascending), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=begins[1:])
    return begins.nonzero()[0]


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Return the distinct values, ascending."""
    ascending = np.sort(values)
    return ascending[run_starts(ascending)]
