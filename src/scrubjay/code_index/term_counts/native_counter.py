"""Count words and compute embeddings with the native library; non-ASCII text is handled here.

Imports numpy, which is slow to import: load this module late.
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

from scrubjay.code_index.facts.tokenizer import stem_part, tokenize, tokenize_name
from scrubjay.code_index.term_counts.models import MAX_IDENTIFIERS, NAME_WEIGHT, PUNCTUATION, TermCounts, split_ascii
from scrubjay.models.static_model import DIMENSIONS, EmbeddingTable
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


class NativeCounter:
    """Counts the words of chunks, and caches what it learned about identifiers."""

    def __init__(self, library: ctypes.CDLL, table: EmbeddingTable) -> None:
        self._call = {name: _function(library, name) for name in _FUNCTIONS}
        self._table = table
        signs = np.full(128, -1, dtype=np.int32)
        for sign in PUNCTUATION:
            signs[ord(sign)] = table.ids_of_word(sign)[0]
        self._signs = signs
        self._counter = self._new_counter()
        self._end = weakref.finalize(self, self._call["free"], self._counter)

    def count(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> TermCounts:
        """Count the words of texts and compute their embeddings; `names` are those that each text defines."""
        self._make_room()
        others, pieces = _NumberLists("Q"), _NumberLists("i")
        plain: list[str] = []
        ascii_names: list[str] = []
        for text, own in zip(texts, map(" ".join, names), strict=True):
            plain_text, words_in_text = split_ascii(text)
            plain_names, words_in_names = split_ascii(own)
            for word in words_in_text:
                others.extend(_tokens(word))
                pieces.extend(self._table.ids(word))
            for word in words_in_names:
                others.extend(_tokens(word) * NAME_WEIGHT)
            others.end()
            pieces.end()
            plain.append(plain_text)
            ascii_names.append(plain_names)
        owners = np.arange(len(texts), dtype=np.int32)
        with self._reset_on_memory_error():
            # Text between two spans belongs to neither.
            self._register("\n".join(plain).encode("ascii"), _spans(plain), ascii_names)
            return self._count(len(texts), owners, owners, others, pieces)

    def count_spans(
        self, content: bytes, spans: NDArray[np.int32], names: Sequence[str], owners: NDArray[np.int32]
    ) -> tuple[TermCounts, NDArray[np.uint64]]:
        """Count the words of spans of a content, and return the word of each whole name; everything must be ASCII."""
        self._make_room()
        first_of: dict[str, int] = {}
        firsts = np.fromiter(map(first_of.setdefault, names, count()), np.int32, len(names))
        with self._reset_on_memory_error():
            self._register(content, np.ascontiguousarray(spans), names)
            return self._count(len(spans), np.ascontiguousarray(owners), firsts), self._whole_names(names)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float16]:
        """Return the embedding of each text."""
        return self.count(texts, [()] * len(texts)).vectors

    def whole_name_words(self, names: Sequence[str]) -> NDArray[np.uint64]:
        """Return the word id of each whole name."""
        with self._reset_on_memory_error():
            self._register(b"", _spans([]), [name if name.isascii() else "" for name in names])
            return self._whole_names(names)

    def _register(self, content: bytes, spans: NDArray[np.int32], names: Sequence[str]) -> None:
        """Register all words of these texts with the native counter, so that they can be counted."""
        call, counter = self._call, self._counter
        defined = "\n".join(names).encode("ascii")
        if defined.count(b"\n") >= max(len(names), 1):  # a name contains a newline
            defined = "\n".join([name.replace("\n", " ") for name in names]).encode("ascii")
        size = _check(
            call["read_texts"](counter, content, len(spans), spans.ctypes.data, defined, len(defined), len(names))
        )  # fmt: skip
        if not size:
            return
        unknown = ctypes.create_string_buffer(size)
        call["unknown_parts"](counter, ctypes.addressof(unknown))
        stems = "".join([stem_part(part) + "\n" for part in unknown.raw.decode("ascii").split("\n")[:-1]])
        _check(call["add_stems"](counter, stems.encode("ascii"), len(stems)))

    def _count(
        self,
        texts: int,
        owners: NDArray[np.int32],
        firsts: NDArray[np.int32],
        others: "_NumberLists | None" = None,
        pieces: "_NumberLists | None" = None,
    ) -> TermCounts:
        call, counter = self._call, self._counter
        starts = np.empty(texts + 1, dtype=np.int32)
        vectors = np.empty((texts, DIMENSIONS), dtype=np.float32)
        beside = (numbers.places() if numbers else (None, None) for numbers in (others, pieces))
        found = _check(
            call["count"](
                counter, NAME_WEIGHT, owners.ctypes.data, firsts.ctypes.data, *chain(*beside), starts.ctypes.data,
                vectors.ctypes.data,
            )
        )  # fmt: skip
        words = ctypes.string_at(call["tokens"](counter), 8 * found)
        counts = ctypes.string_at(call["counts"](counter), found)
        return TermCounts(
            starts, np.frombuffer(words, np.uint64), np.frombuffer(counts, np.uint8), vectors.astype("<f2")
        )

    def _whole_names(self, names: Sequence[str]) -> NDArray[np.uint64]:
        """Return the word ids of the names read last; those that are not ASCII are computed here."""
        found = np.zeros(len(names), dtype=np.uint64)
        self._call["whole_names"](self._counter, found.ctypes.data)
        for row in np.flatnonzero(found == 0).tolist():
            found[row] = token(tokenize_name(names[row])[-1])
        return found

    def _make_room(self) -> None:
        if self._call["size"](self._counter) >= MAX_IDENTIFIERS:
            self._reset()

    @contextmanager
    def _reset_on_memory_error(self) -> Generator[None]:
        """Replace the native counter when it ran out of memory."""
        try:
            yield
        except MemoryError:
            self._reset()
            raise

    def _reset(self) -> None:
        """Replace the native counter by an empty one."""
        counter = self._new_counter()
        self._end()
        self._counter = counter
        self._end = weakref.finalize(self, self._call["free"], counter)

    def _new_counter(self) -> int:
        table = self._table
        vocabulary = table.vocabulary_text
        counter = self._call["new"](
            vocabulary, len(vocabulary), table.rows.ctypes.data, table.scales.ctypes.data, DIMENSIONS, table.unknown,
            self._signs.ctypes.data,
        )  # fmt: skip
        if not counter:
            raise MemoryError
        return counter


class _NumberLists:
    """Consecutive lists of numbers in one buffer."""

    def __init__(self, kind: Literal["Q", "i"]) -> None:
        self._numbers = array(kind)
        self._ends = array("q")

    def extend(self, numbers: Iterable[int]) -> None:
        self._numbers.extend(numbers)

    def end(self) -> None:
        """End the current list."""
        self._ends.append(len(self._numbers))

    def places(self) -> tuple[int, int]:
        """Return the addresses of the numbers and of the ends."""
        return self._numbers.buffer_info()[0], self._ends.buffer_info()[0]


def _tokens(text: str) -> list[int]:
    return [*map(token, tokenize(text))]


def _function(library: ctypes.CDLL, name: str) -> Callable[..., Any]:
    found = library[f"scrubjay_counter_{name}"]
    found.restype, found.argtypes = _FUNCTIONS[name]
    return found


def _spans(texts: Sequence[str]) -> NDArray[np.int32]:
    """Return the spans of texts that are joined with one character between them."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    spans = np.zeros((len(texts), 4), dtype=np.int32)
    spans[:, 1] = np.cumsum(sizes + 1) - 1
    spans[:, 0] = spans[:, 1] - sizes
    return spans


def _check(result: int) -> int:
    """Return the result of a native call; raise if it is an error code."""
    if result == _STEMS_MISSING:
        raise RuntimeError("words were counted before their stems were added")
    if result < 0:
        raise MemoryError
    return result
