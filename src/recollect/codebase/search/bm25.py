"""BM25: what words are worth, and how much more often is better."""

import math

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75


def rarity(texts: int, having: int) -> float:
    """What a word is worth that so many of these texts have."""
    return math.log1p((texts - having + 0.5) / (having + 0.5))


def saturated(
    counts: NDArray[np.float32], lengths: NDArray[np.float32], average: float, b: float = B
) -> NDArray[np.float32]:
    """The share of a word that each text has so often: more is better, but ever less so, and less in long ones."""
    norm = np.float32(K1) * (np.float32(1 - b) + np.float32(b / (average or 1.0)) * lengths)
    return np.asarray(counts * np.float32(K1 + 1) / (counts + norm), dtype=np.float32)
