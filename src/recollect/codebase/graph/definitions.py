"""All definitions in files of one family of languages: by name, by file, and by the type that they belong to."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from posixpath import dirname
from typing import NamedTuple

from recollect.codebase.graph.modules import Modules
from recollect.codebase.graph.names_flow import Flow
from recollect.domain.code import Facts, FileFacts, Language, Symbol, SymbolKind

TYPES = frozenset(
    {SymbolKind.CLASS, SymbolKind.STRUCT, SymbolKind.INTERFACE, SymbolKind.TRAIT, SymbolKind.ENUM, SymbolKind.TYPE}
)
CALLABLES = frozenset(
    {SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR, SymbolKind.SIGNATURE, SymbolKind.MACRO}
)
_OWNERS = TYPES | {SymbolKind.IMPL}


class Place(NamedTuple):
    """A definition: its file, and its place among the file's symbols."""

    path: str
    symbol: int


class Definitions:
    """The tables; each is made when it is first asked for."""

    def __init__(self, facts: Facts, languages: Iterable[Language], modules: Modules) -> None:
        wanted = frozenset(languages)
        self.facts: Mapping[str, FileFacts] = {path: each for path, each in facts.items() if each.language in wanted}
        self.modules = modules
        self._flows: dict[str, Flow] = {}
        self._tops: dict[str, Mapping[str, Sequence[int]]] = {}

    def symbol(self, place: Place) -> Symbol:
        """What is defined there."""
        return self.facts[place.path].symbols[place.symbol]

    def flow(self, path: str) -> Flow:
        """What a file's flow says of types."""
        if path not in self._flows:
            self._flows[path] = Flow(self.facts[path].flow)
        return self._flows[path]

    def group(self, path: str) -> str:
        """Those files that share a group see each other's names: a package, a crate."""
        language = self.facts[path].language
        if language is Language.GO:
            return dirname(path)
        if language is Language.RUST:
            return self.modules.rust_module(path)[0]
        return self.flow(path).package

    @cached_property
    def types(self) -> Mapping[str, Sequence[Place]]:
        """All types by their names."""
        return self._by_name(TYPES)

    @cached_property
    def callables(self) -> Mapping[str, Sequence[Place]]:
        """All functions and methods by their names."""
        return self._by_name(CALLABLES)

    def _by_name(self, kinds: frozenset[SymbolKind]) -> Mapping[str, Sequence[Place]]:
        names: dict[str, list[Place]] = {}
        for path, facts in self.facts.items():
            for index, symbol in enumerate(facts.symbols):
                if symbol.kind in kinds:
                    names.setdefault(symbol.name.rpartition(".")[2], []).append(Place(path, index))
        return names

    def top(self, path: str) -> Mapping[str, Sequence[int]]:
        """What a file defines outside of types and functions, by name; methods of Go are not among it."""
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
        """The name of the type that a definition belongs to; empty when it belongs to none."""
        if symbol.kind in CALLABLES:
            said = self.flow(path).functions.get((symbol.name.rpartition(".")[2], symbol.line))
            if said is not None and said[1]:
                return said[1].rpartition(".")[2]
        if symbol.owner:
            return _simple(symbol.owner)
        if symbol.container >= 0:
            container = self.facts[path].symbols[symbol.container]
            if container.kind in _OWNERS:
                return _simple(container.name)
        return ""

    @cached_property
    def members(self) -> Mapping[str, Mapping[str, Sequence[Place]]]:
        """What belongs to each type, by the type's name and by its own; two types of one name are not told apart."""
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
        """What types inherit from, by their names: the base as it is written, and the file that says so."""
        found: dict[str, list[tuple[str, str]]] = {}
        for path, facts in self.facts.items():
            for owner, base in self.flow(path).bases:
                found.setdefault(_simple(owner), []).append((base, path))
            for symbol in facts.symbols:
                if symbol.bases and symbol.kind in _OWNERS:
                    found.setdefault(_simple(symbol.name), []).extend((base, path) for base in symbol.bases)
        return {name: list(dict.fromkeys(bases)) for name, bases in found.items()}


def _simple(name: str) -> str:
    """`ns::Foo<T>` is `Foo`; Rust's `Trait for Foo` is `Foo`."""
    name = name.rpartition(" for ")[2].partition("<")[0].replace("::", ".").strip("&* ")
    return name.rpartition(".")[2]
