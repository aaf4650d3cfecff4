"""The table of rows: its start from MiniLM, and its form in the wheel."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.bags import Floats

DIMENSIONS = 256
# Weight a / (a + p) of a token with frequency p: frequent tokens say little.
_RARITY = 3e-4
_MEDIAN_LENGTH = 4.0


def start_table(words: Floats, frequencies: Floats) -> Floats:
    """The teacher's words in their 256 main directions, frequent ones weighed down."""
    centred = words - words.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(centred.T))
    table = centred @ directions[:, ::-1][:, :DIMENSIONS] * (_RARITY / (_RARITY + frequencies))[:, None]
    return (table * (_MEDIAN_LENGTH / np.median(np.linalg.norm(table, axis=1)))).astype(np.float32)


def frequencies(code: Any, prose: list[Any]) -> Floats:
    """How frequent each token is, prose and code counting the same; bags hold square roots of counts."""
    in_code = _counts(code)
    in_prose = np.sum([_counts(matrix) for matrix in prose], axis=0)
    smoothed = [(counts + 1) / (counts + 1).sum() for counts in (in_code, in_prose)]
    return np.asarray(np.mean(smoothed, axis=0), np.float32)


def _counts(matrix: Any) -> npt.NDArray[np.float64]:
    return np.asarray(matrix.power(2).sum(axis=0), np.float64).ravel()


def quantised(table: Floats) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float16]]:
    """Each row as int8 and one scale."""
    scales: npt.NDArray[np.float16] = (np.abs(table).max(axis=1) / 127).astype(np.float16)
    scales[scales == 0] = 1
    rows = np.round(table / scales.astype(np.float32)[:, None])
    return np.clip(rows, -127, 127).astype(np.int8), scales


def save(table: Floats, folder: Path) -> None:
    rows, scales = quantised(table)
    np.save(folder / "rows.npy", rows)
    np.save(folder / "scales.npy", scales)


def load(folder: Path) -> Floats:
    """A saved table as the embedder sees it."""
    rows, scales = np.load(folder / "rows.npy"), np.load(folder / "scales.npy")
    return rows.astype(np.float32) * scales.astype(np.float32)[:, None]
