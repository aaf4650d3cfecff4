"""The facts of a file as the beginning of its packed digest; nothing here needs what the rest of that needs."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from recollect.codebase.graph.definitions import CALLABLES, last_name
from recollect.codebase.packing import columns, compressed, decompressed, values
from recollect.domain.code import FileFacts, Import, Language, Problem, Span, Symbol, SymbolKind, Use, UseKind

Described = tuple[str, Sequence[int]]
"""The type and the shape of an array that comes behind the facts."""


def packed_facts(facts: FileFacts, described: Sequence[Described]) -> bytes:
    """The facts as bytes, behind which these arrays come."""
    texts = [compressed(text) for text in (*_facts_as_json(facts), facts.flow)]
    head = to_json([[*map(len, texts)], described, _called(facts)])
    return b"".join([len(head).to_bytes(4, "little"), head, *texts])


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
    return sorted({last_name(symbol.name) for symbol in facts.symbols if symbol.kind in CALLABLES})


# -- facts as JSON ---------------------------------------------------------------------------------
# Of symbols and uses, which are many, the first parts of all come first, then the second parts, and so on.


def _facts_as_json(facts: FileFacts) -> tuple[bytes, bytes]:
    """The outline, and the uses, which are as many again."""
    used, *of_uses = columns(facts.uses, Use)
    return to_json(_outline_as_data(facts)), to_json([values(used), *of_uses])


def _outline_as_data(facts: FileFacts) -> list[Any]:
    names, kinds, spans, *others = columns(facts.symbols, Symbol)
    symbols = [names, values(kinds), columns(spans, Span), *others]
    return [facts.language.value, facts.lines, facts.doc, symbols, facts.imports, facts.exports, facts.problems]


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


def _uses_from(used: list[Any]) -> list[Use]:
    make = tuple[Any, ...].__new__
    return [make(Use, use) for use in zip(map(_USE_KINDS.__getitem__, used[0]), *used[1:], strict=True)]


_NO_USES: list[Any] = [()] * len(Use._fields)
_SYMBOL_KINDS = {kind.value: kind for kind in SymbolKind}
_USE_KINDS = {kind.value: kind for kind in UseKind}
