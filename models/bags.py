"""Convert texts to weighted bags of tokens, and bags to vectors with a table of token rows."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

Floats = npt.NDArray[np.float32]
# scipy ships no type information, so everything from it is `Any`.
sparse: Any = importlib.import_module("scipy.sparse")

MAX_TOKENS = 512
_BATCH = 4_000


def load_tokenizer(path: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def bags(tokenizer: Tokenizer, texts: Sequence[str], max_tokens: int = MAX_TOKENS) -> Any:
    """Return a sparse matrix with one row per text. A token that occurs n times weighs sqrt(n), as when embedding."""
    ids: list[npt.NDArray[np.int32]] = []
    for start in range(0, len(texts), _BATCH):
        batch = list(texts[start : start + _BATCH])
        encodings = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        ids += [np.array(encoding.ids[:max_tokens], np.int32) for encoding in encodings]
    ends = np.cumsum([0, *map(len, ids)])
    tokens = np.concatenate(ids) if ids else np.zeros(0, np.int32)
    matrix = sparse.csr_matrix(
        (np.ones(len(tokens), np.float32), tokens, ends), shape=(len(texts), tokenizer.get_vocab_size())
    )
    matrix.sum_duplicates()
    matrix.data = np.sqrt(matrix.data)
    return matrix


def vectors(matrix: Any, table: Floats) -> Floats:
    """Return the sum of table rows of every bag, scaled to length 1. An empty bag gives a zero vector."""
    summed: Floats = matrix @ table
    return summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-9)
