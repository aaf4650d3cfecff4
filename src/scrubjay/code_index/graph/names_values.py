"""Evaluates paths of names such as `a[].b().c`."""

from collections.abc import Sequence

from scrubjay.code_index.graph.definitions import CALLABLES, TYPES, Place
from scrubjay.code_index.graph.name_paths import type_name
from scrubjay.code_index.graph.names_scope import IMPLICIT_THIS, MAX_DEPTH, UNKNOWN_MEANING, FilePart
from scrubjay.code_index.graph.referents import Links, Meaning, links_of
from scrubjay.code_index.models import Evidence, Language, SymbolKind, UseKind

_SELF_NAMES = frozenset({"self", "this", "Self", "$this", "static"})
_SUPER_NAMES = frozenset({"super", "base", "parent"})


class PathEvaluator(FilePart):
    """Finds what a path of names means at a place of the file."""

    def follow(self, links: Links, at: int, container: int, kind: UseKind | None, depth: int = 0) -> Meaning | None:
        """Return the meaning of a whole path; None if its first name is unknown."""
        first, marks = links[0]
        single = len(links) == 1
        meaning = self._root(first, at, container, depth, called=bool(marks) or kind is UseKind.CALL)
        if meaning is None:
            return None
        for index, (name, marks) in enumerate(links):
            last = index == len(links) - 1
            if index:
                if not name:
                    return UNKNOWN_MEANING
                further = self._file.members.lookup(meaning, name, depth)
                if further is None:
                    if meaning.kind == "library":
                        return meaning
                    return UNKNOWN_MEANING
                meaning = further
            if last and not (marks and kind is None):
                if kind is UseKind.CALL and single and meaning.kind in ("instance", "unknown"):
                    return UNKNOWN_MEANING
                return meaning
            meaning = self._apply_marks(meaning, marks, depth)
        return meaning

    def _apply_marks(self, meaning: Meaning, marks: str, depth: int) -> Meaning:
        """Return the meaning after a call, an index or a literal of it, or of the value itself."""
        if meaning.kind == "symbols":
            called = "()" in marks
            typed = self.value_of(meaning, depth, called=called)
            marks = marks.replace("()", "", 1) if called else marks
            meaning = typed if typed is not None else UNKNOWN_MEANING
        elif meaning.kind == "type" and ("()" in marks or "{}" in marks):
            meaning = meaning._replace(kind="instance")
        if "[]" in marks and meaning.many:
            meaning = meaning._replace(many=False)
        return meaning

    def value_of(self, meaning: Meaning, depth: int, *, called: bool) -> Meaning | None:
        """Return the type of a field, or of the result of a function."""
        for place in meaning.places:
            symbol = self._all.symbol(place)
            flow = self._all.flow(place.path)
            if symbol.kind in TYPES:
                return Meaning("type", [place], meaning.evidence, symbol.name)
            if symbol.kind in CALLABLES:
                said = flow.functions.get((symbol.name.rpartition(".")[2], symbol.line))
                if said is not None and said[0]:
                    owner = said[1] if said[0] in ("Self", "self", "this") else ""
                    return self._file.types.instance_of(owner or said[0], place.path, depth, place.symbol)
                if symbol.kind is SymbolKind.CONSTRUCTOR or symbol.name in ("new", "initialize", "__construct"):
                    owner = self._all.owner(place.path, symbol)
                    return self._file.types.instance_of(owner, place.path, depth, place.symbol) if owner else None
                continue
            owner = self._all.owner(place.path, symbol)
            said = flow.fields.get((owner, symbol.name))
            if said is None and (variable := flow.variable(symbol.name, symbol.span.end)) is not None:
                said = variable[1:]
            if said is not None:
                return self.declared_value(said, place.path, symbol.span.start, depth)
            if symbol.kind is SymbolKind.MEMBER and owner:
                return self._file.types.instance_of(owner, place.path, depth, place.symbol)
        return None

    def declared_value(self, said: tuple[str, str], path: str, at: int, depth: int) -> Meaning | None:
        """Return the meaning of a variable by its declared type or the path of its value."""
        if said[0]:
            return self._file.types.instance_of(said[0], path, depth, self._at(path).scope.container_at(at))
        if said[1] and depth < MAX_DEPTH:
            other = self._at(path)
            found = other.paths.follow(links_of(said[1]), at, other.scope.container_at(at), None, depth + 1)
            if found is not None and found.kind == "symbols":
                value = other.paths.value_of(found, depth + 1, called=False)
                return value if value is not None else found
            return found
        return None

    def _root(self, name: str, at: int, container: int, depth: int, *, called: bool) -> Meaning | None:
        if not name:
            return None
        if name in _SELF_NAMES or name in _SUPER_NAMES:
            if (
                self._language is Language.RUST
                and name in ("self", "super")
                and (name == "super" or not self._file.scope.has_receiver(container))
            ):
                module = self._all.modules.rust.of(self._path, container)
                return self._file.rust.module_meaning(module if name == "self" else module.above)
            return self._own_type(name, container, depth)
        variable = self._all.flow(self._path).variable(name, at)
        if variable is not None:
            declared, *said = variable
            nested = self._nested_function(name, container)
            if nested is not None:
                return nested
            found = (
                self.declared_value((said[0], said[1]), self._path, declared - 1, depth + 1)
                if depth <= MAX_DEPTH
                else None
            )
            if found is not None and found.kind == "symbols":
                return found._replace(evidence=Evidence.FLOW)
            return found or UNKNOWN_MEANING
        return (
            self.in_file(name, container)
            or self._implicit_member(name, container, depth)
            or self._file.imports.lookup(name, container, depth)
            or (self._file.types.find(name, depth, container) if self._file.types.bound_of(name, container) else None)
        )

    def _nested_function(self, name: str, container: int) -> Meaning | None:
        """Return a function defined in an enclosing function under the name of a variable, if it is the only one."""
        chain = self._file.scope.chain(container)
        places = [
            Place(self._path, index)
            for index in self._file.scope.by_name.get(name, ())
            if self._facts.symbols[index].container in chain and self._facts.symbols[index].kind is SymbolKind.FUNCTION
        ]
        return Meaning("symbols", places, Evidence.LOCAL) if len(places) == 1 else None

    def _own_type(self, name: str, container: int, depth: int) -> Meaning | None:
        for index in self._file.scope.chain(container):
            symbol = self._facts.symbols[index]
            owner = symbol.name if symbol.kind in TYPES else self._all.owner(self._path, symbol)
            if symbol.kind is SymbolKind.IMPL:
                owner = type_name(symbol.name.rpartition(" for ")[2])
            if not owner:
                continue
            own = self._file.types.find(owner, depth, symbol.container) or Meaning("type", (), Evidence.RECEIVER, owner)
            if name in _SUPER_NAMES:
                for base, path in self._all.bases.get(own.name, ()):
                    above = self._at(path).types.find(type_name(base), depth + 1)
                    if above is not None and above.kind == "type":
                        return above._replace(kind="instance", evidence=Evidence.INHERITED)
                return None
            return own._replace(kind="type" if name in ("Self", "static") else "instance", evidence=Evidence.RECEIVER)
        return None

    def in_file(self, name: str, container: int, *, types: bool = False) -> Meaning | None:
        """Return a definition of the same file that is visible here, the innermost first."""
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
                and (level >= 0 or not self._all.owner(self._path, self._facts.symbols[index]))
            ]
            if visible:
                break
        if not visible and self._language is Language.RUST:
            # A macro holds in everything that follows it, inner modules included.
            visible = [
                index for index in candidates if self._facts.symbols[index].kind is SymbolKind.MACRO and not types
            ]
        if not visible:
            # At the top of the file, inside its namespaces.
            visible = [
                index
                for index in self._all.top(self._path).get(name, ())
                if (self._facts.symbols[index].kind in TYPES or not types)
                and self._facts.symbols[index].kind is not SymbolKind.MODULE
                and self._language is not Language.RUST
            ]
        return self.as_meaning([Place(self._path, index) for index in visible], Evidence.LOCAL, name)

    def _implicit_member(self, name: str, container: int, depth: int) -> Meaning | None:
        """Return a member of the enclosing type or of its bases."""
        if self._language not in IMPLICIT_THIS:
            return None
        own = self._own_type("this", container, depth)
        if own is None:
            return None
        return self._file.members.lookup(own, name, depth)

    def as_meaning(self, places: Sequence[Place], evidence: Evidence, name: str) -> Meaning | None:
        if not places:
            return None
        places = self._file.members.without_signatures(places)
        if all(self._all.symbol(place).kind in TYPES for place in places):
            return Meaning("type", places, evidence, name)
        callables = [place for place in places if self._all.symbol(place).kind not in TYPES]
        return Meaning("symbols", callables, evidence)
