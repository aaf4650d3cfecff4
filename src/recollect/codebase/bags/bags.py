"""Which words the parts of a file have and what each part means.

This module imports numpy, which takes a while: import it where it is needed.
"""

import threading
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recollect.codebase.bags.arrays import InArrays
from recollect.codebase.bags.bag import Bag
from recollect.codebase.bags.compiled import Compiled
from recollect.inference.static_model import Table
from recollect.native.library import library


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
