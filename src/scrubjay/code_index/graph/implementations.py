"""Finds the implementations of the methods of interfaces and traits."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from scrubjay.code_index.graph.definitions import TYPES, Definitions, Place
from scrubjay.code_index.graph.name_paths import type_name
from scrubjay.code_index.models import Language, Symbol, SymbolKind

MOST_EMBEDDED = 8
"""Depth of embedded types that is examined."""

TypeAt = Callable[[str, str, int], Sequence[Place]]
"""The definitions of a type that is written in a file, within one of its definitions."""
_Owner = tuple[str, str]
"""A type of Go: its package and its name."""


class Implementations:
    """The types that implement the interfaces of Go, and the traits of Rust."""

    def __init__(self, definitions: Definitions, type_at: TypeAt) -> None:
        self._all = definitions
        self._type_at = type_at
        self._sets: dict[_Owner, Mapping[str, Place]] = {}

    def of(self, place: Place) -> Sequence[Place]:
        """Return the implementations of a method of an interface or trait; none for other definitions."""
        symbol = self._all.symbol(place)
        if symbol.container < 0:
            return ()
        facts = self._all.facts[place.path]
        kind = facts.symbols[symbol.container].kind
        owner = Place(place.path, symbol.container)
        if facts.language is Language.RUST and kind is SymbolKind.TRAIT:
            return self._of_trait(owner, symbol.name)
        if facts.language is Language.GO and kind is SymbolKind.INTERFACE:
            return self._of_interface(owner, symbol)
        return ()

    # Rust

    @cached_property
    def _impls(self) -> Mapping[Place, Sequence[Place]]:
        """The `impl` blocks of each trait."""
        found: dict[Place, list[Place]] = {}
        for path, facts in self._all.facts.items():
            for index, symbol in enumerate(facts.symbols):
                for trait in symbol.bases if symbol.kind is SymbolKind.IMPL else ():
                    for place in self._type_at(path, type_name(trait), symbol.container):
                        found.setdefault(place, []).append(Place(path, index))
        return found

    @cached_property
    def _in_impls(self) -> Mapping[Place, Mapping[str, Place]]:
        """What is defined in each `impl`."""
        found: dict[Place, dict[str, Place]] = {}
        for path, facts in self._all.facts.items():
            for index, symbol in enumerate(facts.symbols):
                if symbol.container >= 0 and facts.symbols[symbol.container].kind is SymbolKind.IMPL:
                    found.setdefault(Place(path, symbol.container), {})[symbol.name] = Place(path, index)
        return found

    def _of_trait(self, trait: Place, name: str) -> Sequence[Place]:
        nothing: Mapping[str, Place] = {}
        own = (self._in_impls.get(impl, nothing).get(name) for impl in self._impls.get(trait, ()))
        return [place for place in own if place is not None]

    # Go

    @cached_property
    def _methods(self) -> Mapping[_Owner, Mapping[str, Place]]:
        found: dict[_Owner, dict[str, Place]] = {}
        for path, facts in self._all.facts.items():
            for index, symbol in enumerate(facts.symbols):
                if symbol.kind is SymbolKind.METHOD and (owner := self._all.owner(path, symbol)):
                    found.setdefault((self._all.group(path), owner), {})[symbol.name] = Place(path, index)
        return found

    @cached_property
    def _structs(self) -> Mapping[_Owner, Place]:
        return {
            (self._all.group(path), symbol.name): Place(path, index)
            for path, facts in self._all.facts.items()
            for index, symbol in enumerate(facts.symbols)
            if symbol.kind in TYPES and symbol.kind is not SymbolKind.INTERFACE
        }

    @cached_property
    def _having(self) -> Mapping[str, Sequence[_Owner]]:
        """The types that have a method, by its name: their own, or that of what is embedded in them."""
        found: dict[str, list[_Owner]] = {}
        for owner in {**self._structs, **dict.fromkeys(self._methods)}:
            for name in self._set_of(owner, 0):
                found.setdefault(name, []).append(owner)
        return found

    def _set_of(self, owner: _Owner, depth: int) -> Mapping[str, Place]:
        """All methods that can be called of a type."""
        if owner not in self._sets:
            nothing: Mapping[str, Place] = {}
            found: dict[str, Place] = {}
            if owner in self._structs and depth < MOST_EMBEDDED:
                for inner in self._embedded(owner[1], owner[0]):
                    symbol = self._all.symbol(inner)
                    if symbol.kind is not SymbolKind.INTERFACE:
                        found |= self._set_of((self._all.group(inner.path), symbol.name), depth + 1)
                    else:
                        found |= self._signatures(inner, depth + 1)
            self._sets[owner] = {**found, **self._methods.get(owner, nothing)}
        return self._sets[owner]

    def _embedded(self, name: str, group: str) -> Sequence[Place]:
        return [
            place
            for base, path in self._all.bases.get(name, ())
            if self._all.group(path) == group
            for place in self._type_at(path, base, -1)
        ]

    def _signatures(self, interface: Place, depth: int = 0) -> Mapping[str, Place]:
        """The methods that an interface asks for."""
        found: dict[str, Place] = {}
        symbol = self._all.symbol(interface)
        if depth < MOST_EMBEDDED:
            for inner in self._embedded(symbol.name, self._all.group(interface.path)):
                if self._all.symbol(inner).kind is SymbolKind.INTERFACE and inner != interface:
                    found |= self._signatures(inner, depth + 1)
        for index, each in enumerate(self._all.facts[interface.path].symbols):
            if each.container == interface.symbol and each.kind is SymbolKind.SIGNATURE:
                found[each.name] = Place(interface.path, index)
        return found

    def _of_interface(self, interface: Place, asked: Symbol) -> Sequence[Place]:
        wanted = self._signatures(interface)
        shape = _shape(asked)
        found: dict[Place, None] = {}
        for owner in self._having.get(asked.name, ()):
            methods = self._set_of(owner, 0)
            method = self._all.symbol(methods[asked.name])
            if method.kind is SymbolKind.METHOD and wanted.keys() <= methods.keys() and _shape(method) == shape:
                found[methods[asked.name]] = None
        return [*found]


def _shape(symbol: Symbol) -> tuple[int, bool]:
    """How many values a method of Go takes, and whether it gives any back."""
    text = symbol.signature[symbol.signature.find(symbol.name + "(") + len(symbol.name) :]
    depth, inside = 0, ""
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            taken = [part for part in inside[1:].split(",") if part.strip()]
            return (len(taken), bool(text[place + 1 :].strip(" {")))
        inside += letter if depth == 1 else ""
    return (-1, False)
