"""Facts of a file as JSON; symbols and uses, which are numerous, are stored as columns."""

from collections.abc import Sequence
from dataclasses import replace
from operator import is_
from typing import Any

from pydantic_core import from_json, to_json

from scrubjay.code_index.facts.lazy_list import LazyList
from scrubjay.code_index.facts.packing import enum_values, to_columns
from scrubjay.code_index.models import FileFacts, Import, Language, Problem, Span, Symbol, SymbolKind, Use, UseKind


class SerializedSymbols(LazyList[Symbol]):
    """Symbols of a file that are loaded as columns only."""

    def __init__(self, columns: Sequence[Any]) -> None:
        super().__init__()
        self.columns = columns
        """One sequence per field, in the order of an outline."""

    def __len__(self) -> int:
        return len(self.columns[0])

    def _make_rows(self) -> list[Symbol]:
        return _build_symbols(self.columns)


class SerializedUses(LazyList[Use]):
    """Uses of a file in serialized form, with the outline that was serialized with them."""

    def __init__(self, serialized: bytes, outline: bytes, facts: FileFacts) -> None:
        super().__init__()
        self.serialized = serialized
        self._outline = outline
        self._values = _outline_values(facts)

    def outline_if_unchanged(self, facts: FileFacts) -> bytes | None:
        """Return the serialized outline if these facts still have the same values, else None."""
        return self._outline if all(map(is_, self._values, _outline_values(facts))) else None

    def _make_rows(self) -> list[Use]:
        return build_uses(from_json(self.serialized))


def deserialize_facts(outline: bytes, uses: bytes, flow: bytes) -> FileFacts:
    """Deserialize facts; the objects of symbols and uses are created on first access."""
    data = from_json(outline)
    facts = build_facts(data, (), flow, SerializedSymbols(data[3]))
    return replace(facts, uses=SerializedUses(uses, outline, facts))


def symbol_columns(symbols: Sequence[Symbol]) -> Sequence[Any]:
    """Return the symbols as columns, one per field, in the order of an outline."""
    if isinstance(symbols, SerializedSymbols):
        return symbols.columns
    names, kinds, spans, *others = to_columns(symbols, Symbol)
    return [names, enum_values(kinds), to_columns(spans, Span), *others]


def serialize_outline(facts: FileFacts) -> bytes:
    """Serialize the facts without their uses and value flow."""
    known = facts.uses.outline_if_unchanged(facts) if isinstance(facts.uses, SerializedUses) else None
    return to_json(outline_as_data(facts)) if known is None else known


def serialize_uses(facts: FileFacts) -> bytes:
    """Serialize the uses."""
    if isinstance(facts.uses, SerializedUses):
        return facts.uses.serialized
    used, *of_uses = to_columns(facts.uses, Use)
    return to_json([enum_values(used), *of_uses])


def outline_as_data(facts: FileFacts) -> list[Any]:
    symbols = symbol_columns(facts.symbols)
    return [facts.language.value, facts.lines, facts.doc, symbols, facts.imports, facts.exports, facts.problems]


def build_facts(
    outline: list[Any], uses: Sequence[Use], flow: bytes, symbols: Sequence[Symbol] | None = None
) -> FileFacts:
    """Build facts from a deserialized outline, with these uses and this flow, and these symbols if given."""
    language, lines, doc, of_symbols, imports, exports, problems = outline
    return FileFacts(
        language=Language(language),
        lines=lines,
        doc=doc,
        symbols=_build_symbols(of_symbols) if symbols is None else symbols,
        imports=[tuple[Any, ...].__new__(Import, one) for one in imports],
        uses=uses,
        exports=[(name, own) for name, own in exports],
        problems=[Problem(*one) for one in problems],
        flow=flow,
    )


def _build_symbols(columns: Sequence[Any]) -> list[Symbol]:
    names, kinds, spans, line, container, signature, doc, exported, bases, decorators, owner = columns
    make = tuple[Any, ...].__new__
    symbols = zip(
        names, map(_SYMBOL_KINDS.__getitem__, kinds), [make(Span, span) for span in zip(*spans, strict=True)], line,
        container, signature, doc, exported, map(tuple, bases), map(tuple, decorators), owner, strict=True,
    )  # fmt: skip
    return [make(Symbol, symbol) for symbol in symbols]


def build_uses(columns: list[Any]) -> list[Use]:
    """Build uses from deserialized columns."""
    make = tuple[Any, ...].__new__
    return [make(Use, use) for use in zip(map(_USE_KINDS.__getitem__, columns[0]), *columns[1:], strict=True)]


def _outline_values(facts: FileFacts) -> tuple[object, ...]:
    """Return the values that an outline contains."""
    return (
        facts.language, facts.lines, facts.doc, facts.symbols, facts.imports, facts.exports, facts.problems,
    )  # fmt: skip


_SYMBOL_KINDS = {kind.value: kind for kind in SymbolKind}
_USE_KINDS = {kind.value: kind for kind in UseKind}
