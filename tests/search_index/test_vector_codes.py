"""Few bits say nearly the same as the vectors, and every way to compute with them gives the same."""

import hashlib
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.search_index import vector_codes
from scrubjay.search_index.rotation import Rotation
from scrubjay.search_index.vector_codes import (
    Codes,
    bits_of,
    centre_of,
    count_differences,
    dots_by,
    encode,
    words_for,
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
def test_a_vector_has_the_same_codes_wherever_it_stands(
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
    """Made by elementary operations only: numpy's random numbers or its sums must not matter."""
    place = np.arange(5 * 256)
    values = ((place * place * 31 % 1009) / 1009 - 0.5).reshape(5, 256)
    values = (values / 8).astype("<f2")
    codes = encoded(values)
    digest = hashlib.sha256(codes.directions.tobytes() + codes.scales.astype("<f4").tobytes()).hexdigest()[:16]
    assert digest == "a741464f9cff533b"


def test_the_length_of_a_vector_does_not_matter_and_none_that_points_nowhere_gets_a_scale() -> None:
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


def test_the_centre_is_the_middle_of_what_points_somewhere() -> None:
    values = vectors(300, 16)
    values[7] = 0
    codes = encoded(values)
    pointing = np.delete(np.arange(300), 7)
    middle = np.mean(codes.directions[pointing] * codes.scales[pointing, np.newaxis].astype(np.float64), axis=0)
    assert centre_of(codes) == pytest.approx(middle, abs=1e-7)
    nowhere = encoded(np.zeros((3, 16), dtype="<f2"))
    assert centre_of(nowhere).tolist() == [0.0] * 16


@pytest.mark.parametrize("dimensions", [1, 63, 64, 65, 200, 256, 3072])
@pytest.mark.parametrize("scanned", [5, 32_768])
def test_differences_are_counted_right(dimensions: int, scanned: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_codes, "_SCANNED", scanned)
    monkeypatch.setattr(vector_codes, "_BATCH", 6)
    codes = encoded(vectors(23, dimensions))
    opposite = Codes(-codes.directions, codes.scales)
    centre = np.full(dimensions, 0.001, dtype=np.float32)
    sides = codes.directions * codes.scales[:, np.newaxis] > centre
    bits = bits_of(codes, centre)
    assert bits.shape == (words_for(dimensions), 23)
    counts = np.empty(23, dtype=np.uint16)
    count_differences(bits, bits[:, 3], counts)
    assert counts.tolist() == (sides ^ sides[3]).sum(axis=1).tolist()
    other = bits_of(opposite, np.zeros(dimensions, dtype=np.float32))
    count_differences(other, bits_of(codes, np.zeros(dimensions, dtype=np.float32))[:, 3], counts)
    assert counts.tolist() == ((opposite.directions > 0) ^ (codes.directions[3] > 0)).sum(axis=1).tolist()


@pytest.mark.parametrize("dimensions", [1, 7, 256, 384, 3072])
def test_numkong_and_numpy_give_the_same_products(dimensions: int) -> None:
    dice = np.random.default_rng(dimensions)
    directions = dice.integers(-127, 128, (501, dimensions), dtype=np.int8)
    directions[0], directions[1] = 127, -127
    for query in (directions[0], directions[1], directions[2]):
        exact = (directions.astype(np.int64) @ query.astype(np.int64)).tolist()
        assert dots_by("numkong")(query, directions).tolist() == exact
        assert dots_by("numpy")(query, directions).tolist() == exact
        assert dots_by("numkong")(query, directions[:0]).tolist() == []
        assert dots_by("numpy")(query, directions[:0]).tolist() == []


def test_numkong_is_used_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert dots_by(None) is not dots_by("numpy")
    monkeypatch.setitem(sys.modules, "numkong", None)
    assert dots_by(None) is dots_by("numpy")
    with pytest.raises(ImportError):
        dots_by("numkong")
