"""What one file's content comes to: its facts, and what is searched in it. Made once for each content.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json, to_json

from recollect.codebase.chunking import Chunk, chunks_of
from recollect.codebase.garbage import uncollected
from recollect.codebase.hiding import hidden
from recollect.codebase.parsing.reading import lines_of, read_facts
from recollect.codebase.words import identifiers_of, words_of
from recollect.domain.code import FileFacts, Import, Language, Problem, Span, Symbol, SymbolKind, Use, UseKind
from recollect.storage.derived.token_segments import MOST_COUNTED, token

# Raised when the same content would come to something else than before.
VERSION = 3
# What a name that is defined in a chunk counts there, beside where it stands.
WORTH_OF_NAMES = 5
# A repository of random names must not fill the memory.
_MOST_KNOWN = 200_000


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


@dataclass(frozen=True, slots=True)
class Digest:
    """All that is kept of one content."""

    facts: FileFacts
    searchable: Searchable

    def packed(self) -> bytes:
        """As bytes, to be kept."""
        import zlib

        texts = [zlib.compress(_facts_as_json(self.facts), 1), zlib.compress(self.facts.flow, 1)]
        arrays = [np.ascontiguousarray(array) for array in self.searchable]
        head = to_json([[*map(len, texts)], [[array.dtype.str, array.shape] for array in arrays]])
        return b"".join([len(head).to_bytes(4, "little"), head, *texts, *(array.tobytes() for array in arrays)])


def unpacked(content: bytes) -> Digest:
    """What was packed."""
    return Digest(unpacked_facts(content), unpacked_searchable(content))


def unpacked_facts(content: bytes) -> FileFacts:
    import zlib

    start, (of_facts, of_flow), _ = _layout(content)
    middle = start + of_facts
    return _facts_from(
        from_json(zlib.decompress(content[start:middle])), zlib.decompress(content[middle : middle + of_flow])
    )


def unpacked_searchable(content: bytes) -> Searchable:
    start, lengths, described = _layout(content)
    offset = start + sum(lengths)
    arrays: list[NDArray[Any]] = []
    for dtype, shape in described:
        count = int(np.prod(shape))
        arrays.append(np.frombuffer(content, np.dtype(dtype), count, offset).reshape(shape))
        offset += arrays[-1].nbytes
    return Searchable(*arrays)


def _layout(content: bytes) -> tuple[int, list[int], list[tuple[str, list[int]]]]:
    """Where the first text begins, how long the texts are, and what the arrays are."""
    length = int.from_bytes(content[:4], "little")
    lengths, described = from_json(content[4 : 4 + length])
    return 4 + length, lengths, described


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
    return Digest(_unread(content, language, problem), _searchable([], []))


def _unread(content: bytes, language: Language, problem: str) -> FileFacts:
    return FileFacts(language, lines_of(content), problems=[Problem(0, problem)])


def _digest(content: bytes, facts: FileFacts) -> Digest:
    chunks = chunks_of(content, facts)
    texts = [content[chunk.span.start : chunk.span.end].decode("utf-8", "replace") for chunk in chunks]
    return Digest(facts, _searchable(chunks, texts))


def _searchable(chunks: Sequence[Chunk], texts: Sequence[str]) -> Searchable:
    counted = [_counted(text, chunk.names) for text, chunk in zip(texts, chunks, strict=True)]
    starts = np.zeros(len(chunks) + 1, dtype=np.int32)
    np.cumsum([len(words) for words in counted], out=starts[1:])
    return Searchable(
        np.array([chunk.span for chunk in chunks], dtype=np.int32).reshape(-1, 4),
        np.array([chunk.symbol for chunk in chunks], dtype=np.int32),
        starts,
        np.array([word for words in counted for word in words], dtype=np.uint64),
        np.array([min(count, MOST_COUNTED) for words in counted for count in words.values()], dtype=np.uint8),
        vectors_of(texts),
    )


def _counted(text: str, names: Sequence[str]) -> dict[int, int]:
    """How often the tokens of each word occur in a text, by when they first do."""
    counted: dict[int, int] = {}
    known, so_far = _tokens, counted.get
    for identifier, count in Counter(identifiers_of(text)).items():
        for number in known[identifier]:
            counted[number] = so_far(number, 0) + count
    for name in names:
        for word in words_of(name):
            counted[token(word)] = so_far(token(word), 0) + WORTH_OF_NAMES
    return counted


class _Tokens(dict[str, tuple[int, ...]]):
    """The tokens of the words of each identifier, found when it is first seen."""

    def __missing__(self, identifier: str) -> tuple[int, ...]:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        tokens = self[identifier] = tuple(map(token, words_of(identifier)))
        return tokens


_tokens = _Tokens()


def vectors_of(texts: Sequence[str]) -> NDArray[np.float16]:
    """The meaning of each text; zeros for one that has none."""
    from recollect.inference.static_model import DIMENSIONS

    # What the model makes of text without brackets it remembers; code is full of them, and they mean nothing.
    found = _table().encode([text.replace("[", " ") for text in texts])
    nothing = bytes(2 * DIMENSIONS)
    return np.frombuffer(b"".join([vector or nothing for vector in found]), dtype="<f2").reshape(-1, DIMENSIONS)


@lru_cache(maxsize=1)
def _table() -> Any:
    from recollect.inference.static_model import Table

    return Table()


# -- facts as JSON ---------------------------------------------------------------------------------
# Of symbols and uses, which are many, the first parts of all come first, then the second parts, and so on.


def _facts_as_json(facts: FileFacts) -> bytes:
    names, kinds, spans, *others = _columns(facts.symbols, Symbol)
    symbols = [names, _values(kinds), _columns(spans, Span), *others]
    used, *of_uses = _columns(facts.uses, Use)
    uses = [_values(used), *of_uses]
    return to_json(
        [facts.language.value, facts.lines, facts.doc, symbols, facts.imports, uses, facts.exports, facts.problems]
    )


def _columns(rows: Sequence[tuple[Any, ...]], kind: type[Symbol | Span | Use]) -> list[Sequence[Any]]:
    return [*zip(*rows, strict=True)] or [()] * len(kind._fields)


def _values(members: Iterable[StrEnum]) -> list[str]:
    return [member._value_ for member in members]


def _facts_from(data: list[Any], flow: bytes) -> FileFacts:
    language, lines, doc, (names, kinds, spans, *others), imports, uses, exports, problems = data
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
        uses=[make(Use, use) for use in zip(map(_USE_KINDS.__getitem__, uses[0]), *uses[1:], strict=True)],
        exports=[(name, own) for name, own in exports],
        problems=[Problem(*one) for one in problems],
        flow=flow,
    )


_SYMBOL_KINDS = {kind.value: kind for kind in SymbolKind}
_USE_KINDS = {kind.value: kind for kind in UseKind}
