"""Tables of the definitions of one family of languages: by name, by file and by owning type."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from posixpath import dirname
from typing import NamedTuple, Protocol, runtime_checkable

from scrubjay.code_index.graph.modules import Modules
from scrubjay.code_index.graph.names_flow import Flow
from scrubjay.code_index.models import Facts, FileFacts, Language, Symbol, SymbolKind, owner_name

TYPES = frozenset(
    {SymbolKind.CLASS, SymbolKind.STRUCT, SymbolKind.INTERFACE, SymbolKind.TRAIT, SymbolKind.ENUM, SymbolKind.TYPE}
)
CALLABLES = frozenset(
    {SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR, SymbolKind.SIGNATURE, SymbolKind.MACRO}
)
_OWNERS = TYPES | {SymbolKind.IMPL}


class Place(NamedTuple):
    """A definition: its path and its index among the file's symbols."""

    path: str
    symbol: int


@runtime_checkable
class Searched(Protocol):
    """Facts with an index of the files that define a callable of a name, so that no other file is read."""

    def defining(self, name: str) -> Iterable[str]: ...


class Named:
    """Definitions of some kinds and languages, by the last part of their name."""

    def __init__(
        self,
        facts: Facts,
        languages: Iterable[Language],
        kinds: Iterable[SymbolKind],
        *,
        defined: Callable[[str], Iterable[tuple[str, str]]] | None = None,
    ) -> None:
        """`defined` returns names and kinds of a file's symbols, if that is faster than reading the symbols."""
        self._facts = facts
        self._defined = defined or self._symbols
        self._languages = frozenset(languages)
        self._kinds = tuple(kinds)  # no set: the hash of an enumeration's member is slow
        self._searched = facts if isinstance(facts, Searched) else None
        self._found: dict[str, Sequence[Place]] = {}

    def prepare(self) -> None:
        """Build the table now, so that forked processes share it."""
        if self._searched is None:
            _ = self._all

    def get(self, name: str) -> Sequence[Place]:
        if self._searched is None:
            return self._all.get(name, ())
        if name not in self._found:
            self._found[name] = self._places(self._searched.defining(name)).get(name, ())
        return self._found[name]

    @cached_property
    def _all(self) -> Mapping[str, Sequence[Place]]:
        return self._places(self._facts)

    def _places(self, paths: Iterable[str]) -> Mapping[str, Sequence[Place]]:
        names: dict[str, list[Place]] = {}
        for path in paths:
            facts = self._facts[path]
            if facts.language in self._languages:
                for index, (name, kind) in enumerate(self._defined(path)):
                    if kind in self._kinds:
                        names.setdefault(last_name(name), []).append(Place(path, index))
        return names

    def _symbols(self, path: str) -> Iterable[tuple[str, str]]:
        return ((symbol.name, symbol.kind) for symbol in self._facts[path].symbols)


class Definitions:
    """The tables; each is built when it is first needed."""

    def __init__(self, facts: Facts, languages: Iterable[Language], modules: Modules) -> None:
        self._languages = frozenset(languages)
        own = {path: each for path, each in facts.items() if each.language in self._languages}
        self.facts: Mapping[str, FileFacts] = own
        self.modules = modules
        self._flows: dict[str, Flow] = {}
        self._tops: dict[str, Mapping[str, Sequence[int]]] = {}

    def symbol(self, place: Place) -> Symbol:
        """Return the symbol of a definition."""
        return self.facts[place.path].symbols[place.symbol]

    def flow(self, path: str) -> Flow:
        """Return the flow of a file."""
        if path not in self._flows:
            self._flows[path] = Flow(self.facts[path].flow)
        return self._flows[path]

    def group(self, path: str) -> str:
        """Return the package or crate of a file; its files see each other's names."""
        language = self.facts[path].language
        if language is Language.GO:
            return dirname(path)
        if language is Language.RUST:
            return self.modules.rust.of(path).crate
        return self.flow(path).package

    @cached_property
    def types(self) -> Named:
        """All types by their names."""
        return Named(self.facts, self._languages, TYPES)

    @cached_property
    def callables(self) -> Named:
        """All functions and methods by their names."""
        return Named(self.facts, self._languages, CALLABLES)

    def top(self, path: str) -> Mapping[str, Sequence[int]]:
        """Return the top-level definitions of a file by name, without the methods of Go."""
        if path not in self._tops:
            names: dict[str, list[int]] = {}
            facts = self.facts[path]
            for index, symbol in enumerate(facts.symbols):
                container = symbol.container
                while container >= 0 and facts.symbols[container].kind is SymbolKind.MODULE:
                    container = facts.symbols[container].container
                if container < 0 and symbol.kind is not SymbolKind.IMPL and not self.owner(path, symbol):
                    names.setdefault(symbol.name, []).append(index)
            self._tops[path] = names
        return self._tops[path]

    def owner(self, path: str, symbol: Symbol) -> str:
        """Return the name of the type that a definition belongs to; empty if none."""
        if symbol.kind in CALLABLES:
            said = self.flow(path).functions.get((symbol.name.rpartition(".")[2], symbol.line))
            if said is not None and said[1]:
                return said[1].rpartition(".")[2]
        if symbol.owner:
            return owner_name(symbol.owner)
        if symbol.container >= 0:
            container = self.facts[path].symbols[symbol.container]
            if container.kind in _OWNERS:
                return owner_name(container.name)
        return ""

    @cached_property
    def members(self) -> Mapping[str, Mapping[str, Sequence[Place]]]:
        """Members by the name of their type and their own; types of one name are not distinguished."""
        found: dict[str, dict[str, list[Place]]] = {}
        for path, facts in self.facts.items():
            for index, symbol in enumerate(facts.symbols):
                owner = self.owner(path, symbol)
                if owner:
                    name = symbol.name.rpartition(".")[2]
                    found.setdefault(owner, {}).setdefault(name, []).append(Place(path, index))
        return found

    @cached_property
    def groups(self) -> Mapping[str, Sequence[str]]:
        """The files of each package."""
        found: dict[str, list[str]] = {}
        for path in self.facts:
            found.setdefault(self.group(path), []).append(path)
        return found

    @cached_property
    def bases(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Bases of types by name: the base as it is written, and the path where it is written."""
        found: dict[str, list[tuple[str, str]]] = {}
        for path, facts in self.facts.items():
            for owner, base in self.flow(path).bases:
                found.setdefault(owner_name(owner), []).append((base, path))
            for symbol in facts.symbols:
                if symbol.bases and symbol.kind in _OWNERS:
                    found.setdefault(owner_name(symbol.name), []).extend((base, path) for base in symbol.bases)
        return {name: list(dict.fromkeys(bases)) for name, bases in found.items()}


def last_name(name: str) -> str:
    """Return the last part of a dotted name: `b` of `a.b`."""
    return name if name.startswith("[") else name.rpartition(".")[2]
