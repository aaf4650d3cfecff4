"""Looks up members of types and modules."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.code_index.graph.definitions import CALLABLES, TYPES, Place
from scrubjay.code_index.graph.name_paths import type_name
from scrubjay.code_index.graph.names_scope import MAKING, FilePart
from scrubjay.code_index.graph.referents import Meaning
from scrubjay.code_index.models import Evidence, Language, Symbol, SymbolKind

if TYPE_CHECKING:
    from scrubjay.code_index.graph.names_file import FileNames

_SAME_TYPE = frozenset(
    {
        "unwrap", "expect", "clone", "borrow", "borrow_mut", "as_ref", "as_mut", "lock", "read", "write", "iter",
        "iter_mut", "into_iter", "unwrap_or_default", "await", "to_owned", "get_mut", "stream", "toList", "to_vec",
        "rev", "filter", "sorted", "reversed", "skip", "take", "ok", "also", "apply", "let", "take_if",
        "orElseThrow", "join", "result", "Result", "unwrap_or", "unwrap_or_else", "ok_or", "ok_or_else", "map_err",
        "context", "with_context", "values", "orElse", "cloned", "copied", "as_deref", "or", "or_else", "or_insert",
        "or_insert_with", "or_default", "enumerate", "chain", "peekable", "by_ref", "as_deref_mut", "into_inner",
        "values_mut", "into_values", "drain", "take_while", "skip_while", "step_by", "inspect", "as_slice",
        "as_mut_slice", "upgrade", "expect_err", "get_or_insert_with", "deref", "deref_mut", "or_insert_with_key",
    }
)  # fmt: skip
"""Methods of wrappers and containers whose result has the type that is wrapped."""
_ELEMENT_OF = frozenset(
    {
        "get", "first", "last", "next", "pop", "find", "nth", "First", "Last", "Single", "Find", "Pop", "remove",
        "peek", "poll", "findFirst", "front", "back", "at", "head", "get_mut", "first_mut", "last_mut", "max_by_key",
        "min_by_key", "max_by", "min_by", "swap_remove", "pop_front", "pop_back", "entry", "front_mut", "back_mut",
        "recv", "reduce", "next_back",
    }
)  # fmt: skip


class MemberLookup(FilePart):
    """Members of types, instances and modules."""

    def __init__(self, file: "FileNames") -> None:
        super().__init__(file)
        self._owners: dict[int, Sequence[Place] | None] = {}

    def lookup(self, meaning: Meaning, name: str, depth: int) -> Meaning | None:
        """Return the meaning of a member of something."""
        if meaning.kind == "symbols":
            value = self._file.paths.value_of(meaning, depth, called=False)
            return self.lookup(value, name, depth) if value is not None and value.kind != "symbols" else None
        if meaning.kind == "module":
            return self._module_member(meaning, name, depth)
        if meaning.kind in ("type", "instance"):
            if meaning.many:
                if name in _ELEMENT_OF:
                    return meaning._replace(many=False)
                return meaning._replace(kind="instance") if name in _SAME_TYPE else None
            places, inherited = self.places(meaning, name)
            if places:
                only_types = all(self._all.symbol(place).kind in TYPES for place in places)
                evidence = Evidence.INHERITED if inherited else Evidence.RECEIVER
                if only_types:
                    return Meaning("type", places, evidence, name)
                return Meaning("symbols", places, evidence)
            held = self._field(meaning, name, depth)
            if held is not None:
                return held
            if meaning.kind == "instance" and name in _SAME_TYPE:
                return meaning
            if meaning.kind == "type" and name in MAKING and self._language is Language.RUST:
                return meaning
            if meaning.kind == "type" and name == "new" and self._language is Language.RUBY:
                made = self.constructors(meaning, ("initialize",))
                return Meaning("type", made or meaning.places, Evidence.RECEIVER, meaning.name)
        return None

    def _field(self, meaning: Meaning, name: str, depth: int) -> Meaning | None:
        """Return the type of a field without a definition of its own: of a tuple or of a variant."""
        for place in meaning.places:
            said = self._all.flow(place.path).fields.get((meaning.name, name))
            if said is not None and not (name.isidentifier() and meaning.kind == "type"):
                return self._file.paths.declared_value(said, place.path, self._all.symbol(place).span.start, depth)
        return None

    def constructors(self, meaning: Meaning, names: Sequence[str]) -> Sequence[Place]:
        """Return the constructors of a type."""
        own = self._all.members.get(meaning.name, {})
        wanted = {*names, meaning.name, "__construct", "init", "initialize"}
        found = [
            place
            for name in wanted
            for place in own.get(name, ())
            if self._all.symbol(place).kind is SymbolKind.CONSTRUCTOR and self._is_of_type(place, meaning)
        ]
        return sorted(found)

    def _is_of_type(self, place: Place, meaning: Meaning) -> bool:
        """Return whether a member belongs to this type, not to another one of the same name."""
        if len(self._all.types.get(meaning.name)) < 2 or not meaning.places:
            return True
        if self._language is Language.RUST and place.path in self._all.facts:
            owner = self._at(place.path).members.owner_of(place.symbol)
            return owner is None or any(known in owner for known in meaning.places)
        return self._is_in_package(place.path, meaning)

    def _is_in_package(self, path: str, meaning: Meaning) -> bool:
        """Return whether a file is in the package of a type, if several types have the name."""
        if len(self._all.types.get(meaning.name)) < 2 or not meaning.places:
            return True
        return any(self._all.group(path) == self._all.group(known.path) for known in meaning.places)

    def owner_of(self, index: int) -> Sequence[Place] | None:
        """Return the definitions of the type whose `impl` or body contains a member; None if they are not known."""
        container = self._facts.symbols[index].container
        if container < 0:
            return None
        if container not in self._owners:
            self._owners[container] = None
            symbol = self._facts.symbols[container]
            if symbol.kind in TYPES:
                self._owners[container] = (Place(self._path, container),)
            elif symbol.kind is SymbolKind.IMPL:
                owner = self._file.types.find(type_name(symbol.name.rpartition(" for ")[2]), 0, symbol.container)
                self._owners[container] = owner.places if owner is not None and owner.kind == "type" else None
        return self._owners[container]

    def places(self, meaning: Meaning, name: str) -> tuple[Sequence[Place], bool]:
        """Return members of a type or else of its nearest base, and whether they are inherited."""
        seen: set[str] = set()
        waiting: list[tuple[Meaning, int]] = [(meaning, 0)]
        while waiting:
            now, level = waiting.pop(0)
            if now.name in seen or level > 8:
                continue
            seen.add(now.name)
            own = [place for place in self._all.members.get(now.name, {}).get(name, ()) if self._is_of_type(place, now)]
            if own:
                return self.without_signatures(self._inherent(own)), level > 0
            for base, path in self._all.bases.get(now.name, ()):
                if not self._is_in_package(path, now):
                    continue
                found = self._family.base(base, path)
                if found is not None and found.kind == "type":
                    waiting.append((found, level + 1))
        return (), False

    def _inherent(self, places: Sequence[Place]) -> Sequence[Place]:
        """Return a type's inherent methods if traits have methods of the same name (Rust)."""
        if self._language is not Language.RUST or len(places) < 2:
            return places
        methods = [place for place in places if self._all.symbol(place).kind in CALLABLES]
        own = [place for place in methods if not self._impl_of(place).bases]
        return [place for place in places if place not in methods or place in own] if own else places

    def _impl_of(self, place: Place) -> Symbol:
        symbol = self._all.symbol(place)
        return self._all.facts[place.path].symbols[symbol.container] if symbol.container >= 0 else symbol

    def without_signatures(self, places: Sequence[Place]) -> Sequence[Place]:
        """Leave out declarations of functions that have a body somewhere."""
        whole = [place for place in places if self._all.symbol(place).kind is not SymbolKind.SIGNATURE]
        return whole or list(places)

    def _module_member(self, meaning: Meaning, name: str, depth: int) -> Meaning | None:
        if meaning.rust is not None:
            return self._file.rust.module_member(meaning.rust, name, depth)
        places = [Place(path, index) for path in meaning.files for index in self._all.top(path).get(name, ())]
        return self._file.paths.as_meaning(places, Evidence.IMPORTED, name)
