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


class SymbolRef(NamedTuple):
    """The path of a definition and its index among the symbols of the file."""

    path: str
    symbol: int


@runtime_checkable
class SearchableFacts(Protocol):
    """Facts with an index from names to the files that define a callable of that name."""

    def defining(self, name: str) -> Iterable[str]: ...


class NameIndex:
    """Definitions of some kinds in some languages, by the last part of their name."""

    def __init__(
        self,
        facts: Facts,
        languages: Iterable[Language],
        kinds: Iterable[SymbolKind],
        *,
        list_definitions: Callable[[str], Iterable[tuple[str, str]]] | None = None,
    ) -> None:
        """Set `defined` to a faster way to list the names and kinds of a file's symbols than reading the symbols."""
        self._facts = facts
        self._list_definitions = list_definitions or self._symbols
        self._languages = frozenset(languages)
        self._kinds = tuple(kinds)  # a tuple, because hashing a member of an enumeration is slow
        self._searched = facts if isinstance(facts, SearchableFacts) else None
        self._found: dict[str, Sequence[SymbolRef]] = {}

    def prepare(self) -> None:
        """Build the index now, so that forked processes share it."""
        if self._searched is None:
            _ = self._all

    def get(self, name: str) -> Sequence[SymbolRef]:
        if self._searched is None:
            return self._all.get(name, ())
        if name not in self._found:
            self._found[name] = self._collect(self._searched.defining(name)).get(name, ())
        return self._found[name]

    @cached_property
    def _all(self) -> Mapping[str, Sequence[SymbolRef]]:
        return self._collect(self._facts)

    def _collect(self, paths: Iterable[str]) -> Mapping[str, Sequence[SymbolRef]]:
        names: dict[str, list[SymbolRef]] = {}
        for path in paths:
            facts = self._facts[path]
            if facts.language in self._languages:
                for index, (name, kind) in enumerate(self._list_definitions(path)):
                    if kind in self._kinds:
                        names.setdefault(last_name(name), []).append(SymbolRef(path, index))
        return names

    def _symbols(self, path: str) -> Iterable[tuple[str, str]]:
        return ((symbol.name, symbol.kind) for symbol in self._facts[path].symbols)


class Definitions:
    """Indexes of definitions, each built on first use."""

    def __init__(self, facts: Facts, languages: Iterable[Language], modules: Modules) -> None:
        self._languages = frozenset(languages)
        own = {path: each for path, each in facts.items() if each.language in self._languages}
        self.facts: Mapping[str, FileFacts] = own
        self.modules = modules
        self._flows: dict[str, Flow] = {}
        self._tops: dict[str, Mapping[str, Sequence[int]]] = {}

    def symbol(self, place: SymbolRef) -> Symbol:
        """Return the symbol of a definition."""
        return self.facts[place.path].symbols[place.symbol]

    def flow(self, path: str) -> Flow:
        """Return the flow of a file."""
        if path not in self._flows:
            self._flows[path] = Flow(self.facts[path].flow)
        return self._flows[path]

    def package(self, path: str) -> str:
        """Return the package or crate of a file. Its files can use each other's names without an import."""
        language = self.facts[path].language
        if language is Language.GO:
            return dirname(path)
        if language is Language.RUST:
            return self.modules.rust.of(path).crate
        return self.flow(path).package

    @cached_property
    def types(self) -> NameIndex:
        """Types, by name."""
        return NameIndex(self.facts, self._languages, TYPES)

    @cached_property
    def callables(self) -> NameIndex:
        """Functions and methods, by name."""
        return NameIndex(self.facts, self._languages, CALLABLES)

    def top_level(self, path: str) -> Mapping[str, Sequence[int]]:
        """Return the top-level definitions of a file by name; methods of Go are not among them."""
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
        """Return the name of the type that a definition belongs to; empty if there is none."""
        if symbol.kind in CALLABLES:
            _, owner = self.flow(path).functions.get((symbol.name.rpartition(".")[2], symbol.line), ("", ""))
            if owner:
                return owner.rpartition(".")[2]
        if symbol.owner:
            return owner_name(symbol.owner)
        if symbol.container >= 0:
            container = self.facts[path].symbols[symbol.container]
            if container.kind in _OWNERS:
                return owner_name(container.name)
        return ""

    @cached_property
    def members(self) -> Mapping[str, Mapping[str, Sequence[SymbolRef]]]:
        """Members by the name of their type and their own name. Types with the same name are not distinguished."""
        found: dict[str, dict[str, list[SymbolRef]]] = {}
        for path, facts in self.facts.items():
            for index, symbol in enumerate(facts.symbols):
                owner = self.owner(path, symbol)
                if owner:
                    name = symbol.name.rpartition(".")[2]
                    found.setdefault(owner, {}).setdefault(name, []).append(SymbolRef(path, index))
        return found

    @cached_property
    def package_files(self) -> Mapping[str, Sequence[str]]:
        """The paths of the files of each package."""
        found: dict[str, list[str]] = {}
        for path in self.facts:
            found.setdefault(self.package(path), []).append(path)
        return found

    @cached_property
    def bases(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """The bases of each type, by its name: the base as written, and the path of the file that says so."""
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
