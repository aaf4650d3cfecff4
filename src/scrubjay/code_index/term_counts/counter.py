"""Which words the parts of a file have and what each part means.

This module imports numpy, which takes a while: import it where it is needed.
"""

import threading
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.term_counts.models import Bag
from scrubjay.code_index.term_counts.native_counter import Compiled
from scrubjay.code_index.term_counts.numpy_counter import InArrays
from scrubjay.models.static_model import Table
from scrubjay.native.library import library


class Bags:
    """Counts the words of parts, and remembers what it found out about identifiers."""

    def __init__(self, *, compiled: bool = True) -> None:
        """By what is compiled, where there is such a thing, else in arrays; both come to the same."""
        native = library() if compiled else None
        self._counting = Compiled(native, Table()) if native else InArrays(Table())
        self._lock = threading.Lock()
        """What one thread looks into, another must not let grow."""

    def counted(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> Bag:
        """The words of these parts, in each of which these names are defined, and what they mean."""
        with self._lock:
            return self._counting.counted(texts, names)

    def counted_in(
        self, content: bytes, spans: NDArray[np.int32], names: Sequence[str], owners: NDArray[np.int32]
    ) -> tuple[Bag, NDArray[np.uint64]]:
        """The words of these parts of a content and what they mean, and of each name the one word that it is.

        Of each span the first two numbers count. Each name is defined in the part that its owner tells, or in none.
        """
        with self._lock:
            if isinstance(self._counting, Compiled) and content.isascii() and all(map(str.isascii, names)):
                return self._counting.counted_in(content, spans, names, owners)
            texts = [content[start:end].decode("utf-8", "replace") for start, end in spans[:, :2].tolist()]
            defined: list[dict[str, None]] = [{} for _ in texts]
            for name, owner in zip(names, owners.tolist(), strict=True):
                if owner >= 0:
                    defined[owner][name] = None
            return self._counting.counted(texts, [[*own] for own in defined]), self._counting.wholes(names)

    def meanings(self, texts: Sequence[str]) -> NDArray[np.float16]:
        """What each of these means."""
        with self._lock:
            return self._counting.meanings(texts)

    def wholes(self, names: Sequence[str]) -> NDArray[np.uint64]:
        """Of each name the one word that it is as a whole, as `name_words` has it."""
        with self._lock:
            return self._counting.wholes(names)


@lru_cache(maxsize=1)
def bags() -> Bags:
    """The one of this process."""
    return Bags()


def vectors_of(texts: Sequence[str]) -> NDArray[np.float16]:
    """The meaning of each text; zeros for one that has none."""
    return bags().meanings(texts)
