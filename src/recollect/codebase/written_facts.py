"""The facts of a file as JSON: of symbols and uses, which are many, the first parts of all come first, and so on."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import is_
from typing import Any, overload

from pydantic_core import from_json, to_json

from recollect.codebase.packing import columns, values
from recollect.domain.code import FileFacts, Import, Language, Problem, Span, Symbol, SymbolKind, Use, UseKind


class WrittenUses(Sequence[Use]):
    """The uses of a file that are written already: objects are made of them when somebody looks.

    They came together with an outline, which is written as well.
    """

    def __init__(self, written: bytes, outline: bytes, facts: FileFacts) -> None:
        self.written = written
        self._outline = outline
        self._told = _told(facts)
        self._uses: list[Use] | None = None

    def outline_of(self, facts: FileFacts) -> bytes | None:
        """The outline of these facts, if nothing in it is another than it was."""
        return self._outline if all(map(is_, self._told, _told(facts))) else None

    def _read(self) -> list[Use]:
        if self._uses is None:
            self._uses = uses_from(from_json(self.written))
        return self._uses

    @overload
    def __getitem__(self, place: int) -> Use: ...
    @overload
    def __getitem__(self, place: slice) -> list[Use]: ...
    def __getitem__(self, place: int | slice) -> Use | list[Use]:
        return self._read()[place]

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Use]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        return self._read() == (other._read() if isinstance(other, WrittenUses) else other)

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as a list's

    def __repr__(self) -> str:
        return repr(self._read())


def facts_as_written(outline: bytes, uses: bytes, flow: bytes) -> FileFacts:
    """The facts that were written so."""
    facts = facts_from(from_json(outline), (), flow)
    return replace(facts, uses=WrittenUses(uses, outline, facts))


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
    names, kinds, spans, *others = columns(facts.symbols, Symbol)
    symbols = [names, values(kinds), columns(spans, Span), *others]
    return [facts.language.value, facts.lines, facts.doc, symbols, facts.imports, facts.exports, facts.problems]


def facts_from(outline: list[Any], uses: Sequence[Use], flow: bytes) -> FileFacts:
    """The facts of an outline that was written, with these uses and this flow."""
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
        uses=uses,
        exports=[(name, own) for name, own in exports],
        problems=[Problem(*one) for one in problems],
        flow=flow,
    )


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
