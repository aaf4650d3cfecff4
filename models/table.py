"""The table of token rows: its initial values from MiniLM and its quantized file format."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.bags import Floats

DIMENSIONS = 256
# a in the weight a / (a + p) of a token with frequency p (smooth inverse frequency): frequent tokens say little.
_FREQUENCY_WEIGHT = 3e-4
_MEDIAN_LENGTH = 4.0


def start_table(words: Floats, frequencies: Floats) -> Floats:
    """Return the teacher's word vectors projected on their 256 principal components, frequent tokens weighed down."""
    centred = words - words.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(centred.T))
    table = (
        centred @ directions[:, ::-1][:, :DIMENSIONS] * (_FREQUENCY_WEIGHT / (_FREQUENCY_WEIGHT + frequencies))[:, None]
    )
    return (table * (_MEDIAN_LENGTH / np.median(np.linalg.norm(table, axis=1)))).astype(np.float32)


def token_frequencies(code: Any, prose: list[Any]) -> Floats:
    """Return the relative frequency of each token, with prose and code weighted equally.

    The bags hold square roots of counts.
    """
    in_code = _counts(code)
    in_prose = np.sum([_counts(matrix) for matrix in prose], axis=0)
    smoothed = [(counts + 1) / (counts + 1).sum() for counts in (in_code, in_prose)]
    return np.asarray(np.mean(smoothed, axis=0), np.float32)


def _counts(matrix: Any) -> npt.NDArray[np.float64]:
    return np.asarray(matrix.power(2).sum(axis=0), np.float64).ravel()


def quantize(table: Floats) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float16]]:
    """Return each row as int8 values and one float16 scale."""
    scales: npt.NDArray[np.float16] = (np.abs(table).max(axis=1) / 127).astype(np.float16)
    scales[scales == 0] = 1
    rows = np.round(table / scales.astype(np.float32)[:, None])
    return np.clip(rows, -127, 127).astype(np.int8), scales


def save(table: Floats, folder: Path) -> None:
    rows, scales = quantize(table)
    np.save(folder / "rows.npy", rows)
    np.save(folder / "scales.npy", scales)


def load(folder: Path) -> Floats:
    """Return a saved table as float32, as the embedder uses it."""
    rows, scales = np.load(folder / "rows.npy"), np.load(folder / "scales.npy")
    return rows.astype(np.float32) * scales.astype(np.float32)[:, None]
