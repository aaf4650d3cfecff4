"""Encode vectors in few bits: a byte per dimension for close comparison, a bit per dimension to preselect rows."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.search_index.native_nearest import encode_single
from scrubjay.search_index.rotation import LENGTH, Rotation

Bytes = NDArray[np.int8]
Scales = NDArray[np.float32]
Words = NDArray[np.uint64]
Kernel = Literal["numkong", "numpy"]
Dots = Callable[[Bytes, Bytes], NDArray[Any]]

_WORD = 64
# Rows processed at a time, so that the working set stays in the processor's cache.
_BATCH = 2048
_SCANNED = 32_768
# Number of levels of a query's values in each dimension: three bits.
_LEVELS = 8
# This many words differ in at most 255 bits, so the count fits in a byte.
_WORDS_PER_BYTE = 255 // _WORD


class Codes(NamedTuple):
    """One row per vector: its direction in bytes, and the factor that makes its length 1; NaN for a zero vector."""

    directions: Bytes
    scales: Scales


def unpack_vectors(vectors: bytes, dimensions: int) -> NDArray[np.float64]:
    """Return float16 vectors in double precision, in which products of two unit vectors are summed without rounding."""
    return np.frombuffer(vectors, dtype="<f2").reshape(-1, dimensions).astype(np.float64)


def vector_lengths(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the length of each row; NaN for a row that is all zero or not finite."""
    lengths = np.sqrt(np.vecdot(values, values))
    if not (np.minimum.reduce(lengths) > 0 and np.maximum.reduce(lengths) < np.inf):
        lengths[(lengths == 0) | (lengths == np.inf)] = np.nan
    return lengths


def encode(vectors: bytes, rotation: Rotation, dimensions: int) -> Codes:
    """Return the codes of float16 vectors. Equal vectors have equal codes on every machine."""
    if len(vectors) == 2 * dimensions and (alone := encode_single(vectors, rotation, dimensions)) is not None:
        return Codes(*alone)
    size = 2 * dimensions * _BATCH
    if len(vectors) <= size:
        return _encode_batch(unpack_vectors(vectors, dimensions), rotation)
    batches = [vectors[start : start + size] for start in range(0, len(vectors), size)]
    encoded = [_encode_batch(unpack_vectors(batch, dimensions), rotation) for batch in batches]
    return Codes(
        np.concatenate([batch.directions for batch in encoded]), np.concatenate([batch.scales for batch in encoded])
    )


def _encode_batch(values: NDArray[np.float64], rotation: Rotation) -> Codes:
    lengths = vector_lengths(values)
    if np.isnan(np.add.reduce(lengths)):
        invalid = np.isnan(lengths)
        values[invalid] = 1  # any finite value
        codes = _encode_batch(values, rotation)
        codes.scales[invalid] = np.nan
        return codes
    values *= (LENGTH / lengths)[:, np.newaxis]
    rotated = np.rint(values, out=values).astype(np.float32)
    rotation.rotate(rotated)
    rotated *= (127 / np.maximum.reduce(np.abs(rotated), axis=1))[:, np.newaxis]
    directions = np.rint(rotated, out=rotated).astype(np.int8)
    scales = 1 / np.sqrt(np.vecdot(directions, directions, dtype=np.int32).astype(np.float32))
    return Codes(directions, scales)


def compute_centre(codes: Codes) -> NDArray[np.float32]:
    """Return the mean of the valid vectors."""
    valid = np.flatnonzero(~np.isnan(codes.scales))
    total = codes.scales[valid].astype(np.float64) @ codes.directions[valid].astype(np.float64)
    return (total / max(len(valid), 1)).astype(np.float32)


def sign_bits(codes: Codes, centre: NDArray[np.float32]) -> Words:
    """Return on which side of the centre each vector is: one column per vector, one bit per dimension, 64 in a row."""
    rows, dimensions = codes.directions.shape
    words = np.empty((words_per_vector(dimensions), rows), dtype=np.uint64)
    for start in range(0, rows, _BATCH):
        directions, scales = codes.directions[start : start + _BATCH], codes.scales[start : start + _BATCH]
        words[:, start : start + _BATCH] = _pack_bits(directions * scales[:, np.newaxis] > centre)
    return words


def _pack_bits(bits: NDArray[np.bool_]) -> Words:
    packed = np.packbits(bits, axis=1, bitorder="little")
    padded = np.zeros((len(packed), 8 * words_per_vector(bits.shape[1])), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").T


def query_planes(query: Codes) -> tuple[Words, Words, Words]:
    """Return a query vector in three bit planes: the sign and magnitude of each dimension.

    Rows have one bit per dimension; a query with one bit as well would lose most of what separates near from far rows.
    """
    values = query.directions[0].astype(np.float32)
    levels = np.clip(
        np.floor(values * (_LEVELS / 2 / max(np.abs(values).max(initial=0), 1))) + _LEVELS // 2, 0, _LEVELS - 1
    )
    high, middle, low = (_pack_bits((levels.astype(np.uint8)[np.newaxis] & bit) > 0)[:, 0] for bit in (4, 2, 1))
    return high, middle, low


def words_per_vector(dimensions: int) -> int:
    return -(-dimensions // _WORD)


def count_differences(bits: Words, query: Words, counts: NDArray[np.uint16]) -> None:
    """Count the bits in which each column differs from the query."""
    xor = np.empty(_SCANNED, dtype=np.uint64)
    ones, total = np.empty(_SCANNED, dtype=np.uint8), np.empty(_SCANNED, dtype=np.uint8)
    for start in range(0, len(counts), _SCANNED):
        batch = slice(start, start + _SCANNED)
        counts_here = counts[batch]
        differing, ones_here, sums = xor[: len(counts_here)], ones[: len(counts_here)], total[: len(counts_here)]
        counts_here[:] = 0
        for first in range(0, len(bits), _WORDS_PER_BYTE):
            for word in range(first, min(first + _WORDS_PER_BYTE, len(bits))):
                np.bitwise_xor(bits[word, batch], query[word], out=differing)
                if word == first:
                    np.bitwise_count(differing, out=sums)
                else:
                    np.bitwise_count(differing, out=ones_here)
                    np.add(sums, ones_here, out=sums)
            np.add(counts_here, sums, out=counts_here)


def dot_product_by(kernel: Kernel | None) -> Dots:
    """Return the function that computes dot products of codes: by numkong if installed, unless `kernel` says otherwise.

    Both sum integers, so the results are identical.
    """
    if kernel == "numpy":
        return _dots_by_numpy
    try:
        numkong = import_module("numkong")
    except ImportError:
        if kernel == "numkong":
            raise
        return _dots_by_numpy
    cdist: Any = numkong.cdist

    def dots_by_numkong(query: Bytes, directions: Bytes) -> NDArray[Any]:
        if not len(directions):
            return np.empty(0)
        return np.asarray(cdist(query[np.newaxis], directions, "dot"))[0]

    return dots_by_numkong


def _dots_by_numpy(query: Bytes, directions: Bytes) -> NDArray[Any]:
    return np.einsum("ij,j->i", directions, query, dtype=np.int32)
