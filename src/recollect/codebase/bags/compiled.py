"""Words and meanings are counted by what is compiled, where there was a compiler; what is not plain is read here.

This module imports numpy, which takes a while: import it where it is needed.
"""

import ctypes
import weakref
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recollect.codebase.bags.bag import MOST_KNOWN, SIGNS, WORTH_OF_NAMES, Bag, odd_in, without_odd
from recollect.codebase.words import name_words, stem_of, words_of
from recollect.inference.static_model import DIMENSIONS, Table
from recollect.storage.derived.token_segments import token

_NOT_TOLD = -2
_POINTER, _INT64, _INT32 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
_FUNCTIONS: dict[str, tuple[Any, Sequence[Any]]] = {
    "made": (_POINTER, (ctypes.c_char_p, _INT64, _POINTER, _POINTER, _INT32, _INT32, _POINTER)),
    "ended": (None, (_POINTER,)),
    "size": (_INT64, (_POINTER,)),
    "read": (_INT64, (_POINTER, _INT64, ctypes.c_char_p, _POINTER, ctypes.c_char_p, _POINTER)),
    "unknown": (None, (_POINTER, _POINTER)),
    "told": (_INT32, (_POINTER, ctypes.c_char_p, _INT64)),
    "counted": (_INT64, (_POINTER, _INT32, *[_POINTER] * 6)),
    "tokens": (_POINTER, (_POINTER,)),
    "counts": (_POINTER, (_POINTER,)),
    "wholes": (None, (_POINTER, _POINTER)),
}


class Compiled:
    """Counts the words of parts, and remembers what it found out about identifiers."""

    def __init__(self, library: ctypes.CDLL, table: Table) -> None:
        self._call = {name: _function(library, name) for name in _FUNCTIONS}
        self._table = table
        signs = np.full(128, -1, dtype=np.int32)
        for sign in SIGNS:
            signs[ord(sign)] = table.ids_of_word(sign)[0]
        self._signs = signs
        self._counter = self._made()
        self._end = weakref.finalize(self, self._call["ended"], self._counter)

    def counted(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> Bag:
        """The words of these parts, in each of which these names are defined, and what they mean."""
        if self._call["size"](self._counter) >= MOST_KNOWN:
            self._start_anew()
        others, pieces = _Numbers("Q"), _Numbers("i")
        of_names = [*map(" ".join, names)]
        for text, own in zip(texts, of_names, strict=True):
            for odd in odd_in(text):
                others.extend(_tokens(odd))
                pieces.extend(self._table.ids(odd))
            for odd in odd_in(own):
                others.extend(_tokens(odd) * WORTH_OF_NAMES)
            others.end()
            pieces.end()
        try:
            self._read([*map(without_odd, texts)], [*map(without_odd, of_names)])
            return self._counted(len(texts), others, pieces)
        except MemoryError:
            self._start_anew()
            raise

    def meanings(self, texts: Sequence[str]) -> NDArray[np.float16]:
        """What each of these means."""
        return self.counted(texts, [()] * len(texts)).vectors

    def wholes(self, names: Sequence[str]) -> NDArray[np.uint64]:
        """Of each name the one word that it is as a whole."""
        found = np.zeros(len(names), dtype=np.uint64)
        self._read([name if name.isascii() else "" for name in names], [""] * len(names))
        self._call["wholes"](self._counter, found.ctypes.data)
        for place in np.flatnonzero(found == 0).tolist():
            found[place] = token(name_words(names[place])[-1])
        return found

    def _read(self, texts: Sequence[str], names: Sequence[str]) -> None:
        """Find out about all that is in these, so that it can be counted."""
        call, counter = self._call, self._counter
        # What stands between two belongs to neither.
        written, defined = "\n".join(texts).encode("ascii"), "\n".join(names).encode("ascii")
        text_ends, name_ends = _ends(texts), _ends(names)
        size = call["read"](counter, len(texts), written, text_ends.ctypes.data, defined, name_ends.ctypes.data)
        unknown = np.empty(_good(size), dtype=np.uint8)
        call["unknown"](counter, unknown.ctypes.data)
        stems = "".join([stem_of(part) + "\n" for part in unknown.tobytes().decode("ascii").split("\n")[:-1]])
        _good(call["told"](counter, stems.encode("ascii"), len(stems)))

    def _counted(self, count: int, others: "_Numbers", pieces: "_Numbers") -> Bag:
        call, counter = self._call, self._counter
        starts = np.empty(count + 1, dtype=np.int32)
        vectors = np.empty((count, DIMENSIONS), dtype=np.float32)
        found = _good(
            call["counted"](
                counter, WORTH_OF_NAMES, *others.places(), *pieces.places(), starts.ctypes.data, vectors.ctypes.data
            )
        )  # fmt: skip
        words = ctypes.string_at(call["tokens"](counter), 8 * found)
        counts = ctypes.string_at(call["counts"](counter), found)
        return Bag(starts, np.frombuffer(words, np.uint64), np.frombuffer(counts, np.uint8), vectors.astype("<f2"))

    def _start_anew(self) -> None:
        """A counter that knows nothing yet, in the place of the one that was there."""
        counter = self._made()
        self._end()
        self._counter = counter
        self._end = weakref.finalize(self, self._call["ended"], counter)

    def _made(self) -> int:
        table = self._table
        vocabulary = table.vocabulary_text
        counter = self._call["made"](
            vocabulary, len(vocabulary), table.rows.ctypes.data, table.scales.ctypes.data, DIMENSIONS, table.unknown,
            self._signs.ctypes.data,
        )  # fmt: skip
        if not counter:
            raise MemoryError
        return counter


class _Numbers:
    """Lists of numbers, one after the other."""

    def __init__(self, kind: Literal["Q", "i"]) -> None:
        self._numbers = array(kind)
        self._ends = array("q")

    def extend(self, numbers: Iterable[int]) -> None:
        self._numbers.extend(numbers)

    def end(self) -> None:
        """The next number is another list's."""
        self._ends.append(len(self._numbers))

    def places(self) -> tuple[int, int]:
        """Where the numbers are, and where their ends are."""
        return self._numbers.buffer_info()[0], self._ends.buffer_info()[0]


def _tokens(text: str) -> list[int]:
    return [*map(token, words_of(text))]


def _function(library: ctypes.CDLL, name: str) -> Callable[..., Any]:
    found = library[f"recollect_counter_{name}"]
    found.restype, found.argtypes = _FUNCTIONS[name]
    return found


def _ends(texts: Sequence[str]) -> NDArray[np.int64]:
    """Where each ends when they stand one after the other, with one sign between two."""
    return np.fromiter(accumulate(map(len, texts)), np.int64, len(texts)) + np.arange(len(texts))


def _good(answer: int) -> int:
    """What was answered, unless that tells of a failure."""
    if answer == _NOT_TOLD:
        raise RuntimeError("words were counted whose stems were not told")
    if answer < 0:
        raise MemoryError
    return answer
