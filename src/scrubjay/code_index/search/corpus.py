"""Search data of one index in memory: files, chunks, words, symbols and embeddings, as arrays.

Rows are append-only: a changed file gets a new row, and its old row is marked dead. This module imports numpy, which is
slow to load.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import chain, islice
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.digest import Digest
from scrubjay.code_index.facts.packed_facts import OutlineColumns, read_outline
from scrubjay.code_index.facts.tokenizer import tokenize
from scrubjay.code_index.models import FileTrait, Language, SymbolKind, owner_name
from scrubjay.code_index.path_text import path_from, path_text
from scrubjay.code_index.search.path_match import PathIndex
from scrubjay.code_index.search.word_index import WordIndex, as_bytes, from_bytes
from scrubjay.code_index.store import Content, IndexedFile
from scrubjay.code_index.term_counts.counter import embed_texts
from scrubjay.models.static_model import DIMENSIONS
from scrubjay.search_index.rotation import Rotation
from scrubjay.search_index.token_segments import token
from scrubjay.search_index.vector_codes import Codes, Dots, dot_product_by, encode

KINDS = tuple(SymbolKind)
_KIND_CODES = {kind.value: code for code, kind in enumerate(KINDS)}
# Number of defined names in the text that summarizes a file.
MAX_SUMMARY_NAMES = 80


class SymbolRows(NamedTuple):
    """Columns with one row per definition."""

    files: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    lines: NDArray[np.int32]
    """Line of the name."""
    spans: NDArray[np.int32]
    """Start byte, end byte (exclusive), first line, last line."""
    containers: NDArray[np.int32]
    """Row of the containing definition; -1 at the top level."""


class ChunkRows(NamedTuple):
    """Columns with one row per chunk."""

    files: NDArray[np.int32]
    spans: NDArray[np.int32]
    symbols: NDArray[np.int32]
    """Row of the definition that the chunk belongs to; -1 for none."""


class Corpus:
    """One generation of an index. Not thread-safe."""

    def __init__(self) -> None:
        self.files: list[IndexedFile] = []
        """By row, including dead rows."""
        self.row_of: dict[str, int] = {}
        """Row of each current path."""
        self.alive = np.empty(0, dtype=np.bool_)
        self.lines = np.empty(0, dtype=np.int32)
        self.first_symbols: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        """Row of the first definition of each file."""
        self.symbols = _no_symbols()
        self.names: list[str] = []
        self.owners: dict[int, str] = {}
        """Types of definitions outside of their type's body, by row: a Go method, `Foo::bar` in C++."""
        self.macro_symbols: set[int] = set()
        """Rows of definitions parsed from macro calls, which may expand to something else."""
        self.chunks = _no_chunks()
        self.words = WordIndex()
        """Words of chunks."""
        self.paths = WordIndex()
        """Words of file paths."""
        self.definitions = WordIndex()
        """Whole names of symbols, one token each."""
        self.path_index = PathIndex()
        self.chunk_vectors = _VectorColumn()
        self.file_vectors = _VectorColumn()
        """Embeddings of file summaries."""

    def update(self, changed: Iterable[tuple[IndexedFile, Digest]], removed: Iterable[str] = ()) -> None:
        """Add or replace the changed files, and mark the removed ones dead."""
        for path in removed:
            self._mark_dead(path)
        added = [*changed]
        for file, _ in added:
            self._mark_dead(file.path)
        if not added:
            return
        first_file, first_symbol = len(self.files), len(self.names)
        self.files += [file for file, _ in added]
        self.row_of |= {file.path: first_file + place for place, (file, _) in enumerate(added)}
        self.alive = np.append(self.alive, np.ones(len(added), dtype=np.bool_))
        digests = [digest for _, digest in added]
        outlines = [read_outline(digest.facts) for digest in digests]
        self.lines = np.append(self.lines, np.array([outline.lines for outline in outlines], dtype=np.int32))
        counts = [len(outline.names) for outline in outlines]
        firsts = first_symbol + np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int32)
        self.first_symbols = np.append(self.first_symbols, firsts.astype(np.int32))
        self._put_symbols(digests, outlines, first_file, firsts)
        self._put_chunks(digests, first_file, firsts)
        paths = [file.path for file, _ in added]
        self.paths.add(*_term_rows([tokenize(path) for path in paths]))
        self.path_index.add(paths)
        self.file_vectors.add(
            embed_texts([_summary_text(path, outline) for path, outline in zip(paths, outlines, strict=True)])
        )

    def copied(self) -> "Corpus":
        """Return a copy that can be changed while this one is searched; immutable parts are shared."""
        made = copy(self)
        made.files, made.row_of, made.names = list(self.files), dict(self.row_of), list(self.names)
        made.owners, made.macro_symbols = dict(self.owners), set(self.macro_symbols)
        made.alive = self.alive.copy()
        made.words, made.paths, made.definitions = self.words.copied(), self.paths.copied(), self.definitions.copied()
        made.path_index = self.path_index.copied()
        made.chunk_vectors, made.file_vectors = copy(self.chunk_vectors), copy(self.file_vectors)
        return made

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the contents as arrays, for storing."""
        parts = {
            "words": self.words.arrays(),
            "paths": self.paths.arrays(),
            "definitions": self.definitions.arrays(),
            "places": self.path_index.arrays(),
            "vectors": self.chunk_vectors.codes._asdict(),
            "abouts": self.file_vectors.codes._asdict(),
            "symbols": self.symbols._asdict(),
            "chunks": self.chunks._asdict(),
        }
        kept = {f"{part}.{name}": array for part, own in parts.items() for name, array in own.items()}
        return kept | {
            "files": as_bytes([_file_fields(file) for file in self.files]),
            "names": as_bytes(self.names),
            "owned": np.array([*self.owners], dtype=np.int32),
            "owners": as_bytes([*self.owners.values()]),
            "unsure": np.array(sorted(self.macro_symbols), dtype=np.int32),
            "alive": self.alive,
            "lines": self.lines,
            "first_symbols": self.first_symbols,
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore from stored arrays, without copying them."""

        def own(part: str) -> dict[str, NDArray[Any]]:
            return {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{part}.")}

        made = cls()
        made.files = [_file_of_fields(kept) for kept in from_bytes(arrays["files"])]
        made.names = from_bytes(arrays["names"])
        made.owners = dict(zip(arrays["owned"].tolist(), from_bytes(arrays["owners"]), strict=True))
        made.macro_symbols = {*arrays["unsure"].tolist()}
        made.alive = arrays["alive"].copy()
        made.row_of = {made.files[row].path: row for row in np.flatnonzero(made.alive).tolist()}
        made.lines, made.first_symbols = arrays["lines"], arrays["first_symbols"]
        made.words, made.paths = WordIndex.of(own("words")), WordIndex.of(own("paths"))
        made.definitions, made.path_index = WordIndex.of(own("definitions")), PathIndex.of(own("places"))
        made.chunk_vectors.codes, made.file_vectors.codes = Codes(**own("vectors")), Codes(**own("abouts"))
        made.symbols, made.chunks = SymbolRows(**own("symbols")), ChunkRows(**own("chunks"))
        return made

    def definitions_of(self, word: str) -> NDArray[np.int64]:
        """Return the current definitions whose whole name is this token of `tokenize_name`."""
        rows = self.definitions.occurrences_of(token(word)).rows
        return rows[self.alive[self.symbols.files[rows]]]

    def _mark_dead(self, path: str) -> None:
        row = self.row_of.pop(path, None)
        if row is not None:
            self.alive[row] = False

    def _put_symbols(
        self,
        digests: Sequence[Digest],
        outlines: Sequence[OutlineColumns],
        first_file: int,
        firsts: NDArray[np.integer[Any]],
    ) -> None:
        sizes = [len(outline.names) for outline in outlines]
        containers = _int_column(outline.containers for outline in outlines)
        added = SymbolRows(
            np.repeat(np.arange(first_file, first_file + len(outlines), dtype=np.int32), sizes),
            np.array([_KIND_CODES[kind] for outline in outlines for kind in outline.kinds], dtype=np.uint8),
            _int_column(outline.at for outline in outlines),
            np.stack([_int_column(outline.spans[part] for outline in outlines) for part in range(4)], axis=1),
            np.where(containers < 0, -1, containers + np.repeat(firsts, sizes)).astype(np.int32),
        )
        owners = chain.from_iterable(outline.owners for outline in outlines)
        self.owners |= {row: owner_name(owner) for row, owner in enumerate(owners, len(self.names)) if owner}
        decorators = chain.from_iterable(outline.decorators for outline in outlines)
        self.macro_symbols |= {row for row, own in enumerate(decorators, len(self.names)) if own and own[0][-1:] == "!"}
        self.names += chain.from_iterable(outline.names for outline in outlines)
        self.symbols = SymbolRows(*_concatenate(self.symbols, added))
        tokens = np.concatenate([digest.arrays.defined for digest in digests])
        self.definitions.add(np.arange(len(tokens) + 1), tokens, np.ones(len(tokens), dtype=np.uint8))

    def _put_chunks(self, digests: Sequence[Digest], first_file: int, firsts: NDArray[np.integer[Any]]) -> None:
        own = [digest.arrays for digest in digests]
        symbols = [
            np.where(one.symbols < 0, -1, one.symbols + first).astype(np.int32)
            for one, first in zip(own, firsts.tolist(), strict=True)
        ]
        added = ChunkRows(
            np.repeat(np.arange(first_file, first_file + len(own), dtype=np.int32), [len(one.spans) for one in own]),
            np.concatenate([one.spans for one in own]),
            np.concatenate(symbols),
        )
        self.chunks = ChunkRows(*_concatenate(self.chunks, added))
        counts = np.concatenate([np.diff(one.starts) for one in own])
        self.words.add(
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([one.words for one in own]),
            np.concatenate([one.counts for one in own]),
        )
        self.chunk_vectors.add(np.concatenate([one.vectors for one in own]))


class _VectorColumn:
    """Embeddings of rows, as quantized codes."""

    def __init__(self) -> None:
        self._rotation = Rotation(DIMENSIONS)
        self._dimensions = DIMENSIONS
        self._dots = dot_product_by(None)
        self.codes = Codes(np.empty((0, DIMENSIONS), np.int8), np.empty(0, np.float32))

    def add(self, vectors: NDArray[np.float16]) -> None:
        if len(vectors):
            made = self.to_codes(vectors)
            self.codes = Codes(*_concatenate(self.codes, made))

    def to_codes(self, vectors: NDArray[np.float16]) -> Codes:
        """Rotate and quantize vectors."""
        return encode(np.ascontiguousarray(vectors, dtype="<f2").tobytes(), self._rotation, self._dimensions)

    def searchable(self, rows: NDArray[np.bool_]) -> "SearchableVectors":
        """Return the selected rows for searching; the others get a scale of 0."""
        kept = rows & ~np.isnan(self.codes.scales)
        return SearchableVectors(
            Codes(self.codes.directions, np.where(kept, self.codes.scales, np.float32(0))), self._dots
        )


class SearchableVectors(NamedTuple):
    """Embeddings prepared for searching; rows without one, and excluded rows, have a scale of 0."""

    codes: Codes
    dots: Dots

    def cosines(self, question: Codes) -> NDArray[np.float32]:
        """Return the cosine of each row with the query; 0 where either has no embedding."""
        if np.isnan(question.scales[0]) or not len(self.codes.scales):
            return np.zeros(len(self.codes.scales), dtype=np.float32)
        dots = self.dots(question.directions[0], self.codes.directions)
        return dots.astype(np.float32) * self.codes.scales * question.scales[0]


def rotated_vector(question: Codes) -> NDArray[np.float32]:
    """Return a query's unit vector, rotated like the codes; zeros if it has no embedding."""
    return np.nan_to_num(question.directions[0] * question.scales[0])


def _file_fields(file: IndexedFile) -> list[Any]:
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


def _file_of_fields(kept: Sequence[Any]) -> IndexedFile:
    path, blob, language, size, traits, dirty, generation = kept
    content = Content(blob, Language(language))
    return IndexedFile(path_from(path), content, size, FileTrait(traits), dirty, generation)


def _no_symbols() -> SymbolRows:
    none = np.empty(0, dtype=np.int32)
    return SymbolRows(none, np.empty(0, dtype=np.uint8), none, np.empty((0, 4), dtype=np.int32), none)


def _no_chunks() -> ChunkRows:
    none = np.empty(0, dtype=np.int32)
    return ChunkRows(none, np.empty((0, 4), dtype=np.int32), none)


def _concatenate(first: Iterable[NDArray[Any]], second: Iterable[NDArray[Any]]) -> list[NDArray[Any]]:
    return [np.concatenate(pair) for pair in zip(first, second, strict=True)]


def _term_rows(words: Sequence[Sequence[str]]) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8]]:
    """Convert rows of words to the arguments of `WordIndex.add`; repeated words count once per row."""
    once = [dict.fromkeys(own) for own in words]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in once])]).astype(np.int64)
    tokens = np.array([token(word) for own in once for word in own], dtype=np.uint64)
    return starts, tokens, np.ones(len(tokens), dtype=np.uint8)


def _int_column(columns: Iterable[Sequence[int]]) -> NDArray[np.int32]:
    return np.fromiter(chain.from_iterable(columns), np.int32)


def _summary_text(path: str, outline: OutlineColumns) -> str:
    # Overloads and redeclarations appear once.
    names = islice(dict.fromkeys(outline.names), MAX_SUMMARY_NAMES)
    text = "\n".join([path, outline.doc[:1000], " ".join(names)])
    return text.encode("utf-8", "replace").decode()  # a path may contain invalid UTF-8
