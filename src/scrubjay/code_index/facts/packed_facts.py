"""The facts of a file, at the start of its packed digest. Importing this module does not import numpy."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from scrubjay.code_index.facts.facts_json import (
    build_facts,
    build_uses,
    outline_as_data,
    serialize_outline,
    serialize_uses,
    symbol_columns,
)
from scrubjay.code_index.facts.packing import compress, decompress, enum_values, to_columns
from scrubjay.code_index.graph.definitions import CALLABLES, last_name
from scrubjay.code_index.models import FileFacts, Import, Language, Problem, Symbol, Use

ArrayLayout = tuple[str, Sequence[int]]
"""Type and shape of an array that follows the facts."""


def pack_facts(facts: FileFacts, described: Sequence[ArrayLayout]) -> bytes:
    """Serialize facts to bytes, with a header that describes the arrays to follow."""
    texts = [compress(text) for text in (serialize_outline(facts), serialize_uses(facts), facts.flow)]
    head = to_json([[*map(len, texts)], described, _callable_names(facts)])
    return b"".join([len(head).to_bytes(4, "little"), head, *texts])


def unpack_facts(content: bytes) -> FileFacts:
    outline, uses, flow = (decompress(text) for text in _split_texts(content))
    return build_facts(from_json(outline), build_uses(from_json(uses)), flow)


def extract_facts(content: bytes) -> bytes:
    """Return only the facts of a packed digest, still packed."""
    return extract_facts_and_callables(content)[0]


def extract_facts_and_callables(content: bytes) -> tuple[bytes, Sequence[str]]:
    """Return the packed facts, and the distinct names of the functions and methods in them."""
    start, lengths, called, _ = _read_header(content)
    return content[: start + sum(lengths)], called


def locate_arrays(content: bytes) -> tuple[int, Sequence[ArrayLayout]]:
    """Return the offset of the arrays in a packed digest, and their types and shapes."""
    start, lengths, _, described = _read_header(content)
    return start + sum(lengths), described


class OutlineColumns(NamedTuple):
    """The definitions of a file as columns, one value per symbol."""

    lines: int
    doc: str
    names: Sequence[str]
    kinds: Sequence[str]
    spans: Sequence[Sequence[int]]
    """Four columns: start bytes, end bytes (exclusive), first lines, last lines."""
    at: Sequence[int]
    """Line of each definition."""
    containers: Sequence[int]
    decorators: Sequence[Sequence[str]]
    owners: Sequence[str]
    problems: Sequence[Sequence[Any]]


class UseColumns(NamedTuple):
    """The uses in a file as columns, one value per use."""

    kinds: Sequence[str]
    paths: Sequence[str]
    lines: Sequence[int]
    starts: Sequence[int]
    containers: Sequence[int]


def read_uses(facts: "FileFacts | LazyFacts") -> UseColumns:
    """Return the uses as columns; packed facts are read without creating objects."""
    if isinstance(facts, LazyFacts):
        return UseColumns(*facts.packed_uses)
    kinds, *others = to_columns(facts.uses, Use)
    return UseColumns(enum_values(kinds), *others)


def read_outline(facts: "FileFacts | LazyFacts") -> OutlineColumns:
    """Return the definitions as columns; packed facts are read without creating objects."""
    data = facts.packed_outline if isinstance(facts, LazyFacts) else outline_as_data(facts)
    _, lines, doc, (names, kinds, spans, at, containers, *_, decorators, owners), _, _, problems = data
    return OutlineColumns(lines, doc, names, kinds, spans, at, containers, decorators, owners, problems)


class LazyFacts:
    """Facts of a file; each part is unpacked on first access. Stands in for `FileFacts`."""

    def __init__(self, language: Language, content: Callable[[], bytes]) -> None:
        self.language = language
        self._content = content

    @cached_property
    def _parts(self) -> Sequence[bytes]:
        return _split_texts(self._content())

    @property
    def packed_outline(self) -> list[Any]:
        """The deserialized outline, read again at each access."""
        return from_json(decompress(self._parts[0]))

    @cached_property
    def outline(self) -> OutlineColumns:
        """The outline as columns, cached."""
        return read_outline(self)

    @property
    def symbol_count(self) -> int:
        return len(self.outline.names)

    @cached_property
    def _outline(self) -> FileFacts:
        return build_facts(self.packed_outline, [], b"")

    # Not cached: a resolver reads each of these once, and they are large.

    @property
    def packed_uses(self) -> list[Any]:
        return from_json(decompress(self._parts[1]))

    @property
    def uses(self) -> Sequence[Use]:
        return build_uses(self.packed_uses)

    @property
    def flow(self) -> bytes:
        return decompress(self._parts[2])

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
        return [Problem(*one) for one in self.outline.problems]


def _read_header(content: bytes) -> tuple[int, list[int], list[str], list[ArrayLayout]]:
    """Return the offset of the first text, the lengths of the texts, the names of callables, and the array layouts."""
    length = int.from_bytes(content[:4], "little")
    lengths, described, called = from_json(content[4 : 4 + length])
    return 4 + length, lengths, called, described


def _split_texts(content: bytes) -> Sequence[bytes]:
    start, lengths = _read_header(content)[:2]
    ends = [*accumulate(lengths, initial=start)]
    return [content[begin:end] for begin, end in pairwise(ends)]


def _callable_names(facts: FileFacts) -> Sequence[str]:
    names, kinds, *_ = symbol_columns(facts.symbols)
    return sorted({last_name(name) for name, kind in zip(names, kinds, strict=True) if kind in CALLABLES})
