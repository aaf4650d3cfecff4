"""The chunks of a file as arrays, cut by the native library when it is available, with the same results.

Imports numpy, which is slow to import: load this module late.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.chunker import cut_chunks
from scrubjay.code_index.facts.facts_json import symbol_columns
from scrubjay.code_index.models import Symbol
from scrubjay.native.library import library

# Upper bound of the number of chunks: one for each this many bytes, plus two for each symbol.
_MIN_BYTES_PER_CHUNK = 40
_POINTER, _INT64 = ctypes.c_void_p, ctypes.c_int64
Ints = NDArray[np.int32]


class ChunkArrays(NamedTuple):
    """The chunks of a file as arrays, one row per chunk."""

    spans: Ints
    """Start byte, end byte (exclusive), first line, last line."""
    symbols: Ints
    """Index of the symbol that the chunk is mostly about, among the file's symbols; -1 for none."""
    owners: Ints
    """For each symbol (not chunk), the index of the chunk that contains its name; -1 for none."""


def cut_chunk_arrays(content: bytes, symbols: Sequence[Symbol]) -> ChunkArrays:
    """Cut a file with these symbols into chunks, in order: every byte that is not blank is in exactly one."""
    native = library()
    chunks = _native_cutter(native)(content, symbols) if native is not None else None
    return chunks or _to_arrays(*cut_chunks(content, symbols))


def _to_arrays(spans: Sequence[Sequence[int]], symbols: Sequence[int], owners: Sequence[int]) -> ChunkArrays:
    return ChunkArrays(
        np.array(spans, np.int32).reshape(-1, 4), np.array(symbols, np.int32), np.array(owners, np.int32)
    )


@cache
def _native_cutter(native: ctypes.CDLL) -> Callable[[bytes, Sequence[Symbol]], ChunkArrays | None]:
    chunk: Any = native.scrubjay_chunk
    chunk.restype = _INT64
    chunk.argtypes = (ctypes.c_char_p, _INT64, _POINTER, _INT64, _POINTER, _POINTER, _INT64, _POINTER)

    def cut_natively(content: bytes, symbols: Sequence[Symbol]) -> ChunkArrays | None:
        """Return None when the native library cannot do it."""
        _, _, spans, lines, *_ = symbol_columns(symbols)
        count = len(lines)
        try:
            numbers = np.fromiter(chain(*spans, lines), np.int32, 5 * count)
        except OverflowError:
            return None
        capacity = len(content) // _MIN_BYTES_PER_CHUNK + 2 * count + 8
        found, about = np.empty((capacity, 4), np.int32), np.empty(capacity, np.int32)
        owners = np.empty(count, np.int32)
        found_count = chunk(
            content, len(content), numbers.ctypes.data, count, found.ctypes.data, about.ctypes.data, capacity,
            owners.ctypes.data,
        )  # fmt: skip
        return ChunkArrays(found[:found_count], about[:found_count], owners) if found_count >= 0 else None

    return cut_natively
