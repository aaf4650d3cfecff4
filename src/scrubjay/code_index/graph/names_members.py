"""Looks up members of types and modules."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.code_index.graph.definitions import CALLABLES, TYPES, SymbolRef
from scrubjay.code_index.graph.name_paths import parse_type_name
from scrubjay.code_index.graph.names_scope import MAKING, FilePart
from scrubjay.code_index.graph.referents import Referent
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
"""Methods of wrappers and containers whose result has the wrapped type."""
_ELEMENT_OF = frozenset(
    {
        "get", "first", "last", "next", "pop", "find", "nth", "First", "Last", "Single", "Find", "Pop", "remove",
        "peek", "poll", "findFirst", "front", "back", "at", "head", "get_mut", "first_mut", "last_mut", "max_by_key",
        "min_by_key", "max_by", "min_by", "swap_remove", "pop_front", "pop_back", "entry", "front_mut", "back_mut",
        "recv", "reduce", "next_back",
    }
)  # fmt: skip


class MemberLookup(FilePart):
    """Looks up members of types, instances and modules."""

    def __init__(self, file: "FileNames") -> None:
        super().__init__(file)
        self._owners: dict[int, Sequence[SymbolRef] | None] = {}

    def lookup(self, referent: Referent, name: str, depth: int) -> Referent | None:
        """Return the referent of a member."""
        if referent.kind == "symbols":
            value = self._file.paths.value_of(referent, depth, called=False)
            return self.lookup(value, name, depth) if value is not None and value.kind != "symbols" else None
        if referent.kind == "module":
            return self._module_member(referent, name, depth)
        if referent.kind in ("type", "instance"):
            if referent.is_container:
                if name in _ELEMENT_OF:
                    return referent._replace(is_container=False)
                return referent._replace(kind="instance") if name in _SAME_TYPE else None
            refs, inherited = self.find(referent, name)
            if refs:
                only_types = all(self._defs.symbol(ref).kind in TYPES for ref in refs)
                evidence = Evidence.INHERITED if inherited else Evidence.RECEIVER
                if only_types:
                    return Referent("type", refs, evidence, name)
                return Referent("symbols", refs, evidence)
            held = self._field(referent, name, depth)
            if held is not None:
                return held
            if referent.kind == "instance" and name in _SAME_TYPE:
                return referent
            if referent.kind == "type" and name in MAKING and self._language is Language.RUST:
                return referent
            if referent.kind == "type" and name == "new" and self._language is Language.RUBY:
                made = self.constructors(referent, ("initialize",))
                return Referent("type", made or referent.symbols, Evidence.RECEIVER, referent.name)
        return None

    def _field(self, referent: Referent, name: str, depth: int) -> Referent | None:
        """Return the type of a field that has no definition of its own: of a tuple or of a variant."""
        for ref in referent.symbols:
            declared = self._defs.flow(ref.path).fields.get((referent.name, name))
            if declared is not None and not (name.isidentifier() and referent.kind == "type"):
                return self._file.paths.declared_value(declared, ref.path, self._defs.symbol(ref).span.start, depth)
        return None

    def constructors(self, referent: Referent, names: Sequence[str]) -> Sequence[SymbolRef]:
        """Return the constructors of a type."""
        own = self._defs.members.get(referent.name, {})
        wanted = {*names, referent.name, "__construct", "init", "initialize"}
        found = [
            ref
            for name in wanted
            for ref in own.get(name, ())
            if self._defs.symbol(ref).kind is SymbolKind.CONSTRUCTOR and self._is_of_type(ref, referent)
        ]
        return sorted(found)

    def _is_of_type(self, ref: SymbolRef, referent: Referent) -> bool:
        """Return whether a member belongs to this type, not to another one of the same name."""
        if len(self._defs.types.get(referent.name)) < 2 or not referent.symbols:
            return True
        if self._language is Language.RUST and ref.path in self._defs.facts:
            owner = self._file_names(ref.path).members.owner_of(ref.symbol)
            return owner is None or any(known in owner for known in referent.symbols)
        return self._is_in_package(ref.path, referent)

    def _is_in_package(self, path: str, referent: Referent) -> bool:
        """Return whether a file is in the package of a type, if several types have that name."""
        if len(self._defs.types.get(referent.name)) < 2 or not referent.symbols:
            return True
        return any(self._defs.package(path) == self._defs.package(known.path) for known in referent.symbols)

    def owner_of(self, index: int) -> Sequence[SymbolRef] | None:
        """Return the definitions of the type whose `impl` or body contains a member; None if unknown."""
        container = self._facts.symbols[index].container
        if container < 0:
            return None
        if container not in self._owners:
            self._owners[container] = None
            symbol = self._facts.symbols[container]
            if symbol.kind in TYPES:
                self._owners[container] = (SymbolRef(self._path, container),)
            elif symbol.kind is SymbolKind.IMPL:
                owner = self._file.types.find(parse_type_name(symbol.name.rpartition(" for ")[2]), 0, symbol.container)
                self._owners[container] = owner.symbols if owner is not None and owner.kind == "type" else None
        return self._owners[container]

    def find(self, referent: Referent, name: str) -> tuple[Sequence[SymbolRef], bool]:
        """Return members of a type or else of its nearest base, and whether they are inherited."""
        seen: set[str] = set()
        waiting: list[tuple[Referent, int]] = [(referent, 0)]
        while waiting:
            now, level = waiting.pop(0)
            if now.name in seen or level > 8:
                continue
            seen.add(now.name)
            own = [ref for ref in self._defs.members.get(now.name, {}).get(name, ()) if self._is_of_type(ref, now)]
            if own:
                return self.without_signatures(self._inherent(own)), level > 0
            for base, path in self._defs.bases.get(now.name, ()):
                if not self._is_in_package(path, now):
                    continue
                found = self._family.base(base, path)
                if found is not None and found.kind == "type":
                    waiting.append((found, level + 1))
        return (), False

    def _inherent(self, refs: Sequence[SymbolRef]) -> Sequence[SymbolRef]:
        """Return the inherent methods of a Rust type if traits define methods of the same name."""
        if self._language is not Language.RUST or len(refs) < 2:
            return refs
        methods = [ref for ref in refs if self._defs.symbol(ref).kind in CALLABLES]
        own = [ref for ref in methods if not self._impl_of(ref).bases]
        return [ref for ref in refs if ref not in methods or ref in own] if own else refs

    def _impl_of(self, ref: SymbolRef) -> Symbol:
        symbol = self._defs.symbol(ref)
        return self._defs.facts[ref.path].symbols[symbol.container] if symbol.container >= 0 else symbol

    def without_signatures(self, refs: Sequence[SymbolRef]) -> Sequence[SymbolRef]:
        """Return the definitions without those that only declare a function whose body is found elsewhere."""
        whole = [ref for ref in refs if self._defs.symbol(ref).kind is not SymbolKind.SIGNATURE]
        return whole or list(refs)

    def _module_member(self, referent: Referent, name: str, depth: int) -> Referent | None:
        if referent.rust is not None:
            return self._file.rust.module_member(referent.rust, name, depth)
        refs = [SymbolRef(path, index) for path in referent.files for index in self._defs.top_level(path).get(name, ())]
        return self._file.paths.as_referent(refs, Evidence.IMPORTED, name)
