"""Resolves types by their written names."""

import re

from scrubjay.code_index.graph.definitions import TYPES
from scrubjay.code_index.graph.name_paths import parse_type_name
from scrubjay.code_index.graph.names_scope import FOLLOWS_FUNCTIONS, MAX_DEPTH, FilePart
from scrubjay.code_index.graph.referents import Referent, split_path
from scrubjay.code_index.models import Evidence, Language, SymbolKind, UseKind

_ALIAS = re.compile(r"(?:pub(?:\([^)]*\))? )?type [^=;]+= ?([^;]+);?$")
_BOUNDS = {
    Language.GO: r"[\[,]\s*NAME(?:\s*,\s*\w+)*\s+~?([A-Za-z_][\w.]*)",
    Language.RUST: r"(?:[<,]|\bwhere)\s*NAME\s*:\s*(?:\?\w+\s*\+\s*)?([A-Za-z_][\w:]*)",
}
"""Patterns of the declaration by which a trait or interface bounds a type parameter."""


class WrittenTypes(FilePart):
    """Finds types by the names that the file uses for them."""

    def instance_of(self, kind: str, path: str, depth: int, container: int = -1) -> Referent | None:
        """Return an instance of a type, given the name that is written within a definition of a file."""
        is_container = kind.endswith("[]")
        name = kind[:-2] if is_container else kind
        other = self._file_names(path)
        if name in ("Self", "self", "this", "static"):
            return None
        found = other.types.find(name, depth, container)
        if found is not None and found.kind == "type":
            found = self._without_alias(found, depth)
        return (
            found._replace(kind="instance", is_container=is_container or found.is_container)
            if found is not None and found.kind == "type"
            else found
        )

    def find(self, name: str, depth: int, container: int = -1) -> Referent | None:
        if depth > MAX_DEPTH:
            return None
        if "." in name:
            found = self._file.paths.follow(split_path(name), 1 << 60, container, UseKind.TYPE, depth + 1)
        else:
            found = self._file.paths.in_file(name, container, types=True) or self._file.imports.lookup(
                name, container, depth + 1
            )
        if found is None and (bound := self.bound_of(name, container)):
            return self.find(bound, depth + 1, container)
        if found is None or found.kind in ("unknown", "module"):
            refs = self._defs.types.get(name.rpartition(".")[2])
            if not refs and self._language is Language.RUST and name in self._defs.members:
                return Referent("type", (), Evidence.RECEIVER, name)  # a built-in type that traits extend
            return Referent("type", refs, Evidence.UNIQUE, name.rpartition(".")[2]) if len(refs) == 1 else None
        if found.kind == "symbols":
            kinds = [ref for ref in found.symbols if self._defs.symbol(ref).kind in TYPES]
            return Referent("type", kinds, found.evidence, name.rpartition(".")[2]) if kinds else None
        return found

    def _without_alias(self, referent: Referent, depth: int) -> Referent:
        """Return the type behind an alias: `type Engine = core.Engine`."""
        if self._language not in FOLLOWS_FUNCTIONS or len(referent.symbols) != 1 or depth > MAX_DEPTH:
            return referent
        (ref,) = referent.symbols
        symbol = self._defs.symbol(ref)
        match = _ALIAS.match(symbol.signature) if symbol.kind is SymbolKind.TYPE else None
        name = parse_type_name(match[1], wraps=self._language is Language.RUST) if match is not None else ""
        found = self.instance_of(name, ref.path, depth + 1, symbol.container) if name else None
        return found if found is not None and found.kind == "instance" else referent

    def bound_of(self, name: str, container: int) -> str:
        """Return the trait or interface that bounds a type parameter; empty if none is declared."""
        if self._language not in (Language.GO, Language.RUST) or not name.isidentifier():
            return ""
        pattern = _BOUNDS[self._language].replace("NAME", name)
        for index in self._file.scope.chain(container):
            symbol = self._facts.symbols[index]
            # The bound may be declared only on the `impl`.
            impls = [
                each
                for each in self._file.scope.by_name[symbol.name]
                if self._facts.symbols[each].kind is SymbolKind.IMPL
            ]
            for each in [index, *(impls if symbol.kind in TYPES else ())]:
                signature = self._facts.symbols[each].signature
                if name in signature and (match := re.search(pattern, signature)) is not None:
                    return match[1].replace("::", ".")
        return ""
