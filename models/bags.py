"""Texts as weighted bags of tokens, and a table of rows that turns bags into vectors."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

Floats = npt.NDArray[np.float32]
# scipy brings no types; everything that comes from it is `Any`.
sparse: Any = importlib.import_module("scipy.sparse")

MOST_TOKENS = 512
_BATCH = 4_000


def load_tokenizer(path: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def bags(tokenizer: Tokenizer, texts: Sequence[str], most_tokens: int = MOST_TOKENS) -> Any:
    """One sparse row a text: a token that occurs n times weighs sqrt(n), as the bundled model pools."""
    ids: list[npt.NDArray[np.int32]] = []
    for start in range(0, len(texts), _BATCH):
        batch = list(texts[start : start + _BATCH])
        encodings = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        ids += [np.array(encoding.ids[:most_tokens], np.int32) for encoding in encodings]
    ends = np.cumsum([0, *map(len, ids)])
    tokens = np.concatenate(ids) if ids else np.zeros(0, np.int32)
    matrix = sparse.csr_matrix(
        (np.ones(len(tokens), np.float32), tokens, ends), shape=(len(texts), tokenizer.get_vocab_size())
    )
    matrix.sum_duplicates()
    matrix.data = np.sqrt(matrix.data)
    return matrix


def vectors(matrix: Any, table: Floats) -> Floats:
    """Every bag's sum of rows, scaled to length 1; an empty bag stays zero."""
    summed: Floats = matrix @ table
    return summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-9)
