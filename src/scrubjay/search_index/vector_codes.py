"""Vectors in few bits: a byte for each dimension to compare closely, a bit for each to leave out most rows first."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.search_index.native_nearest import encoded_alone
from scrubjay.search_index.rotation import LENGTH, Rotation

Bytes = NDArray[np.int8]
Scales = NDArray[np.float32]
Words = NDArray[np.uint64]
Kernel = Literal["numkong", "numpy"]
Dots = Callable[[Bytes, Bytes], NDArray[Any]]

_WORD = 64
# So many rows are worked on at once: what they need stays in the processor's cache.
_BATCH = 2048
_SCANNED = 32_768
# So many steps tell how far a question's vector points in each dimension: as many as three bits have.
_LEVELS = 8
# Differences of so many words are counted in one byte.
_WORDS_PER_BYTE = 255 // _WORD


class Codes(NamedTuple):
    """One row a vector: its direction in bytes, and what makes these a vector of length 1; NaN if it points nowhere."""

    directions: Bytes
    scales: Scales


def unpacked(vectors: bytes, dimensions: int) -> NDArray[np.float64]:
    """The vectors in double precision, in which the products of two with length 1 are summed without rounding."""
    return np.frombuffer(vectors, dtype="<f2").reshape(-1, dimensions).astype(np.float64)


def lengths_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How long each row is; NaN for one that points nowhere: all zero, or not finite."""
    lengths = np.sqrt(np.vecdot(values, values))
    if not (np.minimum.reduce(lengths) > 0 and np.maximum.reduce(lengths) < np.inf):
        lengths[(lengths == 0) | (lengths == np.inf)] = np.nan
    return lengths


def encode(vectors: bytes, rotation: Rotation, dimensions: int) -> Codes:
    """The codes of float16 vectors. Equal vectors get equal codes, wherever and on whatever machine."""
    if len(vectors) == 2 * dimensions and (alone := encoded_alone(vectors, rotation, dimensions)) is not None:
        return Codes(*alone)
    size = 2 * dimensions * _BATCH
    if len(vectors) <= size:
        return _encode_batch(unpacked(vectors, dimensions), rotation)
    batches = [vectors[start : start + size] for start in range(0, len(vectors), size)]
    encoded = [_encode_batch(unpacked(batch, dimensions), rotation) for batch in batches]
    return Codes(
        np.concatenate([batch.directions for batch in encoded]), np.concatenate([batch.scales for batch in encoded])
    )


def _encode_batch(values: NDArray[np.float64], rotation: Rotation) -> Codes:
    lengths = lengths_of(values)
    if np.isnan(np.add.reduce(lengths)):
        nowhere = np.isnan(lengths)
        values[nowhere] = 1  # any that can be computed with
        codes = _encode_batch(values, rotation)
        codes.scales[nowhere] = np.nan
        return codes
    values *= (LENGTH / lengths)[:, np.newaxis]
    rotated = np.rint(values, out=values).astype(np.float32)
    rotation.rotate(rotated)
    rotated *= (127 / np.maximum.reduce(np.abs(rotated), axis=1))[:, np.newaxis]
    directions = np.rint(rotated, out=rotated).astype(np.int8)
    scales = 1 / np.sqrt(np.vecdot(directions, directions, dtype=np.int32).astype(np.float32))
    return Codes(directions, scales)


def centre_of(codes: Codes) -> NDArray[np.float32]:
    """The middle of the vectors that point somewhere."""
    pointing = np.flatnonzero(~np.isnan(codes.scales))
    total = codes.scales[pointing].astype(np.float64) @ codes.directions[pointing].astype(np.float64)
    return (total / max(len(pointing), 1)).astype(np.float32)


def bits_of(codes: Codes, centre: NDArray[np.float32]) -> Words:
    """On which side of the centre each vector is in each dimension: one column a vector, 64 dimensions a row."""
    rows, dimensions = codes.directions.shape
    words = np.empty((words_for(dimensions), rows), dtype=np.uint64)
    for start in range(0, rows, _BATCH):
        directions, scales = codes.directions[start : start + _BATCH], codes.scales[start : start + _BATCH]
        words[:, start : start + _BATCH] = _packed(directions * scales[:, np.newaxis] > centre)
    return words


def _packed(bits: NDArray[np.bool_]) -> Words:
    packed = np.packbits(bits, axis=1, bitorder="little")
    padded = np.zeros((len(packed), 8 * words_for(bits.shape[1])), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").T


def planes_of(query: Codes) -> tuple[Words, Words, Words]:
    """A question's vector in three bits for each dimension: on which side it points, and how far.

    Rows have one bit for each; a question in one bit too would lose most of what tells near rows from far ones.
    """
    values = query.directions[0].astype(np.float32)
    levels = np.clip(
        np.floor(values * (_LEVELS / 2 / max(np.abs(values).max(initial=0), 1))) + _LEVELS // 2, 0, _LEVELS - 1
    )
    high, middle, low = (_packed((levels.astype(np.uint8)[np.newaxis] & bit) > 0)[:, 0] for bit in (4, 2, 1))
    return high, middle, low


def words_for(dimensions: int) -> int:
    return -(-dimensions // _WORD)


def count_differences(bits: Words, query: Words, counts: NDArray[np.uint16]) -> None:
    """In how many bits each column differs from the query."""
    xor = np.empty(_SCANNED, dtype=np.uint64)
    ones, total = np.empty(_SCANNED, dtype=np.uint8), np.empty(_SCANNED, dtype=np.uint8)
    for start in range(0, len(counts), _SCANNED):
        part = slice(start, start + _SCANNED)
        found = counts[part]
        differing, few, sums = xor[: len(found)], ones[: len(found)], total[: len(found)]
        found[:] = 0
        for first in range(0, len(bits), _WORDS_PER_BYTE):
            for word in range(first, min(first + _WORDS_PER_BYTE, len(bits))):
                np.bitwise_xor(bits[word, part], query[word], out=differing)
                if word == first:
                    np.bitwise_count(differing, out=sums)
                else:
                    np.bitwise_count(differing, out=few)
                    np.add(sums, few, out=sums)
            np.add(found, sums, out=found)


def dots_by(kernel: Kernel | None) -> Dots:
    """How products of codes are summed: by numkong where it is installed, unless told otherwise.

    Both sum whole numbers, so they agree to the last bit.
    """
    if kernel == "numpy":
        return _dots_by_numpy
    try:
        import numkong
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
