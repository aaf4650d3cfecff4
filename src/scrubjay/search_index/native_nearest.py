"""Nearest-vector search with the native library; it may decline, and then numpy is used."""

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.native.library import library
from scrubjay.search_index.rotation import Rotation


class _NearestFunctions(NamedTuple):
    encode: Any
    cosines: Any
    nearest: Any


def encode_single(
    vector: bytes, rotation: Rotation, dimensions: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]] | None:
    """Return the codes of a single float16 vector: direction and scale, as arrays of one row."""
    if (functions := _native_functions(library())) is None:
        return None
    directions, scales = np.empty((1, dimensions), dtype=np.int8), np.empty(1, dtype=np.float32)
    is_encoded = functions.encode(
        vector,
        dimensions,
        rotation.starts.ctypes.data,
        len(rotation.starts),
        rotation.signs.ctypes.data,
        rotation.signs.shape[1],
        rotation.shrink,
        directions.ctypes.data,
        scales.ctypes.data,
    )
    return (directions, scales) if is_encoded > 0 else None


def write_cosines(
    directions: NDArray[np.int8],
    scales: NDArray[np.float32],
    query: NDArray[np.int8],
    scale: float,
    cosines: NDArray[np.float64],
) -> bool:
    """Write the cosines of all these codes with a query into `cosines`; return False if it was not done."""
    if (functions := _native_functions(library())) is None:
        return False
    functions.cosines(
        directions.ctypes.data, scales.ctypes.data, *directions.shape, query.ctypes.data, scale, cosines.ctypes.data
    )
    return True


def find_nearest(
    cosines: NDArray[np.float64],
    allowed: NDArray[np.bool_] | None,
    limit: int,
    slack: float,
    most_unsure: int,
    exact_query: NDArray[np.float64] | None,
    values: NDArray[np.float32],
    is_known: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Return the rows with the highest cosines, best first, as `VectorSegments.nearest` does; None if it was not done.

    `asked` is the exact query vector; if given, rows that their codes cannot order are ordered by the known exact
    vectors in `values`.
    """
    if (functions := _native_functions(library())) is None:
        return None
    rows, found = np.empty(limit, dtype=np.int64), np.empty(limit, dtype=np.float64)
    count = functions.nearest(
        cosines.ctypes.data,
        len(cosines),
        None if allowed is None else allowed.ctypes.data,
        limit,
        slack,
        most_unsure,
        None if exact_query is None else exact_query.ctypes.data,
        values.ctypes.data,
        is_known.ctypes.data,
        len(is_known) if len(cosines) <= len(is_known) else 0,
        values.shape[1],
        rows.ctypes.data,
        found.ctypes.data,
    )
    return (rows[:count], found[:count]) if count >= 0 else None


@cache
def _native_functions(compiled: ctypes.CDLL | None) -> _NearestFunctions | None:
    if compiled is None:
        return None
    address, number, small = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
    encode, cosines, nearest = compiled.scrubjay_encode_vector, compiled.scrubjay_cosines, compiled.scrubjay_nearest
    encode.restype, cosines.restype, nearest.restype = small, None, number
    encode.argtypes = [
        *(ctypes.c_char_p, small, address, small, address, small),
        *(ctypes.c_float, address, address),
    ]
    cosines.argtypes = [address, address, number, number, address, ctypes.c_double, address]
    nearest.argtypes = [
        *(address, number, address, number, ctypes.c_double, number),
        *(address, address, address, number, number, address, address),
    ]
    return _NearestFunctions(encode, cosines, nearest)
