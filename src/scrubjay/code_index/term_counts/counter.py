"""Count the words of chunks and compute their embeddings.

Imports numpy, which is slow to import: load this module late.
"""

import threading
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.term_counts.models import TermCounts
from scrubjay.code_index.term_counts.native_counter import NativeCounter
from scrubjay.code_index.term_counts.numpy_counter import NumpyCounter
from scrubjay.models.static_model import EmbeddingTable
from scrubjay.native.library import library


class TermCounter:
    """Counts words and computes embeddings. Caches what it learned about identifiers; safe for threads."""

    def __init__(self, *, compiled: bool = True) -> None:
        """Use the native library if it is available and `compiled` is true, else numpy; the results are equal."""
        native = library() if compiled else None
        self._counting = NativeCounter(native, EmbeddingTable()) if native else NumpyCounter(EmbeddingTable())
        self._lock = threading.Lock()
        """The caches of the counter must not grow while another thread reads them."""

    def count(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> TermCounts:
        """Count the words of texts and compute their embeddings; `names` are those that each text defines."""
        with self._lock:
            return self._counting.count(texts, names)

    def count_spans(
        self, content: bytes, spans: NDArray[np.int32], names: Sequence[str], owners: NDArray[np.int32]
    ) -> tuple[TermCounts, NDArray[np.uint64]]:
        """Count the words of these spans of a content, and return the word of each whole name as well.

        Only the first two columns of `spans` are used. A name belongs to the span of its owner; to none if that is -1.
        """
        with self._lock:
            if isinstance(self._counting, NativeCounter) and content.isascii() and all(map(str.isascii, names)):
                return self._counting.count_spans(content, spans, names, owners)
            texts = [content[start:end].decode("utf-8", "replace") for start, end in spans[:, :2].tolist()]
            defined: list[dict[str, None]] = [{} for _ in texts]
            for name, owner in zip(names, owners.tolist(), strict=True):
                if owner >= 0:
                    defined[owner][name] = None
            return self._counting.count(texts, [[*own] for own in defined]), self._counting.whole_name_words(names)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float16]:
        """Return the embedding of each text."""
        with self._lock:
            return self._counting.embed(texts)

    def whole_name_words(self, names: Sequence[str]) -> NDArray[np.uint64]:
        """Return the word id of each whole name, as `tokenize_name` splits it."""
        with self._lock:
            return self._counting.whole_name_words(names)


@lru_cache(maxsize=1)
def term_counter() -> TermCounter:
    """Return the counter of this process."""
    return TermCounter()


def embed_texts(texts: Sequence[str]) -> NDArray[np.float16]:
    """Return the embedding of each text; zeros if it has none."""
    return term_counter().embed(texts)
