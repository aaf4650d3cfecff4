"""Word counts and embeddings of chunks, as arrays.

Imports numpy, which is slow to import: load this module late.
"""

import re
import string
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.models.static_model import DIMENSIONS

# Extra weight of a name in the chunk that defines it.
NAME_WEIGHT = 5
# Maximum number of cached identifiers, so that random names do not fill the memory.
MAX_IDENTIFIERS = 200_000
PUNCTUATION = [
    chr(code) for code in range(128) if chr(code).isprintable() and not chr(code).isalnum() and code not in b"_ ["
]
"""Punctuation that the embedding model knows. Opening brackets are left out: they say no more than closing ones."""
# Non-ASCII text with the word characters after it; an expression that finds those before it would be far slower.
_NON_ASCII_WORD = re.compile(r"[^\x00-\x7f][A-Za-z0-9_\x80-\U0010ffff]*+")
_LETTERS = frozenset(string.ascii_letters + string.digits + "_")


class TermCounts(NamedTuple):
    """Words and embeddings of chunks, one row per chunk."""

    starts: NDArray[np.int32]
    """Offset of each chunk's words in `words`; one entry more than there are chunks."""
    words: NDArray[np.uint64]
    """Word ids; each at most once per chunk."""
    counts: NDArray[np.uint8]
    """Number of occurrences of each word in its chunk."""
    vectors: NDArray[np.float16]
    """Embedding of each chunk; zeros if there is none."""


def split_ascii(text: str) -> tuple[str, Sequence[str]]:
    """Split a text into its ASCII part and the non-ASCII words, which are tokenized separately."""
    if text.isascii():
        return text, ()
    plain: list[str] = []
    words: list[str] = []
    end = 0
    for found in _NON_ASCII_WORD.finditer(text):
        start = found.start()
        while start > end and text[start - 1] in _LETTERS:
            start -= 1
        plain.append(text[end:start])
        end = found.end()
        words.append(text[start:end])
    return " ".join([*plain, text[end:]]), words


def concatenate(parts: Sequence[TermCounts]) -> TermCounts:
    """Concatenate the rows of all."""
    if not parts:
        return TermCounts(
            np.zeros(1, dtype=np.int32),
            np.empty(0, dtype=np.uint64),
            np.empty(0, dtype=np.uint8),
            np.empty((0, DIMENSIONS), dtype="<f2"),
        )
    if len(parts) == 1:
        return parts[0]
    return TermCounts(
        _starts(np.concatenate([np.diff(part.starts) for part in parts])),
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.vectors for part in parts]),
    )


def _starts(sizes: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
