"""What the compiled part does for the vectors nearest to a question's; it may decline, and then numpy does it."""

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.native.library import library
from scrubjay.search_index.rotation import Rotation


class _Doors(NamedTuple):
    encode: Any
    cosines: Any
    nearest: Any


def encoded_alone(
    vector: bytes, rotation: Rotation, dimensions: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]] | None:
    """The direction and the scale of one float16 vector, each as an array of one row."""
    if (doors := _doors(library())) is None:
        return None
    directions, scales = np.empty((1, dimensions), dtype=np.int8), np.empty(1, dtype=np.float32)
    done = doors.encode(
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
    return (directions, scales) if done > 0 else None


def cosines_of(
    directions: NDArray[np.int8],
    scales: NDArray[np.float32],
    question: NDArray[np.int8],
    scale: float,
    cosines: NDArray[np.float64],
) -> bool:
    """Write how similar all these codes are to a question's; whether that was done."""
    if (doors := _doors(library())) is None:
        return False
    doors.cosines(
        directions.ctypes.data, scales.ctypes.data, *directions.shape, question.ctypes.data, scale, cosines.ctypes.data
    )
    return True


def nearest(
    cosines: NDArray[np.float64],
    allowed: NDArray[np.bool_] | None,
    limit: int,
    slack: float,
    most_unsure: int,
    asked: NDArray[np.float64] | None,
    values: NDArray[np.float32],
    is_known: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """The rows with the greatest cosines, best first, as `VectorSegments.nearest` finds them.

    `asked` is the question's vector, where `values`, the exact vectors that are known, shall decide what bytes cannot
    tell.
    """
    if (doors := _doors(library())) is None:
        return None
    rows, found = np.empty(limit, dtype=np.int64), np.empty(limit, dtype=np.float64)
    count = doors.nearest(
        cosines.ctypes.data,
        len(cosines),
        None if allowed is None else allowed.ctypes.data,
        limit,
        slack,
        most_unsure,
        None if asked is None else asked.ctypes.data,
        values.ctypes.data,
        is_known.ctypes.data,
        len(is_known) if len(cosines) <= len(is_known) else 0,
        values.shape[1],
        rows.ctypes.data,
        found.ctypes.data,
    )
    return (rows[:count], found[:count]) if count >= 0 else None


@cache
def _doors(compiled: ctypes.CDLL | None) -> _Doors | None:
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
    return _Doors(encode, cosines, nearest)
