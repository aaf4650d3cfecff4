"""What one file's content comes to: its facts, and what is searched in it. Made once for each content.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json, to_json

from recollect.codebase.bags.bags import bags
from recollect.codebase.chunking import Chunk, chunks_of
from recollect.codebase.garbage import uncollected
from recollect.codebase.graph.definitions import CALLABLES, last_name
from recollect.codebase.hiding import hidden
from recollect.codebase.packing import compressed, decompressed
from recollect.codebase.parsing.reading import lines_of, read_facts
from recollect.domain.code import FileFacts, Import, Language, Problem, Span, Symbol, SymbolKind, Use, UseKind

# Raised when the same content would come to something else than before.
VERSION = 7


class Searchable(NamedTuple):
    """What is searched in a file; one row a chunk."""

    spans: NDArray[np.int32]
    """First byte, byte behind the last, first line, last line."""
    symbols: NDArray[np.int32]
    """The place of the symbol that the chunk is about; -1 when it is about none."""
    starts: NDArray[np.int32]
    """Where the words of each begin among all words; one entry more than there are chunks."""
    words: NDArray[np.uint64]
    """The words of each chunk, each once."""
    counts: NDArray[np.uint8]
    """How often each occurs."""
    vectors: NDArray[np.float16]
    """The meaning of each; a row of zeros where there is none."""
    defined: NDArray[np.uint64]
    """Of each symbol, not chunk, the one word that its name is as a whole."""


@dataclass(frozen=True, slots=True)
class Digest:
    """All that is kept of one content."""

    facts: FileFacts
    searchable: Searchable

    def packed(self) -> bytes:
        """As bytes, to be kept."""
        texts = [compressed(text) for text in (*_facts_as_json(self.facts), self.facts.flow)]
        arrays = [np.ascontiguousarray(array) for array in self.searchable]
        described = [[array.dtype.str, array.shape] for array in arrays]
        head = to_json([[*map(len, texts)], described, _called(self.facts)])
        return b"".join([len(head).to_bytes(4, "little"), head, *texts, *(array.tobytes() for array in arrays)])


def unpacked(content: bytes) -> Digest:
    """What was packed."""
    return Digest(unpacked_facts(content), unpacked_searchable(content))


def unpacked_facts(content: bytes) -> FileFacts:
    outline, uses, flow = (decompressed(text) for text in _texts(content))
    return _facts_from(from_json(outline), from_json(uses), flow)


def callables_in(content: bytes) -> Sequence[str]:
    """The names of the functions and methods that a packed digest tells of, each once."""
    return _head(content)[2]


def facts_in(content: bytes) -> bytes:
    """What a packed digest has of facts, and no more: enough for whoever only unpacks these."""
    start, lengths = _head(content)[:2]
    return content[: start + sum(lengths)]


class Outline(NamedTuple):
    """What a file defines: of all symbols the first parts, then the second parts, and so on."""

    lines: int
    doc: str
    names: Sequence[str]
    kinds: Sequence[str]
    spans: Sequence[Sequence[int]]
    """First bytes, bytes behind the last, first lines, last lines."""
    at: Sequence[int]
    """Their lines."""
    containers: Sequence[int]


def outline_of(facts: "FileFacts | LateFacts") -> Outline:
    """The same of facts; of those that are still packed without making an object of each symbol."""
    data = facts.packed_outline if isinstance(facts, LateFacts) else _outline_as_data(facts)
    _, lines, doc, (names, kinds, spans, at, containers, *_), *_ = data
    return Outline(lines, doc, names, kinds, spans, at, containers)


class LateFacts:
    """A file's facts, of which each part is unpacked when it is asked for. It stands for `FileFacts`."""

    def __init__(self, language: Language, content: Callable[[], bytes]) -> None:
        self.language = language
        self._content = content

    @cached_property
    def _parts(self) -> Sequence[bytes]:
        return _texts(self._content())

    @property
    def packed_outline(self) -> list[Any]:
        """What is told of it beside uses, as data."""
        return from_json(decompressed(self._parts[0]))

    @cached_property
    def _outline(self) -> FileFacts:
        return _facts_from(self.packed_outline, _NO_USES, b"")

    # Of these a resolver needs each once, and there is much of them.

    @property
    def uses(self) -> Sequence[Use]:
        return _uses_from(from_json(decompressed(self._parts[1])))

    @property
    def flow(self) -> bytes:
        return decompressed(self._parts[2])

    @property
    def lines(self) -> int:
        return self._outline.lines

    @property
    def doc(self) -> str:
        return self._outline.doc

    @property
    def symbols(self) -> Sequence[Symbol]:
        return self._outline.symbols

    @property
    def imports(self) -> Sequence[Import]:
        return self._outline.imports

    @property
    def exports(self) -> Sequence[tuple[str, str]]:
        return self._outline.exports

    @property
    def problems(self) -> Sequence[Problem]:
        return self._outline.problems


def unpacked_searchable(content: bytes) -> Searchable:
    offset, lengths, _, described = _head(content)
    offset += sum(lengths)
    arrays: list[NDArray[Any]] = []
    for dtype, shape in described:
        count = int(np.prod(shape))
        arrays.append(np.frombuffer(content, np.dtype(dtype), count, offset).reshape(shape))
        offset += arrays[-1].nbytes
    return Searchable(*arrays)


def _head(content: bytes) -> tuple[int, list[int], list[str], list[tuple[str, list[int]]]]:
    """Where the first text begins, how long the texts are, the names of what can be called, and what the arrays are."""
    length = int.from_bytes(content[:4], "little")
    lengths, described, called = from_json(content[4 : 4 + length])
    return 4 + length, lengths, called, described


def _texts(content: bytes) -> Sequence[bytes]:
    start, lengths = _head(content)[:2]
    ends = [*accumulate(lengths, initial=start)]
    return [content[begin:end] for begin, end in pairwise(ends)]


def _called(facts: FileFacts) -> Sequence[str]:
    return sorted({last_name(symbol.name) for symbol in facts.symbols if symbol.kind in CALLABLES})


def digest(content: bytes, language: Language) -> Digest:
    """What this content comes to. It depends on nothing else."""
    with uncollected():
        content = hidden(content)
        return _digest(content, read_facts(content, language))


def digest_as_text(content: bytes, language: Language, problem: str) -> Digest:
    """What can be searched in it, and nothing of its syntax, which could not be read."""
    return _digest(hidden(content), _unread(content, language, problem))


def digest_of_nothing(content: bytes, language: Language, problem: str) -> Digest:
    """Nothing but that it could not be read."""
    return Digest(_unread(content, language, problem), _searchable([], [], []))


def _unread(content: bytes, language: Language, problem: str) -> FileFacts:
    return FileFacts(language, lines_of(content), problems=[Problem(0, problem)])


def _digest(content: bytes, facts: FileFacts) -> Digest:
    chunks = chunks_of(content, facts)
    texts = [content[chunk.span.start : chunk.span.end].decode("utf-8", "replace") for chunk in chunks]
    return Digest(facts, _searchable(chunks, texts, facts.symbols))


def _searchable(chunks: Sequence[Chunk], texts: Sequence[str], symbols: Sequence[Symbol]) -> Searchable:
    bag = bags().counted(texts, [chunk.names for chunk in chunks])
    return Searchable(
        np.array([chunk.span for chunk in chunks], dtype=np.int32).reshape(-1, 4),
        np.array([chunk.symbol for chunk in chunks], dtype=np.int32),
        bag.starts,
        bag.words,
        bag.counts,
        bag.vectors,
        bags().wholes([symbol.name for symbol in symbols]),
    )


# -- facts as JSON ---------------------------------------------------------------------------------
# Of symbols and uses, which are many, the first parts of all come first, then the second parts, and so on.


def _facts_as_json(facts: FileFacts) -> tuple[bytes, bytes]:
    """The outline, and the uses, which are as many again."""
    used, *of_uses = _columns(facts.uses, Use)
    return to_json(_outline_as_data(facts)), to_json([_values(used), *of_uses])


def _outline_as_data(facts: FileFacts) -> list[Any]:
    names, kinds, spans, *others = _columns(facts.symbols, Symbol)
    symbols = [names, _values(kinds), _columns(spans, Span), *others]
    return [facts.language.value, facts.lines, facts.doc, symbols, facts.imports, facts.exports, facts.problems]


def _columns(rows: Sequence[tuple[Any, ...]], kind: type[Symbol | Span | Use]) -> list[Sequence[Any]]:
    return [*zip(*rows, strict=True)] or [()] * len(kind._fields)


def _values(members: Iterable[StrEnum]) -> list[str]:
    return [member._value_ for member in members]


def _facts_from(outline: list[Any], uses: list[Any], flow: bytes) -> FileFacts:
    language, lines, doc, (names, kinds, spans, *others), imports, exports, problems = outline
    line, container, signature, of_symbols, exported, bases, decorators, owner = others
    make = tuple[Any, ...].__new__
    symbols = zip(
        names, map(_SYMBOL_KINDS.__getitem__, kinds), [make(Span, span) for span in zip(*spans, strict=True)], line,
        container, signature, of_symbols, exported, map(tuple, bases), map(tuple, decorators), owner, strict=True,
    )  # fmt: skip
    return FileFacts(
        language=Language(language),
        lines=lines,
        doc=doc,
        symbols=[make(Symbol, symbol) for symbol in symbols],
        imports=[Import(*one) for one in imports],
        uses=_uses_from(uses),
        exports=[(name, own) for name, own in exports],
        problems=[Problem(*one) for one in problems],
        flow=flow,
    )


def _uses_from(columns: list[Any]) -> list[Use]:
    make = tuple[Any, ...].__new__
    return [make(Use, use) for use in zip(map(_USE_KINDS.__getitem__, columns[0]), *columns[1:], strict=True)]


_NO_USES: list[Any] = [()] * len(Use._fields)
_SYMBOL_KINDS = {kind.value: kind for kind in SymbolKind}
_USE_KINDS = {kind.value: kind for kind in UseKind}
