"""The rotation keeps angles, spreads the values of vectors, and is the same on every machine."""

import hashlib
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.search_index.rotation import LENGTH, MAX_DIMENSIONS, Rotation

DIMENSIONS = [1, 2, 3, 8, 100, 256, 300, 384, 511, 768, 1536, 3072]


def integer_vectors(rows: int, dimensions: int) -> NDArray[np.float32]:
    """Return integer vectors with almost all of their length in a few dimensions."""
    index = np.arange(rows * dimensions, dtype=np.float64).reshape(rows, dimensions)
    values = (index * index * 31 % 1009 - 504.5) / (1 + index % dimensions)
    return np.rint(values * (LENGTH / np.sqrt(np.vecdot(values, values)))[:, np.newaxis]).astype(np.float32)


def rotated(values: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    turned = values.copy()
    Rotation(dimensions).rotate(turned)
    return turned


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_lengths_and_angles_are_kept(dimensions: int) -> None:
    values = integer_vectors(20, dimensions)
    turned = rotated(values, dimensions)
    before, after = values.astype(np.float64) / LENGTH, turned.astype(np.float64) / LENGTH
    assert np.abs(before @ before.T - after @ after.T).max() < 0.005


@pytest.mark.parametrize("dimensions", [256, 300, 384, 511, 3072])
def test_a_vector_with_one_large_value_is_spread_over_all_dimensions(dimensions: int) -> None:
    values = np.eye(dimensions, dtype=np.float32) * LENGTH
    turned = np.abs(rotated(values, dimensions)) / LENGTH
    assert turned.max() < 10 / np.sqrt(dimensions)
    assert (turned > 0.01 / np.sqrt(dimensions)).mean() > 0.8


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_a_vector_is_rotated_the_same_alone_and_among_others(dimensions: int) -> None:
    values = integer_vectors(131, dimensions)
    together = rotated(values, dimensions)
    alone = np.concatenate([rotated(values[row : row + 1], dimensions) for row in range(len(values))])
    assert np.array_equal(together, alone)
    assert np.array_equal(together[::-1], rotated(values[::-1], dimensions))


def test_no_sum_is_large_enough_to_be_rounded() -> None:
    """A sum of a vector's values, with any signs, is at most its length times the root of the number of dimensions."""
    assert LENGTH * math.sqrt(MAX_DIMENSIONS) < 2**24
    assert np.float32(2**24) + np.float32(1) == np.float32(2**24)


def test_a_rotation_is_the_same_on_every_machine() -> None:
    """Files written elsewhere or by an earlier version must stay usable, so these digests never change."""
    digests: dict[int, str] = {}
    for dimensions in (3, 256, 384):
        index = np.arange(5 * dimensions, dtype=np.float32).reshape(5, dimensions)
        turned = rotated(index * index % 1009 - 504, dimensions)
        digests[dimensions] = hashlib.sha256(turned.astype("<f4").tobytes()).hexdigest()[:16]
    assert digests == {3: "5869adab588aa98f", 256: "d27ce807da2b80db", 384: "14293dad951378b8"}


@pytest.mark.parametrize("dimensions", [0, -1, MAX_DIMENSIONS + 1])
def test_invalid_dimensions_are_rejected(dimensions: int) -> None:
    with pytest.raises(ValueError, match="dimensions"):
        Rotation(dimensions)
