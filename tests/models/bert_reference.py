"""The encoder written down once more in plain numpy, in float32, to compare the graph with."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float32]]


def erf(values: Array) -> Array:
    """The error function to seven digits: Abramowitz and Stegun, 7.1.26."""
    part = 1 / (1 + 0.3275911 * np.abs(values))
    powers = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
    total = sum(factor * part ** (power + 1) for power, factor in enumerate(powers))
    return np.asarray(np.sign(values) * (1 - total * np.exp(-(values**2))), np.float32)


def embed(weights: Mapping[str, Array], ids: Sequence[int]) -> Array:
    """The vector of one text by its token ids, of length 1."""
    tokens = len(ids)

    def linear(rows: Array, name: str) -> Array:
        return rows @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normalised(rows: Array, name: str) -> Array:
        centred = rows - rows.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    words = weights["embeddings.word_embeddings.weight"][list(ids)]
    positions = weights["embeddings.position_embeddings.weight"][:tokens]
    state = normalised(
        words + positions + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm"
    )
    for layer in range(6):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            linear(state, f"{name}.attention.self.{part}").reshape(tokens, 12, 32).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(32))
        seen = (scores / scores.sum(axis=-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(tokens, 384)
        state = normalised(state + linear(seen, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = linear(state, f"{name}.intermediate.dense")
        inner = np.asarray(inner * (1 + erf(inner / np.float32(math.sqrt(2)))) / 2, np.float32)
        state = normalised(state + linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    mean = state.mean(axis=0)
    return mean / np.linalg.norm(mean)
