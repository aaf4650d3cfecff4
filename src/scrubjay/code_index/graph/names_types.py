"""Resolves types as they are written."""

import re

from scrubjay.code_index.graph.definitions import TYPES
from scrubjay.code_index.graph.name_paths import type_name
from scrubjay.code_index.graph.names_scope import FOLLOWS_FUNCTIONS, MAX_DEPTH, FilePart
from scrubjay.code_index.graph.referents import Meaning, links_of
from scrubjay.code_index.models import Evidence, Language, SymbolKind, UseKind

_ALIAS = re.compile(r"(?:pub(?:\([^)]*\))? )?type [^=;]+= ?([^;]+);?$")
_BOUNDS = {
    Language.GO: r"[\[,]\s*NAME(?:\s*,\s*\w+)*\s+~?([A-Za-z_][\w.]*)",
    Language.RUST: r"(?:[<,]|\bwhere)\s*NAME\s*:\s*(?:\?\w+\s*\+\s*)?([A-Za-z_][\w:]*)",
}
"""Patterns of the declaration that a trait or interface bounds a type parameter."""


class WrittenTypes(FilePart):
    """Finds types by the names under which the file knows them."""

    def instance_of(self, kind: str, path: str, depth: int, container: int = -1) -> Meaning | None:
        """Return an instance of a type as it is written within a definition of a file."""
        many = kind.endswith("[]")
        name = kind[:-2] if many else kind
        other = self._at(path)
        if name in ("Self", "self", "this", "static"):
            return None
        found = other.types.find(name, depth, container)
        if found is not None and found.kind == "type":
            found = self._without_alias(found, depth)
        return (
            found._replace(kind="instance", many=many or found.many)
            if found is not None and found.kind == "type"
            else found
        )

    def find(self, name: str, depth: int, container: int = -1) -> Meaning | None:
        if depth > MAX_DEPTH:
            return None
        if "." in name:
            found = self._file.paths.follow(links_of(name), 1 << 60, container, UseKind.TYPE, depth + 1)
        else:
            found = self._file.paths.in_file(name, container, types=True) or self._file.imports.lookup(
                name, container, depth + 1
            )
        if found is None and (bound := self.bound_of(name, container)):
            return self.find(bound, depth + 1, container)
        if found is None or found.kind in ("unknown", "module"):
            places = self._all.types.get(name.rpartition(".")[2])
            if not places and self._language is Language.RUST and name in self._all.members:
                return Meaning("type", (), Evidence.RECEIVER, name)  # a built-in type that traits extend
            return Meaning("type", places, Evidence.UNIQUE, name.rpartition(".")[2]) if len(places) == 1 else None
        if found.kind == "symbols":
            kinds = [place for place in found.places if self._all.symbol(place).kind in TYPES]
            return Meaning("type", kinds, found.evidence, name.rpartition(".")[2]) if kinds else None
        return found

    def _without_alias(self, meaning: Meaning, depth: int) -> Meaning:
        """Return the type behind an alias: `type Engine = core.Engine`."""
        if self._language not in FOLLOWS_FUNCTIONS or len(meaning.places) != 1 or depth > MAX_DEPTH:
            return meaning
        (place,) = meaning.places
        symbol = self._all.symbol(place)
        said = _ALIAS.match(symbol.signature) if symbol.kind is SymbolKind.TYPE else None
        name = type_name(said[1], wraps=self._language is Language.RUST) if said is not None else ""
        found = self.instance_of(name, place.path, depth + 1, symbol.container) if name else None
        return found if found is not None and found.kind == "instance" else meaning

    def bound_of(self, name: str, container: int) -> str:
        """Return the trait or interface that bounds a type parameter; empty if none is declared."""
        if self._language not in (Language.GO, Language.RUST) or not name.isidentifier():
            return ""
        pattern = _BOUNDS[self._language].replace("NAME", name)
        for index in self._file.scope.chain(container):
            symbol = self._facts.symbols[index]
            # The bound of a type's parameter may be declared by its `impl` alone.
            impls = [
                each
                for each in self._file.scope.by_name[symbol.name]
                if self._facts.symbols[each].kind is SymbolKind.IMPL
            ]
            for each in [index, *(impls if symbol.kind in TYPES else ())]:
                signature = self._facts.symbols[each].signature
                if name in signature and (said := re.search(pattern, signature)) is not None:
                    return said[1].replace("::", ".")
        return ""
