"""Finds the implementations of methods of interfaces and traits."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from scrubjay.code_index.graph.definitions import TYPES, Definitions, SymbolRef
from scrubjay.code_index.graph.name_paths import parse_type_name
from scrubjay.code_index.models import Language, Symbol, SymbolKind

MAX_EMBEDDING_DEPTH = 8
"""Nesting of embedded types that is examined."""

TypeAt = Callable[[str, str, int], Sequence[SymbolRef]]
"""Returns the definitions of a type written in a file: its path, the name, and the enclosing symbol."""
_Owner = tuple[str, str]
"""A Go type: its package and its name."""


class Implementations:
    """The types that implement the interfaces of Go and the traits of Rust."""

    def __init__(self, definitions: Definitions, type_at: TypeAt) -> None:
        self._defs = definitions
        self._type_at = type_at
        self._sets: dict[_Owner, Mapping[str, SymbolRef]] = {}

    def of(self, ref: SymbolRef) -> Sequence[SymbolRef]:
        """Return the implementations of a method of an interface or trait; none for other definitions."""
        symbol = self._defs.symbol(ref)
        if symbol.container < 0:
            return ()
        facts = self._defs.facts[ref.path]
        kind = facts.symbols[symbol.container].kind
        owner = SymbolRef(ref.path, symbol.container)
        if facts.language is Language.RUST and kind is SymbolKind.TRAIT:
            return self._of_trait(owner, symbol.name)
        if facts.language is Language.GO and kind is SymbolKind.INTERFACE:
            return self._of_interface(owner, symbol)
        return ()

    # Rust

    @cached_property
    def _impls(self) -> Mapping[SymbolRef, Sequence[SymbolRef]]:
        """The `impl` blocks of each trait."""
        found: dict[SymbolRef, list[SymbolRef]] = {}
        for path, facts in self._defs.facts.items():
            for index, symbol in enumerate(facts.symbols):
                for trait in symbol.bases if symbol.kind is SymbolKind.IMPL else ():
                    for ref in self._type_at(path, parse_type_name(trait), symbol.container):
                        found.setdefault(ref, []).append(SymbolRef(path, index))
        return found

    @cached_property
    def _in_impls(self) -> Mapping[SymbolRef, Mapping[str, SymbolRef]]:
        """The members of each `impl` block, by name."""
        found: dict[SymbolRef, dict[str, SymbolRef]] = {}
        for path, facts in self._defs.facts.items():
            for index, symbol in enumerate(facts.symbols):
                if symbol.container >= 0 and facts.symbols[symbol.container].kind is SymbolKind.IMPL:
                    found.setdefault(SymbolRef(path, symbol.container), {})[symbol.name] = SymbolRef(path, index)
        return found

    def _of_trait(self, trait: SymbolRef, name: str) -> Sequence[SymbolRef]:
        nothing: Mapping[str, SymbolRef] = {}
        own = (self._in_impls.get(impl, nothing).get(name) for impl in self._impls.get(trait, ()))
        return [ref for ref in own if ref is not None]

    # Go

    @cached_property
    def _methods(self) -> Mapping[_Owner, Mapping[str, SymbolRef]]:
        found: dict[_Owner, dict[str, SymbolRef]] = {}
        for path, facts in self._defs.facts.items():
            for index, symbol in enumerate(facts.symbols):
                if symbol.kind is SymbolKind.METHOD and (owner := self._defs.owner(path, symbol)):
                    found.setdefault((self._defs.package(path), owner), {})[symbol.name] = SymbolRef(path, index)
        return found

    @cached_property
    def _structs(self) -> Mapping[_Owner, SymbolRef]:
        return {
            (self._defs.package(path), symbol.name): SymbolRef(path, index)
            for path, facts in self._defs.facts.items()
            for index, symbol in enumerate(facts.symbols)
            if symbol.kind in TYPES and symbol.kind is not SymbolKind.INTERFACE
        }

    @cached_property
    def _types_by_method(self) -> Mapping[str, Sequence[_Owner]]:
        """The types that have a method, by its name; includes methods of embedded types."""
        found: dict[str, list[_Owner]] = {}
        for owner in {**self._structs, **dict.fromkeys(self._methods)}:
            for name in self._method_set(owner, 0):
                found.setdefault(name, []).append(owner)
        return found

    def _method_set(self, owner: _Owner, depth: int) -> Mapping[str, SymbolRef]:
        """Return the method set of a type, including methods of embedded types."""
        if owner not in self._sets:
            nothing: Mapping[str, SymbolRef] = {}
            found: dict[str, SymbolRef] = {}
            if owner in self._structs and depth < MAX_EMBEDDING_DEPTH:
                for inner in self._embedded(owner[1], owner[0]):
                    symbol = self._defs.symbol(inner)
                    if symbol.kind is not SymbolKind.INTERFACE:
                        found |= self._method_set((self._defs.package(inner.path), symbol.name), depth + 1)
                    else:
                        found |= self._signatures(inner, depth + 1)
            self._sets[owner] = {**found, **self._methods.get(owner, nothing)}
        return self._sets[owner]

    def _embedded(self, name: str, group: str) -> Sequence[SymbolRef]:
        return [
            ref
            for base, path in self._defs.bases.get(name, ())
            if self._defs.package(path) == group
            for ref in self._type_at(path, base, -1)
        ]

    def _signatures(self, interface: SymbolRef, depth: int = 0) -> Mapping[str, SymbolRef]:
        """Return the methods that an interface requires."""
        found: dict[str, SymbolRef] = {}
        symbol = self._defs.symbol(interface)
        if depth < MAX_EMBEDDING_DEPTH:
            for inner in self._embedded(symbol.name, self._defs.package(interface.path)):
                if self._defs.symbol(inner).kind is SymbolKind.INTERFACE and inner != interface:
                    found |= self._signatures(inner, depth + 1)
        for index, each in enumerate(self._defs.facts[interface.path].symbols):
            if each.container == interface.symbol and each.kind is SymbolKind.SIGNATURE:
                found[each.name] = SymbolRef(interface.path, index)
        return found

    def _of_interface(self, interface: SymbolRef, asked: Symbol) -> Sequence[SymbolRef]:
        wanted = self._signatures(interface)
        shape = _shape(asked)
        found: dict[SymbolRef, None] = {}
        for owner in self._types_by_method.get(asked.name, ()):
            methods = self._method_set(owner, 0)
            method = self._defs.symbol(methods[asked.name])
            if method.kind is SymbolKind.METHOD and wanted.keys() <= methods.keys() and _shape(method) == shape:
                found[methods[asked.name]] = None
        return [*found]


def _shape(symbol: Symbol) -> tuple[int, bool]:
    """Return the number of parameters of a Go method, and whether it returns anything."""
    text = symbol.signature[symbol.signature.find(symbol.name + "(") + len(symbol.name) :]
    depth, inside = 0, ""
    for position, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            taken = [part for part in inside[1:].split(",") if part.strip()]
            return (len(taken), bool(text[position + 1 :].strip(" {")))
        inside += letter if depth == 1 else ""
    return (-1, False)
