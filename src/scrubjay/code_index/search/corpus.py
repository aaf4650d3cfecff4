"""All files of one index as they are searched: their chunks, words, names and meanings, one row after the other.

Rows are only added. A file that changed gets a new row, and its old one is dead. This module imports numpy, which takes
a while: import it where it is needed.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import chain, islice
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.digest import Digest
from scrubjay.code_index.facts.packed_facts import Outline, outline_of
from scrubjay.code_index.facts.words import words_of
from scrubjay.code_index.models import FileTrait, Language, SymbolKind, owner_name
from scrubjay.code_index.path_text import path_from, path_text
from scrubjay.code_index.search.path_match import Places
from scrubjay.code_index.search.word_index import WordIndex, as_bytes, from_bytes
from scrubjay.code_index.store import Content, IndexedFile
from scrubjay.code_index.term_counts.counter import vectors_of
from scrubjay.search_index.rotation import Rotation
from scrubjay.search_index.token_segments import token
from scrubjay.search_index.vector_codes import Codes, Dots, dots_by, encode

KINDS = tuple(SymbolKind)
_KIND_CODES = {kind.value: code for code, kind in enumerate(KINDS)}
# So many names of what a file defines tell what it is about.
TELLING_NAMES = 80


class SymbolRows(NamedTuple):
    """One row a definition."""

    files: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    lines: NDArray[np.int32]
    """Where the name is."""
    spans: NDArray[np.int32]
    """First byte, byte behind the last, first line, last line."""
    containers: NDArray[np.int32]
    """The row of what it is in; -1 at the top of its file."""


class ChunkRows(NamedTuple):
    """One row a chunk."""

    files: NDArray[np.int32]
    spans: NDArray[np.int32]
    symbols: NDArray[np.int32]
    """The row of the definition that it is about; -1 when it is about none."""


class Corpus:
    """One state of an index. For one thread at a time."""

    def __init__(self) -> None:
        self.files: list[IndexedFile] = []
        """By row; dead ones too."""
        self.row_of: dict[str, int] = {}
        """The living row of each path."""
        self.alive = np.empty(0, dtype=np.bool_)
        self.lines = np.empty(0, dtype=np.int32)
        self.first_symbols: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        """By file the row of its first definition."""
        self.symbols = _no_symbols()
        self.names: list[str] = []
        self.owners: dict[int, str] = {}
        """The types of definitions that stand outside of them, by row: a method of Go, `Foo::bar` of C++."""
        self.unsure: set[int] = set()
        """The rows of definitions that are read out of a macro, which may make something else of them."""
        self.chunks = _no_chunks()
        self.words = WordIndex()
        """Of chunks."""
        self.paths = WordIndex()
        """Of files: the words of their paths."""
        self.definitions = WordIndex()
        """Of symbols: the one word that each name is as a whole."""
        self.places = Places()
        self.vectors = _Vectors()
        self.abouts = _Vectors()
        """What each file is about as a whole."""

    def put(self, changed: Iterable[tuple[IndexedFile, Digest]], removed: Iterable[str] = ()) -> None:
        """Bring these files in, in the place of what they were before."""
        for path in removed:
            self._kill(path)
        added = [*changed]
        for file, _ in added:
            self._kill(file.path)
        if not added:
            return
        first_file, first_symbol = len(self.files), len(self.names)
        self.files += [file for file, _ in added]
        self.row_of |= {file.path: first_file + place for place, (file, _) in enumerate(added)}
        self.alive = np.append(self.alive, np.ones(len(added), dtype=np.bool_))
        digests = [digest for _, digest in added]
        outlines = [outline_of(digest.facts) for digest in digests]
        self.lines = np.append(self.lines, np.array([outline.lines for outline in outlines], dtype=np.int32))
        counts = [len(outline.names) for outline in outlines]
        firsts = first_symbol + np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int32)
        self.first_symbols = np.append(self.first_symbols, firsts.astype(np.int32))
        self._put_symbols(digests, outlines, first_file, firsts)
        self._put_chunks(digests, first_file, firsts)
        paths = [file.path for file, _ in added]
        self.paths.add(*_counted([words_of(path) for path in paths]))
        self.places.add(paths)
        self.abouts.add(vectors_of([_about(path, outline) for path, outline in zip(paths, outlines, strict=True)]))

    def copied(self) -> "Corpus":
        """Another one that can be changed while this one is searched; what does not change is shared."""
        made = copy(self)
        made.files, made.row_of, made.names = list(self.files), dict(self.row_of), list(self.names)
        made.owners, made.unsure = dict(self.owners), set(self.unsure)
        made.alive = self.alive.copy()
        made.words, made.paths, made.definitions = self.words.copied(), self.paths.copied(), self.definitions.copied()
        made.places = self.places.copied()
        made.vectors, made.abouts = copy(self.vectors), copy(self.abouts)
        return made

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, to be kept."""
        parts = {
            "words": self.words.arrays(),
            "paths": self.paths.arrays(),
            "definitions": self.definitions.arrays(),
            "places": self.places.arrays(),
            "vectors": self.vectors.codes._asdict(),
            "abouts": self.abouts.codes._asdict(),
            "symbols": self.symbols._asdict(),
            "chunks": self.chunks._asdict(),
        }
        kept = {f"{part}.{name}": array for part, own in parts.items() for name, array in own.items()}
        return kept | {
            "files": as_bytes([_kept_file(file) for file in self.files]),
            "names": as_bytes(self.names),
            "owned": np.array([*self.owners], dtype=np.int32),
            "owners": as_bytes([*self.owners.values()]),
            "unsure": np.array(sorted(self.unsure), dtype=np.int32),
            "alive": self.alive,
            "lines": self.lines,
            "first_symbols": self.first_symbols,
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What was kept, without copying it."""

        def own(part: str) -> dict[str, NDArray[Any]]:
            return {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{part}.")}

        made = cls()
        made.files = [_file_from(kept) for kept in from_bytes(arrays["files"])]
        made.names = from_bytes(arrays["names"])
        made.owners = dict(zip(arrays["owned"].tolist(), from_bytes(arrays["owners"]), strict=True))
        made.unsure = {*arrays["unsure"].tolist()}
        made.alive = arrays["alive"].copy()
        made.row_of = {made.files[row].path: row for row in np.flatnonzero(made.alive).tolist()}
        made.lines, made.first_symbols = arrays["lines"], arrays["first_symbols"]
        made.words, made.paths = WordIndex.of(own("words")), WordIndex.of(own("paths"))
        made.definitions, made.places = WordIndex.of(own("definitions")), Places.of(own("places"))
        made.vectors.codes, made.abouts.codes = Codes(**own("vectors")), Codes(**own("abouts"))
        made.symbols, made.chunks = SymbolRows(**own("symbols")), ChunkRows(**own("chunks"))
        return made

    def definitions_of(self, word: str) -> NDArray[np.int64]:
        """The living definitions whose whole name is this word, as `name_words` has it."""
        rows = self.definitions.having(token(word)).rows
        return rows[self.alive[self.symbols.files[rows]]]

    def _kill(self, path: str) -> None:
        row = self.row_of.pop(path, None)
        if row is not None:
            self.alive[row] = False

    def _put_symbols(
        self, digests: Sequence[Digest], outlines: Sequence[Outline], first_file: int, firsts: NDArray[np.integer[Any]]
    ) -> None:
        sizes = [len(outline.names) for outline in outlines]
        containers = _every(outline.containers for outline in outlines)
        added = SymbolRows(
            np.repeat(np.arange(first_file, first_file + len(outlines), dtype=np.int32), sizes),
            np.array([_KIND_CODES[kind] for outline in outlines for kind in outline.kinds], dtype=np.uint8),
            _every(outline.at for outline in outlines),
            np.stack([_every(outline.spans[part] for outline in outlines) for part in range(4)], axis=1),
            np.where(containers < 0, -1, containers + np.repeat(firsts, sizes)).astype(np.int32),
        )
        owners = chain.from_iterable(outline.owners for outline in outlines)
        self.owners |= {row: owner_name(owner) for row, owner in enumerate(owners, len(self.names)) if owner}
        decorators = chain.from_iterable(outline.decorators for outline in outlines)
        self.unsure |= {row for row, own in enumerate(decorators, len(self.names)) if own and own[0][-1:] == "!"}
        self.names += chain.from_iterable(outline.names for outline in outlines)
        self.symbols = SymbolRows(*_joined(self.symbols, added))
        tokens = np.concatenate([digest.searchable.defined for digest in digests])
        self.definitions.add(np.arange(len(tokens) + 1), tokens, np.ones(len(tokens), dtype=np.uint8))

    def _put_chunks(self, digests: Sequence[Digest], first_file: int, firsts: NDArray[np.integer[Any]]) -> None:
        own = [digest.searchable for digest in digests]
        symbols = [
            np.where(one.symbols < 0, -1, one.symbols + first).astype(np.int32)
            for one, first in zip(own, firsts.tolist(), strict=True)
        ]
        added = ChunkRows(
            np.repeat(np.arange(first_file, first_file + len(own), dtype=np.int32), [len(one.spans) for one in own]),
            np.concatenate([one.spans for one in own]),
            np.concatenate(symbols),
        )
        self.chunks = ChunkRows(*_joined(self.chunks, added))
        counts = np.concatenate([np.diff(one.starts) for one in own])
        self.words.add(
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([one.words for one in own]),
            np.concatenate([one.counts for one in own]),
        )
        self.vectors.add(np.concatenate([one.vectors for one in own]))


class _Vectors:
    """The meanings of rows, to be compared with a question's."""

    def __init__(self) -> None:
        from scrubjay.models.static_model import DIMENSIONS

        self._rotation = Rotation(DIMENSIONS)
        self._dimensions = DIMENSIONS
        self._dots = dots_by(None)
        self.codes = Codes(np.empty((0, DIMENSIONS), np.int8), np.empty(0, np.float32))

    def add(self, vectors: NDArray[np.float16]) -> None:
        if len(vectors):
            made = self.encoded(vectors)
            self.codes = Codes(*_joined(self.codes, made))

    def encoded(self, vectors: NDArray[np.float16]) -> Codes:
        """Vectors as they are compared."""
        return encode(np.ascontiguousarray(vectors, dtype="<f2").tobytes(), self._rotation, self._dimensions)

    def only(self, rows: NDArray[np.bool_]) -> "Compared":
        """These rows, to be compared with questions."""
        kept = rows & ~np.isnan(self.codes.scales)
        return Compared(Codes(self.codes.directions, np.where(kept, self.codes.scales, np.float32(0))), self._dots)


class Compared(NamedTuple):
    """The meanings of rows; those without one, and those that are left out, have a scale of 0."""

    codes: Codes
    dots: Dots

    def cosines(self, question: Codes) -> NDArray[np.float32]:
        """How similar each row is to the question; 0 where one of the two has no meaning."""
        if np.isnan(question.scales[0]) or not len(self.codes.scales):
            return np.zeros(len(self.codes.scales), dtype=np.float32)
        dots = self.dots(question.directions[0], self.codes.directions)
        return dots.astype(np.float32) * self.codes.scales * question.scales[0]


def turned(question: Codes) -> NDArray[np.float32]:
    """A question's vector, of length 1, turned as those of the codes are; zeros if it has no meaning."""
    return np.nan_to_num(question.directions[0] * question.scales[0])


def _kept_file(file: IndexedFile) -> list[Any]:
    content = file.content
    return [
        path_text(file.path),
        content.blob,
        content.language,
        file.size,
        int(file.traits),
        file.dirty,
        file.generation,
    ]


def _file_from(kept: Sequence[Any]) -> IndexedFile:
    path, blob, language, size, traits, dirty, generation = kept
    content = Content(blob, Language(language))
    return IndexedFile(path_from(path), content, size, FileTrait(traits), dirty, generation)


def _no_symbols() -> SymbolRows:
    none = np.empty(0, dtype=np.int32)
    return SymbolRows(none, np.empty(0, dtype=np.uint8), none, np.empty((0, 4), dtype=np.int32), none)


def _no_chunks() -> ChunkRows:
    none = np.empty(0, dtype=np.int32)
    return ChunkRows(none, np.empty((0, 4), dtype=np.int32), none)


def _joined(first: Iterable[NDArray[Any]], second: Iterable[NDArray[Any]]) -> list[NDArray[Any]]:
    return [np.concatenate(pair) for pair in zip(first, second, strict=True)]


def _counted(words: Sequence[Sequence[str]]) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8]]:
    """Rows of words as a word index takes them; a word that a row has twice is counted once."""
    once = [dict.fromkeys(own) for own in words]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in once])]).astype(np.int64)
    tokens = np.array([token(word) for own in once for word in own], dtype=np.uint64)
    return starts, tokens, np.ones(len(tokens), dtype=np.uint8)


def _every(columns: Iterable[Sequence[int]]) -> NDArray[np.int32]:
    return np.fromiter(chain.from_iterable(columns), np.int32)


def _about(path: str, outline: Outline) -> str:
    # What is declared many times, as a function for each sort of arguments, is told once.
    names = islice(dict.fromkeys(outline.names), TELLING_NAMES)
    text = "\n".join([path, outline.doc[:1000], " ".join(names)])
    return text.encode("utf-8", "replace").decode()  # a path may hold what is no text
