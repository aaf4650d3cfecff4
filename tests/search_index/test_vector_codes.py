"""Codes keep nearly the cosines of vectors, and every way to compute with them gives the same result."""

import hashlib
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.search_index import vector_codes
from scrubjay.search_index.rotation import Rotation
from scrubjay.search_index.vector_codes import (
    Codes,
    compute_centre,
    count_differences,
    dot_product_by,
    encode,
    sign_bits,
    words_per_vector,
)


def vectors(rows: int, dimensions: int, seed: int = 0) -> NDArray[np.float16]:
    values = np.random.default_rng(seed).standard_normal((rows, dimensions))
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype("<f2")


def encoded(values: NDArray[np.float16]) -> Codes:
    dimensions = values.shape[1]
    return encode(values.tobytes(), Rotation(dimensions), dimensions)


def same(first: Codes, second: Codes) -> bool:
    return (
        first.directions.tobytes() == second.directions.tobytes() and first.scales.tobytes() == second.scales.tobytes()
    )


@pytest.mark.parametrize("dimensions", [1, 3, 64, 256, 384, 3072])
def test_codes_have_nearly_the_cosines_of_their_vectors(dimensions: int) -> None:
    values = vectors(50, dimensions)
    exact = values.astype(np.float64)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    codes = encoded(values)
    scaled = codes.directions * codes.scales[:, np.newaxis].astype(np.float64)
    assert np.abs(scaled @ scaled.T - exact @ exact.T).max() < 0.02
    assert np.abs(np.vecdot(scaled, scaled) - 1).max() < 1e-6


@pytest.mark.parametrize("length", [0.01, 1, 3, 40])
@pytest.mark.parametrize("dimensions", [1, 7, 48, 256, 384, 1536])
def test_a_vector_has_the_same_codes_in_any_batch(
    monkeypatch: pytest.MonkeyPatch, dimensions: int, length: float
) -> None:
    values = vectors(40, dimensions) * np.float16(length)
    together = encoded(values)
    alone = [encoded(values[row : row + 1]) for row in range(len(values))]
    assert same(
        together, Codes(np.concatenate([c.directions for c in alone]), np.concatenate([c.scales for c in alone]))
    )
    monkeypatch.setattr(vector_codes, "_BATCH", 7)
    assert same(together, encoded(values))


def test_codes_are_the_same_on_every_machine() -> None:
    """Only elementary operations: numpy's random numbers and order of summation must not matter."""
    index = np.arange(5 * 256)
    values = ((index * index * 31 % 1009) / 1009 - 0.5).reshape(5, 256)
    values = (values / 8).astype("<f2")
    codes = encoded(values)
    digest = hashlib.sha256(codes.directions.tobytes() + codes.scales.astype("<f4").tobytes()).hexdigest()[:16]
    assert digest == "a741464f9cff533b"


def test_the_length_of_a_vector_does_not_matter_and_an_invalid_vector_has_no_scale() -> None:
    direction = vectors(1, 8)[0]
    values = np.array(
        [
            direction,
            4 * direction,
            np.zeros(8),
            [np.inf, *direction[1:]],
            [np.nan, *direction[1:]],
            [6e-8] * 8,
            [6e4] * 8,
        ],
        dtype="<f2",
    )
    codes = encoded(values)
    assert np.isnan(codes.scales).tolist() == [False, False, True, True, True, False, False]
    assert codes.directions[0].tolist() == codes.directions[1].tolist()
    assert codes.directions[5].tolist() == codes.directions[6].tolist()


def test_the_centre_is_the_mean_of_the_valid_vectors() -> None:
    values = vectors(300, 16)
    values[7] = 0
    codes = encoded(values)
    valid = np.delete(np.arange(300), 7)
    mean = np.mean(codes.directions[valid] * codes.scales[valid, np.newaxis].astype(np.float64), axis=0)
    assert compute_centre(codes) == pytest.approx(mean, abs=1e-7)
    invalid = encoded(np.zeros((3, 16), dtype="<f2"))
    assert compute_centre(invalid).tolist() == [0.0] * 16


@pytest.mark.parametrize("dimensions", [1, 63, 64, 65, 200, 256, 3072])
@pytest.mark.parametrize("scanned", [5, 32_768])
def test_differences_are_counted_correctly(dimensions: int, scanned: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_codes, "_SCANNED", scanned)
    monkeypatch.setattr(vector_codes, "_BATCH", 6)
    codes = encoded(vectors(23, dimensions))
    opposite = Codes(-codes.directions, codes.scales)
    centre = np.full(dimensions, 0.001, dtype=np.float32)
    sides = codes.directions * codes.scales[:, np.newaxis] > centre
    bits = sign_bits(codes, centre)
    assert bits.shape == (words_per_vector(dimensions), 23)
    counts = np.empty(23, dtype=np.uint16)
    count_differences(bits, bits[:, 3], counts)
    assert counts.tolist() == (sides ^ sides[3]).sum(axis=1).tolist()
    other = sign_bits(opposite, np.zeros(dimensions, dtype=np.float32))
    count_differences(other, sign_bits(codes, np.zeros(dimensions, dtype=np.float32))[:, 3], counts)
    assert counts.tolist() == ((opposite.directions > 0) ^ (codes.directions[3] > 0)).sum(axis=1).tolist()


@pytest.mark.parametrize("dimensions", [1, 7, 256, 384, 3072])
def test_numkong_and_numpy_give_the_same_products(dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    directions = rng.integers(-127, 128, (501, dimensions), dtype=np.int8)
    directions[0], directions[1] = 127, -127
    for query in (directions[0], directions[1], directions[2]):
        exact = (directions.astype(np.int64) @ query.astype(np.int64)).tolist()
        assert dot_product_by("numkong")(query, directions).tolist() == exact
        assert dot_product_by("numpy")(query, directions).tolist() == exact
        assert dot_product_by("numkong")(query, directions[:0]).tolist() == []
        assert dot_product_by("numpy")(query, directions[:0]).tolist() == []


def test_numkong_is_used_if_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert dot_product_by(None) is not dot_product_by("numpy")
    monkeypatch.setitem(sys.modules, "numkong", None)
    assert dot_product_by(None) is dot_product_by("numpy")
    with pytest.raises(ImportError):
        dot_product_by("numkong")
