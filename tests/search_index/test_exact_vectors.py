"""Exact vectors are cached once they were read."""

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.search_index import exact_vectors
from scrubjay.search_index.exact_vectors import ExactVectors

VECTORS = [np.array([number, -number, 0.5, 1], dtype="<f2").tobytes() for number in range(20)] + [b""]


class RecordingReader:
    """Reads vectors and records which rows were read."""

    def __init__(self) -> None:
        self.read: list[list[int]] = []

    def __call__(self, rows: NDArray[np.int64]) -> list[bytes]:
        self.read.append(rows.tolist())
        return [VECTORS[row] for row in rows]


def test_a_row_is_read_once_together_with_some_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_vectors, "READ_AHEAD", 3)
    exact, reader = ExactVectors(4), RecordingReader()
    first = exact.load(np.array([2, 5, 20]), 21, reader)
    again = exact.load(np.array([1, 2, 5, 7, 20]), 21, reader)
    known = exact.load(np.array([3, 4, 6]), 21, reader)
    assert first.tolist() == [[2, -2, 0.5, 1], [5, -5, 0.5, 1], [0, 0, 0, 0]]
    assert again.tolist() == [[1, -1, 0.5, 1], [2, -2, 0.5, 1], [5, -5, 0.5, 1], [7, -7, 0.5, 1], [0, 0, 0, 0]]
    assert known.tolist() == [[3, -3, 0.5, 1], [4, -4, 0.5, 1], [6, -6, 0.5, 1]]
    assert reader.read == [[2, 5, 20, 0, 1, 3], [7, 20, 4, 6, 8]]


def test_rows_of_a_large_store_are_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_vectors, "MAX_BYTES", 10 * 4 * 4)
    exact, reader = ExactVectors(4), RecordingReader()
    rows = np.array([3, 10])
    found = [exact.load(rows, 11, reader).tolist() for _ in range(2)]
    assert found == [[[3, -3, 0.5, 1], [10, -10, 0.5, 1]]] * 2
    assert reader.read == [[3, 10], [3, 10]]


def test_a_row_that_a_reader_does_not_see_yet_is_read_again() -> None:
    def read_too_early(rows: NDArray[np.int64]) -> list[bytes]:
        return [VECTORS[row] if row < 2 else b"" for row in rows]

    exact, reader = ExactVectors(4), RecordingReader()
    early = exact.load(np.array([1, 2]), 3, read_too_early)
    later = exact.load(np.array([1, 2]), 3, reader)
    assert (early[1].tolist(), later[1].tolist()) == ([0, 0, 0, 0], [2, -2, 0.5, 1])
    assert reader.read == [[2]]
