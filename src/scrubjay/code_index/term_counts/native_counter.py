"""Words and meanings are counted by what is compiled, where there was a compiler; what is not plain is read here.

This module imports numpy, which takes a while: import it where it is needed.
"""

import ctypes
import weakref
from array import array
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import chain, count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.words import name_words, stem_of, words_of
from scrubjay.code_index.term_counts.models import MOST_KNOWN, SIGNS, WORTH_OF_NAMES, Bag, parted
from scrubjay.models.static_model import DIMENSIONS, Table
from scrubjay.search_index.token_segments import token

_STEMS_MISSING = -2
_POINTER, _INT64, _INT32 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
_FUNCTIONS: dict[str, tuple[Any, Sequence[Any]]] = {
    "new": (_POINTER, (ctypes.c_char_p, _INT64, _POINTER, _POINTER, _INT32, _INT32, _POINTER)),
    "free": (None, (_POINTER,)),
    "size": (_INT64, (_POINTER,)),
    "read_texts": (_INT64, (_POINTER, ctypes.c_char_p, _INT64, _POINTER, ctypes.c_char_p, _INT64, _INT64)),
    "unknown_parts": (None, (_POINTER, _POINTER)),
    "add_stems": (_INT32, (_POINTER, ctypes.c_char_p, _INT64)),
    "count": (_INT64, (_POINTER, _INT32, *[_POINTER] * 8)),
    "tokens": (_POINTER, (_POINTER,)),
    "counts": (_POINTER, (_POINTER,)),
    "whole_names": (None, (_POINTER, _POINTER)),
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
        self._end = weakref.finalize(self, self._call["free"], self._counter)

    def counted(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> Bag:
        """The words of these parts, in each of which these names are defined, and what they mean."""
        self._make_room()
        others, pieces = _Numbers("Q"), _Numbers("i")
        plain: list[str] = []
        of_names: list[str] = []
        for text, own in zip(texts, map(" ".join, names), strict=True):
            plain_text, odd_in_text = parted(text)
            plain_names, odd_in_names = parted(own)
            for odd in odd_in_text:
                others.extend(_tokens(odd))
                pieces.extend(self._table.ids(odd))
            for odd in odd_in_names:
                others.extend(_tokens(odd) * WORTH_OF_NAMES)
            others.end()
            pieces.end()
            plain.append(plain_text)
            of_names.append(plain_names)
        places = np.arange(len(texts), dtype=np.int32)
        with self._kept_fit():
            # What stands between two belongs to neither.
            self._read("\n".join(plain).encode("ascii"), _spans(plain), of_names)
            return self._counted(len(texts), places, places, others, pieces)

    def counted_in(
        self, content: bytes, spans: NDArray[np.int32], names: Sequence[str], owners: NDArray[np.int32]
    ) -> tuple[Bag, NDArray[np.uint64]]:
        """The same of parts of a content, and the one word of each name; there must be nothing but ASCII in them."""
        self._make_room()
        first_of: dict[str, int] = {}
        firsts = np.fromiter(map(first_of.setdefault, names, count()), np.int32, len(names))
        with self._kept_fit():
            self._read(content, np.ascontiguousarray(spans), names)
            return self._counted(len(spans), np.ascontiguousarray(owners), firsts), self._wholes(names)

    def meanings(self, texts: Sequence[str]) -> NDArray[np.float16]:
        """What each of these means."""
        return self.counted(texts, [()] * len(texts)).vectors

    def wholes(self, names: Sequence[str]) -> NDArray[np.uint64]:
        """Of each name the one word that it is as a whole."""
        with self._kept_fit():
            self._read(b"", _spans([]), [name if name.isascii() else "" for name in names])
            return self._wholes(names)

    def _read(self, content: bytes, spans: NDArray[np.int32], names: Sequence[str]) -> None:
        """Find out about all that is in these, so that it can be counted."""
        call, counter = self._call, self._counter
        defined = "\n".join(names).encode("ascii")
        if defined.count(b"\n") >= max(len(names), 1):  # a name of several lines
            defined = "\n".join([name.replace("\n", " ") for name in names]).encode("ascii")
        size = _good(
            call["read_texts"](counter, content, len(spans), spans.ctypes.data, defined, len(defined), len(names))
        )  # fmt: skip
        if not size:
            return
        unknown = ctypes.create_string_buffer(size)
        call["unknown_parts"](counter, ctypes.addressof(unknown))
        stems = "".join([stem_of(part) + "\n" for part in unknown.raw.decode("ascii").split("\n")[:-1]])
        _good(call["add_stems"](counter, stems.encode("ascii"), len(stems)))

    def _counted(
        self,
        texts: int,
        owners: NDArray[np.int32],
        firsts: NDArray[np.int32],
        others: "_Numbers | None" = None,
        pieces: "_Numbers | None" = None,
    ) -> Bag:
        call, counter = self._call, self._counter
        starts = np.empty(texts + 1, dtype=np.int32)
        vectors = np.empty((texts, DIMENSIONS), dtype=np.float32)
        beside = (numbers.places() if numbers else (None, None) for numbers in (others, pieces))
        found = _good(
            call["count"](
                counter, WORTH_OF_NAMES, owners.ctypes.data, firsts.ctypes.data, *chain(*beside), starts.ctypes.data,
                vectors.ctypes.data,
            )
        )  # fmt: skip
        words = ctypes.string_at(call["tokens"](counter), 8 * found)
        counts = ctypes.string_at(call["counts"](counter), found)
        return Bag(starts, np.frombuffer(words, np.uint64), np.frombuffer(counts, np.uint8), vectors.astype("<f2"))

    def _wholes(self, names: Sequence[str]) -> NDArray[np.uint64]:
        """Of the names that were read, with nothing in the place of one that is not plain."""
        found = np.zeros(len(names), dtype=np.uint64)
        self._call["whole_names"](self._counter, found.ctypes.data)
        for place in np.flatnonzero(found == 0).tolist():
            found[place] = token(name_words(names[place])[-1])
        return found

    def _make_room(self) -> None:
        if self._call["size"](self._counter) >= MOST_KNOWN:
            self._start_anew()

    @contextmanager
    def _kept_fit(self) -> Generator[None]:
        """A counter that had no memory is not used again."""
        try:
            yield
        except MemoryError:
            self._start_anew()
            raise

    def _start_anew(self) -> None:
        """A counter that knows nothing yet, in the place of the one that was there."""
        counter = self._made()
        self._end()
        self._counter = counter
        self._end = weakref.finalize(self, self._call["free"], counter)

    def _made(self) -> int:
        table = self._table
        vocabulary = table.vocabulary_text
        counter = self._call["new"](
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
    found = library[f"scrubjay_counter_{name}"]
    found.restype, found.argtypes = _FUNCTIONS[name]
    return found


def _spans(texts: Sequence[str]) -> NDArray[np.int32]:
    """Where each begins and ends when they stand one after the other, with one sign between two."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    spans = np.zeros((len(texts), 4), dtype=np.int32)
    spans[:, 1] = np.cumsum(sizes + 1) - 1
    spans[:, 0] = spans[:, 1] - sizes
    return spans


def _good(answer: int) -> int:
    """What was answered, unless that tells of a failure."""
    if answer == _STEMS_MISSING:
        raise RuntimeError("words were counted whose stems were not told")
    if answer < 0:
        raise MemoryError
    return answer
