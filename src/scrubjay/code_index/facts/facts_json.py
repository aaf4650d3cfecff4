"""The facts of a file as JSON: of symbols and uses, which are many, the first parts of all come first, and so on."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import is_
from typing import Any, TypeVar, overload

from pydantic_core import from_json, to_json

from scrubjay.code_index.facts.packing import columns, values
from scrubjay.code_index.models import FileFacts, Import, Language, Problem, Span, Symbol, SymbolKind, Use, UseKind

_Row = TypeVar("_Row")


class _Late(Sequence[_Row]):
    """A list that is made when somebody looks."""

    def __init__(self) -> None:
        self._rows: list[_Row] | None = None

    @abstractmethod
    def _made(self) -> list[_Row]: ...

    def _read(self) -> list[_Row]:
        if self._rows is None:
            self._rows = self._made()
        return self._rows

    @overload
    def __getitem__(self, place: int) -> _Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[_Row]: ...
    def __getitem__(self, place: int | slice) -> _Row | list[_Row]:
        return self._read()[place]

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[_Row]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        return self._read() == (other._read() if isinstance(other, _Late) else other)  # pyright: ignore[reportUnknownMemberType]

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as a list's

    def __repr__(self) -> str:
        return repr(self._read())


class WrittenSymbols(_Late[Symbol]):
    """The symbols of a file of which only columns are there."""

    def __init__(self, columns: Sequence[Any]) -> None:
        super().__init__()
        self.columns = columns
        """As an outline has them."""

    def __len__(self) -> int:
        return len(self.columns[0])

    def _made(self) -> list[Symbol]:
        return _symbols_from(self.columns)


class WrittenUses(_Late[Use]):
    """The uses of a file that are written already. They came together with an outline, which is written as well."""

    def __init__(self, written: bytes, outline: bytes, facts: FileFacts) -> None:
        super().__init__()
        self.written = written
        self._outline = outline
        self._told = _told(facts)

    def outline_of(self, facts: FileFacts) -> bytes | None:
        """The outline of these facts, if nothing in it is another than it was."""
        return self._outline if all(map(is_, self._told, _told(facts))) else None

    def _made(self) -> list[Use]:
        return uses_from(from_json(self.written))


def facts_as_written(outline: bytes, uses: bytes, flow: bytes) -> FileFacts:
    """The facts that were written so; of symbols and uses, objects are made when somebody looks."""
    data = from_json(outline)
    facts = facts_from(data, (), flow, WrittenSymbols(data[3]))
    return replace(facts, uses=WrittenUses(uses, outline, facts))


def symbol_columns(symbols: Sequence[Symbol]) -> Sequence[Any]:
    """Of all symbols the first parts, then the second parts, and so on, as an outline has them."""
    if isinstance(symbols, WrittenSymbols):
        return symbols.columns
    names, kinds, spans, *others = columns(symbols, Symbol)
    return [names, values(kinds), columns(spans, Span), *others]


def written_outline(facts: FileFacts) -> bytes:
    """What it says beside its uses and its flow."""
    known = facts.uses.outline_of(facts) if isinstance(facts.uses, WrittenUses) else None
    return to_json(outline_as_data(facts)) if known is None else known


def written_uses(facts: FileFacts) -> bytes:
    """The uses, which are as many again."""
    if isinstance(facts.uses, WrittenUses):
        return facts.uses.written
    used, *of_uses = columns(facts.uses, Use)
    return to_json([values(used), *of_uses])


def outline_as_data(facts: FileFacts) -> list[Any]:
    symbols = symbol_columns(facts.symbols)
    return [facts.language.value, facts.lines, facts.doc, symbols, facts.imports, facts.exports, facts.problems]


def facts_from(
    outline: list[Any], uses: Sequence[Use], flow: bytes, symbols: Sequence[Symbol] | None = None
) -> FileFacts:
    """The facts of an outline that was written, with these uses and this flow, and these symbols if there are any."""
    language, lines, doc, of_symbols, imports, exports, problems = outline
    return FileFacts(
        language=Language(language),
        lines=lines,
        doc=doc,
        symbols=_symbols_from(of_symbols) if symbols is None else symbols,
        imports=[tuple[Any, ...].__new__(Import, one) for one in imports],
        uses=uses,
        exports=[(name, own) for name, own in exports],
        problems=[Problem(*one) for one in problems],
        flow=flow,
    )


def _symbols_from(written: Sequence[Any]) -> list[Symbol]:
    names, kinds, spans, line, container, signature, doc, exported, bases, decorators, owner = written
    make = tuple[Any, ...].__new__
    symbols = zip(
        names, map(_SYMBOL_KINDS.__getitem__, kinds), [make(Span, span) for span in zip(*spans, strict=True)], line,
        container, signature, doc, exported, map(tuple, bases), map(tuple, decorators), owner, strict=True,
    )  # fmt: skip
    return [make(Symbol, symbol) for symbol in symbols]


def uses_from(used: list[Any]) -> list[Use]:
    """The uses that were written."""
    make = tuple[Any, ...].__new__
    return [make(Use, use) for use in zip(map(_USE_KINDS.__getitem__, used[0]), *used[1:], strict=True)]


def _told(facts: FileFacts) -> tuple[object, ...]:
    """All that an outline tells."""
    return (
        facts.language, facts.lines, facts.doc, facts.symbols, facts.imports, facts.exports, facts.problems,
    )  # fmt: skip


_SYMBOL_KINDS = {kind.value: kind for kind in SymbolKind}
_USE_KINDS = {kind.value: kind for kind in UseKind}
