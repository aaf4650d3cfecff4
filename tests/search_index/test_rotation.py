"""Rotating keeps angles, spreads what vectors say, and gives the same everywhere."""

import hashlib
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.search_index.rotation import LENGTH, MOST_DIMENSIONS, Rotation

DIMENSIONS = [1, 2, 3, 8, 100, 256, 300, 384, 511, 768, 1536, 3072]


def whole(rows: int, dimensions: int) -> NDArray[np.float32]:
    """Vectors of whole numbers that say almost everything in a few places."""
    place = np.arange(rows * dimensions, dtype=np.float64).reshape(rows, dimensions)
    values = (place * place * 31 % 1009 - 504.5) / (1 + place % dimensions)
    return np.rint(values * (LENGTH / np.sqrt(np.vecdot(values, values)))[:, np.newaxis]).astype(np.float32)


def rotated(values: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    turned = values.copy()
    Rotation(dimensions).rotate(turned)
    return turned


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_lengths_and_angles_stay(dimensions: int) -> None:
    values = whole(20, dimensions)
    turned = rotated(values, dimensions)
    before, after = values.astype(np.float64) / LENGTH, turned.astype(np.float64) / LENGTH
    assert np.abs(before @ before.T - after @ after.T).max() < 0.005


@pytest.mark.parametrize("dimensions", [256, 300, 384, 511, 3072])
def test_a_vector_with_one_large_place_is_spread_over_all(dimensions: int) -> None:
    values = np.eye(dimensions, dtype=np.float32) * LENGTH
    turned = np.abs(rotated(values, dimensions)) / LENGTH
    assert turned.max() < 10 / np.sqrt(dimensions)
    assert (turned > 0.01 / np.sqrt(dimensions)).mean() > 0.8


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_a_vector_is_rotated_alike_alone_and_among_others(dimensions: int) -> None:
    values = whole(131, dimensions)
    together = rotated(values, dimensions)
    alone = np.concatenate([rotated(values[row : row + 1], dimensions) for row in range(len(values))])
    assert np.array_equal(together, alone)
    assert np.array_equal(together[::-1], rotated(values[::-1], dimensions))


def test_no_sum_can_become_so_large_that_it_would_be_rounded() -> None:
    """No sum of a vector's places, whatever their signs, is larger than its length times the root of their number."""
    assert LENGTH * math.sqrt(MOST_DIMENSIONS) < 2**24
    assert np.float32(2**24) + np.float32(1) == np.float32(2**24)


def test_a_rotation_is_the_same_on_every_machine() -> None:
    """Files that were made elsewhere, or by an older program, must stay usable: these never change."""
    digests: dict[int, str] = {}
    for dimensions in (3, 256, 384):
        place = np.arange(5 * dimensions, dtype=np.float32).reshape(5, dimensions)
        turned = rotated(place * place % 1009 - 504, dimensions)
        digests[dimensions] = hashlib.sha256(turned.astype("<f4").tobytes()).hexdigest()[:16]
    assert digests == {3: "5869adab588aa98f", 256: "d27ce807da2b80db", 384: "14293dad951378b8"}


@pytest.mark.parametrize("dimensions", [0, -1, MOST_DIMENSIONS + 1])
def test_impossible_dimensions_are_refused(dimensions: int) -> None:
    with pytest.raises(ValueError, match="dimensions"):
        Rotation(dimensions)
