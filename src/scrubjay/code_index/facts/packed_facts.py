"""The facts of a file as the beginning of its packed digest; nothing here needs what the rest of that needs."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from scrubjay.code_index.facts.facts_json import (
    facts_from,
    outline_as_data,
    symbol_columns,
    uses_from,
    written_outline,
    written_uses,
)
from scrubjay.code_index.facts.packing import columns, compressed, decompressed, values
from scrubjay.code_index.graph.definitions import CALLABLES, last_name
from scrubjay.code_index.models import FileFacts, Import, Language, Problem, Symbol, Use

Described = tuple[str, Sequence[int]]
"""The type and the shape of an array that comes behind the facts."""


def packed_facts(facts: FileFacts, described: Sequence[Described]) -> bytes:
    """The facts as bytes, behind which these arrays come."""
    texts = [compressed(text) for text in (written_outline(facts), written_uses(facts), facts.flow)]
    head = to_json([[*map(len, texts)], described, _called(facts)])
    return b"".join([len(head).to_bytes(4, "little"), head, *texts])


def unpacked_facts(content: bytes) -> FileFacts:
    outline, uses, flow = (decompressed(text) for text in _texts(content))
    return facts_from(from_json(outline), uses_from(from_json(uses)), flow)


def facts_in(content: bytes) -> bytes:
    """What a packed digest has of facts, and no more: enough for whoever only unpacks these."""
    return facts_and_callables(content)[0]


def facts_and_callables(content: bytes) -> tuple[bytes, Sequence[str]]:
    """The same, and the names of the functions and methods that a packed digest tells of, each once."""
    start, lengths, called, _ = _head(content)
    return content[: start + sum(lengths)], called


def behind_facts(content: bytes) -> tuple[int, Sequence[Described]]:
    """Where the arrays of a packed digest begin, and what they are."""
    start, lengths, _, described = _head(content)
    return start + sum(lengths), described


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
    decorators: Sequence[Sequence[str]]
    owners: Sequence[str]
    problems: Sequence[Sequence[Any]]


class Used(NamedTuple):
    """What a file uses: of all uses the first parts, then the second parts, and so on."""

    kinds: Sequence[str]
    paths: Sequence[str]
    lines: Sequence[int]
    starts: Sequence[int]
    containers: Sequence[int]


def used_in(facts: "FileFacts | LateFacts") -> Used:
    """The uses that facts tell of; of those that are still packed without making an object of each."""
    if isinstance(facts, LateFacts):
        return Used(*facts.packed_uses)
    kinds, *others = columns(facts.uses, Use)
    return Used(values(kinds), *others)


def outline_of(facts: "FileFacts | LateFacts") -> Outline:
    """The same of facts; of those that are still packed without making an object of each symbol."""
    data = facts.packed_outline if isinstance(facts, LateFacts) else outline_as_data(facts)
    _, lines, doc, (names, kinds, spans, at, containers, *_, decorators, owners), _, _, problems = data
    return Outline(lines, doc, names, kinds, spans, at, containers, decorators, owners, problems)


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
    def outline(self) -> Outline:
        """The same for somebody who asks again and again."""
        return outline_of(self)

    @property
    def symbol_count(self) -> int:
        return len(self.outline.names)

    @cached_property
    def _outline(self) -> FileFacts:
        return facts_from(self.packed_outline, [], b"")

    # Of these a resolver needs each once, and there is much of them.

    @property
    def packed_uses(self) -> list[Any]:
        return from_json(decompressed(self._parts[1]))

    @property
    def uses(self) -> Sequence[Use]:
        return uses_from(self.packed_uses)

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
        return [Problem(*one) for one in self.outline.problems]


def _head(content: bytes) -> tuple[int, list[int], list[str], list[Described]]:
    """Where the first text begins, how long the texts are, the names of what can be called, and what the arrays are."""
    length = int.from_bytes(content[:4], "little")
    lengths, described, called = from_json(content[4 : 4 + length])
    return 4 + length, lengths, called, described


def _texts(content: bytes) -> Sequence[bytes]:
    start, lengths = _head(content)[:2]
    ends = [*accumulate(lengths, initial=start)]
    return [content[begin:end] for begin, end in pairwise(ends)]


def _called(facts: FileFacts) -> Sequence[str]:
    names, kinds, *_ = symbol_columns(facts.symbols)
    return sorted({last_name(name) for name, kind in zip(names, kinds, strict=True) if kind in CALLABLES})
