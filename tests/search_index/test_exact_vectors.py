"""Exact vectors that are kept once they were read."""

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.search_index import exact_vectors
from scrubjay.search_index.exact_vectors import ExactVectors

VECTORS = [np.array([number, -number, 0.5, 1], dtype="<f2").tobytes() for number in range(20)] + [b""]


class Shelf:
    """Notes which rows are read."""

    def __init__(self) -> None:
        self.read: list[list[int]] = []

    def __call__(self, rows: NDArray[np.int64]) -> list[bytes]:
        self.read.append(rows.tolist())
        return [VECTORS[row] for row in rows]


def test_a_row_is_read_once_with_some_others_and_stays_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_vectors, "READ_AHEAD", 3)
    exact, shelf = ExactVectors(4), Shelf()
    first = exact.of(np.array([2, 5, 20]), 21, shelf)
    again = exact.of(np.array([1, 2, 5, 7, 20]), 21, shelf)
    known = exact.of(np.array([3, 4, 6]), 21, shelf)
    assert first.tolist() == [[2, -2, 0.5, 1], [5, -5, 0.5, 1], [0, 0, 0, 0]]
    assert again.tolist() == [[1, -1, 0.5, 1], [2, -2, 0.5, 1], [5, -5, 0.5, 1], [7, -7, 0.5, 1], [0, 0, 0, 0]]
    assert known.tolist() == [[3, -3, 0.5, 1], [4, -4, 0.5, 1], [6, -6, 0.5, 1]]
    assert shelf.read == [[2, 5, 20, 0, 1, 3], [7, 20, 4, 6, 8]]


def test_very_many_rows_are_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_vectors, "MOST_BYTES", 10 * 4 * 4)
    exact, shelf = ExactVectors(4), Shelf()
    rows = np.array([3, 10])
    found = [exact.of(rows, 11, shelf).tolist() for _ in range(2)]
    assert found == [[[3, -3, 0.5, 1], [10, -10, 0.5, 1]]] * 2
    assert shelf.read == [[3, 10], [3, 10]]


def test_what_a_reader_does_not_see_yet_is_read_again() -> None:
    def before_it_came(rows: NDArray[np.int64]) -> list[bytes]:
        return [VECTORS[row] if row < 2 else b"" for row in rows]

    exact, shelf = ExactVectors(4), Shelf()
    early = exact.of(np.array([1, 2]), 3, before_it_came)
    later = exact.of(np.array([1, 2]), 3, shelf)
    assert (early[1].tolist(), later[1].tolist()) == ([0, 0, 0, 0], [2, -2, 0.5, 1])
    assert shelf.read == [[2]]
