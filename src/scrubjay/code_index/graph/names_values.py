"""Evaluates paths of names such as `a[].b().c`."""

from collections.abc import Sequence

from scrubjay.code_index.graph.definitions import CALLABLES, TYPES, SymbolRef
from scrubjay.code_index.graph.name_paths import parse_type_name
from scrubjay.code_index.graph.names_scope import IMPLICIT_THIS, MAX_DEPTH, UNKNOWN_REFERENT, FilePart
from scrubjay.code_index.graph.referents import PathParts, Referent, split_path
from scrubjay.code_index.models import Evidence, Language, SymbolKind, UseKind

_SELF_NAMES = frozenset({"self", "this", "Self", "$this", "static"})
_SUPER_NAMES = frozenset({"super", "base", "parent"})


class PathEvaluator(FilePart):
    """Resolves paths of names at a position of the file."""

    def follow(
        self, parts: PathParts, at: int, container: int, kind: UseKind | None, depth: int = 0
    ) -> Referent | None:
        """Return the referent of a whole path; None if its first name is unknown."""
        first, marks = parts[0]
        single = len(parts) == 1
        referent = self._root(first, at, container, depth, called=bool(marks) or kind is UseKind.CALL)
        if referent is None:
            return None
        for index, (name, marks) in enumerate(parts):
            last = index == len(parts) - 1
            if index:
                if not name:
                    return UNKNOWN_REFERENT
                further = self._file.members.lookup(referent, name, depth)
                if further is None:
                    if referent.kind == "library":
                        return referent
                    return UNKNOWN_REFERENT
                referent = further
            if last and not (marks and kind is None):
                if kind is UseKind.CALL and single and referent.kind in ("instance", "unknown"):
                    return UNKNOWN_REFERENT
                return referent
            referent = self._apply_marks(referent, marks, depth)
        return referent

    def _apply_marks(self, referent: Referent, marks: str, depth: int) -> Referent:
        """Return the referent after the suffixes (call, index, literal) are applied, or the value without them."""
        if referent.kind == "symbols":
            called = "()" in marks
            typed = self.value_of(referent, depth, called=called)
            marks = marks.replace("()", "", 1) if called else marks
            referent = typed if typed is not None else UNKNOWN_REFERENT
        elif referent.kind == "type" and ("()" in marks or "{}" in marks):
            referent = referent._replace(kind="instance")
        if "[]" in marks and referent.is_container:
            referent = referent._replace(is_container=False)
        return referent

    def value_of(self, referent: Referent, depth: int, *, called: bool) -> Referent | None:
        """Return the type of a field, or of the result of a function."""
        for ref in referent.symbols:
            symbol = self._defs.symbol(ref)
            flow = self._defs.flow(ref.path)
            if symbol.kind in TYPES:
                return Referent("type", [ref], referent.evidence, symbol.name)
            if symbol.kind in CALLABLES:
                returns, owner = flow.functions.get((symbol.name.rpartition(".")[2], symbol.line), ("", ""))
                if returns:
                    own_type = owner if returns in ("Self", "self", "this") else ""
                    return self._file.types.instance_of(own_type or returns, ref.path, depth, ref.symbol)
                if symbol.kind is SymbolKind.CONSTRUCTOR or symbol.name in ("new", "initialize", "__construct"):
                    owner = self._defs.owner(ref.path, symbol)
                    return self._file.types.instance_of(owner, ref.path, depth, ref.symbol) if owner else None
                continue
            owner = self._defs.owner(ref.path, symbol)
            declared = flow.fields.get((owner, symbol.name))
            if declared is None and (variable := flow.variable(symbol.name, symbol.span.end)) is not None:
                declared = variable[1:]
            if declared is not None:
                return self.declared_value(declared, ref.path, symbol.span.start, depth)
            if symbol.kind is SymbolKind.MEMBER and owner:
                return self._file.types.instance_of(owner, ref.path, depth, ref.symbol)
        return None

    def declared_value(self, declared: tuple[str, str], path: str, at: int, depth: int) -> Referent | None:
        """Return the referent of a variable by its declared type or the path of its value."""
        kind, value_path = declared
        if kind:
            return self._file.types.instance_of(kind, path, depth, self._file_names(path).scope.container_at(at))
        if value_path and depth < MAX_DEPTH:
            other = self._file_names(path)
            found = other.paths.follow(split_path(value_path), at, other.scope.container_at(at), None, depth + 1)
            if found is not None and found.kind == "symbols":
                value = other.paths.value_of(found, depth + 1, called=False)
                return value if value is not None else found
            return found
        return None

    def _root(self, name: str, at: int, container: int, depth: int, *, called: bool) -> Referent | None:
        if not name:
            return None
        if name in _SELF_NAMES or name in _SUPER_NAMES:
            if (
                self._language is Language.RUST
                and name in ("self", "super")
                and (name == "super" or not self._file.scope.has_receiver(container))
            ):
                module = self._defs.modules.rust.of(self._path, container)
                return self._file.rust.module_referent(module if name == "self" else module.above)
            return self._own_type(name, container, depth)
        variable = self._defs.flow(self._path).variable(name, at)
        if variable is not None:
            declared, kind, value_path = variable
            nested = self._nested_function(name, container)
            if nested is not None:
                return nested
            found = (
                self.declared_value((kind, value_path), self._path, declared - 1, depth + 1)
                if depth <= MAX_DEPTH
                else None
            )
            if found is not None and found.kind == "symbols":
                return found._replace(evidence=Evidence.FLOW)
            return found or UNKNOWN_REFERENT
        return (
            self.in_file(name, container)
            or self._implicit_member(name, container, depth)
            or self._file.imports.lookup(name, container, depth)
            or (self._file.types.find(name, depth, container) if self._file.types.bound_of(name, container) else None)
        )

    def _nested_function(self, name: str, container: int) -> Referent | None:
        """Return the only function defined in an enclosing function under the name of a variable."""
        chain = self._file.scope.chain(container)
        refs = [
            SymbolRef(self._path, index)
            for index in self._file.scope.by_name.get(name, ())
            if self._facts.symbols[index].container in chain and self._facts.symbols[index].kind is SymbolKind.FUNCTION
        ]
        return Referent("symbols", refs, Evidence.LOCAL) if len(refs) == 1 else None

    def _own_type(self, name: str, container: int, depth: int) -> Referent | None:
        for index in self._file.scope.chain(container):
            symbol = self._facts.symbols[index]
            owner = symbol.name if symbol.kind in TYPES else self._defs.owner(self._path, symbol)
            if symbol.kind is SymbolKind.IMPL:
                owner = parse_type_name(symbol.name.rpartition(" for ")[2])
            if not owner:
                continue
            own = self._file.types.find(owner, depth, symbol.container) or Referent(
                "type", (), Evidence.RECEIVER, owner
            )
            if name in _SUPER_NAMES:
                for base, path in self._defs.bases.get(own.name, ()):
                    above = self._file_names(path).types.find(parse_type_name(base), depth + 1)
                    if above is not None and above.kind == "type":
                        return above._replace(kind="instance", evidence=Evidence.INHERITED)
                return None
            return own._replace(kind="type" if name in ("Self", "static") else "instance", evidence=Evidence.RECEIVER)
        return None

    def in_file(self, name: str, container: int, *, types: bool = False) -> Referent | None:
        """Return a definition in this file that is visible here, innermost first."""
        candidates = self._file.scope.by_name.get(name)
        if not candidates:
            return None
        visible: list[int] = []
        for level in self._file.scope.levels(container):
            if (
                level >= 0
                and self._facts.symbols[level].kind in TYPES | {SymbolKind.IMPL}
                and self._language not in IMPLICIT_THIS
            ):
                continue
            visible = [
                index
                for index in candidates
                if self._facts.symbols[index].container == level
                and (self._facts.symbols[index].kind in TYPES or not types)
                and self._facts.symbols[index].kind not in (SymbolKind.IMPL, SymbolKind.MODULE, SymbolKind.SECTION)
                and (level >= 0 or not self._defs.owner(self._path, self._facts.symbols[index]))
            ]
            if visible:
                break
        if not visible and self._language is Language.RUST:
            # A macro is visible in everything after it, including inner modules.
            visible = [
                index for index in candidates if self._facts.symbols[index].kind is SymbolKind.MACRO and not types
            ]
        if not visible:
            # At the top level of the file, inside its namespaces.
            visible = [
                index
                for index in self._defs.top_level(self._path).get(name, ())
                if (self._facts.symbols[index].kind in TYPES or not types)
                and self._facts.symbols[index].kind is not SymbolKind.MODULE
                and self._language is not Language.RUST
            ]
        return self.as_referent([SymbolRef(self._path, index) for index in visible], Evidence.LOCAL, name)

    def _implicit_member(self, name: str, container: int, depth: int) -> Referent | None:
        """Return a member of the enclosing type or its bases."""
        if self._language not in IMPLICIT_THIS:
            return None
        own = self._own_type("this", container, depth)
        if own is None:
            return None
        return self._file.members.lookup(own, name, depth)

    def as_referent(self, refs: Sequence[SymbolRef], evidence: Evidence, name: str) -> Referent | None:
        if not refs:
            return None
        refs = self._file.members.without_signatures(refs)
        if all(self._defs.symbol(ref).kind in TYPES for ref in refs):
            return Referent("type", refs, evidence, name)
        callables = [ref for ref in refs if self._defs.symbol(ref).kind not in TYPES]
        return Referent("symbols", callables, evidence)
