"""The parts of a file in arrays, cut by what is compiled where there was a compiler: the same, sooner.

This module imports numpy, which takes a while: import it where it is needed.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.chunker import cut
from scrubjay.code_index.facts.facts_json import symbol_columns
from scrubjay.code_index.models import Symbol
from scrubjay.native.library import library

# No file is cut into more parts than this: one for each so many bytes, and before and behind each symbol.
_FEWEST_BYTES = 40
_POINTER, _INT64 = ctypes.c_void_p, ctypes.c_int64
Ints = NDArray[np.int32]


class Chunks(NamedTuple):
    """The parts of a file, one row a part."""

    spans: Ints
    """First byte, byte behind the last, first line, last line."""
    symbols: Ints
    """The place of the symbol that it is mostly about, among the file's symbols; -1 when it is about none."""
    owners: Ints
    """Of each symbol, not part, the part in which it is named; -1 when it is in none."""


def chunks_of(content: bytes, symbols: Sequence[Symbol]) -> Chunks:
    """The parts of a file with these symbols, in order: every byte that is not blank is in exactly one."""
    native = library()
    made = _cutter(native)(content, symbols) if native is not None else None
    return made or _in_arrays(*cut(content, symbols))


def _in_arrays(spans: Sequence[Sequence[int]], symbols: Sequence[int], owners: Sequence[int]) -> Chunks:
    return Chunks(np.array(spans, np.int32).reshape(-1, 4), np.array(symbols, np.int32), np.array(owners, np.int32))


@cache
def _cutter(native: ctypes.CDLL) -> Callable[[bytes, Sequence[Symbol]], Chunks | None]:
    by_it: Any = native.scrubjay_chunk
    by_it.restype = _INT64
    by_it.argtypes = (ctypes.c_char_p, _INT64, _POINTER, _INT64, _POINTER, _POINTER, _INT64, _POINTER)

    def cut_by_it(content: bytes, symbols: Sequence[Symbol]) -> Chunks | None:
        """None when this is to be done by other means."""
        _, _, spans, lines, *_ = symbol_columns(symbols)
        count = len(lines)
        try:
            told = np.fromiter(chain(*spans, lines), np.int32, 5 * count)
        except OverflowError:
            return None
        room = len(content) // _FEWEST_BYTES + 2 * count + 8
        found, about, owners = np.empty((room, 4), np.int32), np.empty(room, np.int32), np.empty(count, np.int32)
        made = by_it(
            content, len(content), told.ctypes.data, count, found.ctypes.data, about.ctypes.data, room,
            owners.ctypes.data,
        )  # fmt: skip
        return Chunks(found[:made], about[:made], owners) if made >= 0 else None

    return cut_by_it
