"""Resolves names of Rust: modules, `use` and re-exports."""

from collections.abc import Sequence

from scrubjay.code_index.graph.definitions import SymbolRef
from scrubjay.code_index.graph.modules import rust_parts
from scrubjay.code_index.graph.names_scope import MAX_DEPTH, FilePart
from scrubjay.code_index.graph.referents import Referent
from scrubjay.code_index.graph.rust_modules import RustModule
from scrubjay.code_index.models import Evidence, Import, SymbolKind


class RustNames(FilePart):
    """Looks up names in the modules of a crate."""

    def resolve_import(self, each: Import, depth: int) -> Referent | None:
        parts = rust_parts(each)
        if not parts:
            return None
        first = parts[0]
        module = self._defs.modules.rust.of(self._path, each.container)
        start = self._defs.modules.rust.start(self._path, module, first)
        if start is not None:
            found = self.module_referent(start)
        else:
            found = self.module_member(module, first, depth + 1) if len(parts) > 1 else None
            if found is None:
                return Referent("library", (), Evidence.IMPORTED, first)
        for part in parts[1:]:
            found = self._file.members.lookup(found, part, depth + 1) if found is not None else None
        return found

    def lookup(self, name: str, container: int, depth: int) -> Referent | None:
        module = self._defs.modules.rust.of(self._path, container)
        if name == "crate":
            return self.module_referent(RustModule(module.crate))
        levels = self._file.scope.levels(container)
        for level in levels:
            for each in self._file.scope.imports.get(name, ()):
                if each.container == level and (found := self._file.imports.resolve(each, depth)) is not None:
                    return found
        child = self.module_referent(module.child(name))
        if child is not None:
            return child
        found = self.star_imported(name, levels, depth)
        if found is not None:
            return found
        other = self._defs.modules.rust.crate(name, self._path)
        return self.module_referent(other) if other is not None else None

    def module_member(self, module: RustModule, name: str, depth: int) -> Referent | None:
        """Return the referent of a name in a module: defined there, a submodule, or re-exported."""
        if name == "super":
            return self.module_referent(module.above)
        if name == "self":
            return self.module_referent(module)
        known = self._family.rust_names
        if (module, name) not in known:
            # `mod a; pub use self::a::a;` re-exports an item under the name of its module.
            known[module, name] = self.module_referent(module.child(name))
            known[module, name] = self._find_in_module(module, name, depth)
        return known[module, name]

    def _find_in_module(self, module: RustModule, name: str, depth: int) -> Referent | None:
        scope = self._defs.modules.rust.scope(module)
        if scope is None or depth > MAX_DEPTH:
            return None
        other = self._file_names(scope.file)
        refs = [
            SymbolRef(scope.file, index)
            for index in other.scope.by_name.get(name, ())
            if other.scope.facts.symbols[index].container == scope.symbol
            and other.scope.facts.symbols[index].kind not in (SymbolKind.IMPL, SymbolKind.MODULE)
        ]
        if (found := self._file.paths.as_referent(refs, Evidence.IMPORTED, name)) is not None:
            return found
        within = self.module_referent(module.child(name))
        for each in other.scope.imports.get(name, ()):
            # `mod a;` is stored as an import of itself.
            if each.container == scope.symbol and (each.name or each.module != f"self::{name}"):
                found = other.imports.resolve(each, depth + 1)
                if found is not None and found.kind not in ("library", "unknown"):
                    return found if within is None else within._replace(symbols=found.symbols)
        return within or other.rust.star_imported(name, (scope.symbol,), depth)

    def star_imported(self, name: str, levels: Sequence[int], depth: int) -> Referent | None:
        """Return the referent of a name by the `use path::*` declarations of these levels."""
        for each in self._file.scope.stars:
            if each.container not in levels or depth > MAX_DEPTH:
                continue
            found = self._file.imports.resolve(each._replace(name=""), depth + 1)
            if found is not None and found.rust is not None:
                found = self.module_member(found.rust, name, depth + 1)
            elif found is not None and found.kind == "type":
                found = self._file.members.lookup(found, name, depth)
            else:
                found = None
            if found is not None and found.kind not in ("library", "unknown"):
                return found
        return None

    def module_referent(self, module: RustModule) -> Referent | None:
        scope = self._defs.modules.rust.scope(module)
        return Referent("module", (), Evidence.IMPORTED, "", (scope.file,), module) if scope is not None else None
