"""Resolves names that a file imports or shares with its package."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.code_index.graph.definitions import SymbolRef
from scrubjay.code_index.graph.modules import JVM, C
from scrubjay.code_index.graph.names_scope import MAX_DEPTH, FilePart
from scrubjay.code_index.graph.referents import Referent
from scrubjay.code_index.models import Evidence, Import, Language, Symbol, SymbolKind

if TYPE_CHECKING:
    from scrubjay.code_index.graph.names_file import FileNames


class ImportedNames(FilePart):
    """Looks up names defined in other files."""

    def __init__(self, file: "FileNames") -> None:
        super().__init__(file)
        self._known: dict[tuple[str, int], Referent | None] = {}

    def lookup(self, name: str, container: int, depth: int) -> Referent | None:
        """Return the referent of a name from another file: imported, of the same package, or imported by `*`."""
        if self._language is not Language.RUST:
            container = -1  # imports apply to the whole file
        if depth > 1:
            return self._lookup(name, container, depth)
        if (name, container) not in self._known:
            self._known[name, container] = self._lookup(name, container, 1)
        return self._known[name, container]

    def _lookup(self, name: str, container: int, depth: int) -> Referent | None:
        if self._language is Language.RUST:
            return self._file.rust.lookup(name, container, depth)
        for each in self._file.scope.imports.get(name, ()):
            found = self.resolve(each, depth)
            if found is not None:
                return found
        if self._language is Language.GO or self._language in JVM or self._language is Language.CSHARP:
            group = self._defs.package(self._path)
            files = self._defs.package_files.get(group, ()) if group or self._language is Language.GO else ()
            refs = [SymbolRef(path, index) for path in files for index in self._defs.top_level(path).get(name, ())]
            refs = [ref for ref in refs if self._defs.symbol(ref).kind is not SymbolKind.MODULE]
            found = self._file.paths.as_referent(
                refs, Evidence.LOCAL if self._language is Language.GO else Evidence.IMPORTED, name
            )
            if found is not None:
                return found
        return self._star_imported(name, depth)

    def _star_imported(self, name: str, depth: int) -> Referent | None:
        for each in self._file.scope.stars:
            files = list(self._defs.modules.files(self._path, self._language, each))
            if self._language in C:
                files += [path for file in files for path in self._implementation_files(file)]
            elif self._language in JVM or self._language is Language.CSHARP:
                files = list(self._defs.package_files.get(each.module, ()))
            refs = [
                SymbolRef(path, index)
                for path in files
                if path in self._defs.facts
                for index in self._defs.top_level(path).get(name, ())
            ]
            found = self._file.paths.as_referent(refs, Evidence.IMPORTED, name)
            if found is not None:
                return found
        if self._language in C | {Language.RUBY, Language.SWIFT, Language.PHP, Language.BASH, Language.CSHARP}:
            # Names of these languages are global, so a single definition is unambiguous.
            for table in (self._defs.types, self._defs.callables):
                refs = [
                    ref
                    for ref in table.get(name)
                    if not self._defs.owner(ref.path, self._defs.symbol(ref))
                    and not _is_private(self._defs.symbol(ref))
                ]
                refs = self._file.members.without_signatures(refs)
                if len(refs) == 1:
                    return self._file.paths.as_referent(refs, Evidence.IMPORTED, name)
        return None

    def _implementation_files(self, header: str) -> Sequence[str]:
        """Return the files that implement a header."""
        stem = header.rpartition(".")[0]
        beside = [stem + ending for ending in (".c", ".cc", ".cpp", ".cxx", ".m")]
        return [path for path in beside if path in self._defs.facts]

    def resolve(self, each: Import, depth: int) -> Referent | None:
        """Return the referent of an import."""
        if depth > MAX_DEPTH:
            return None
        if self._language is Language.RUST:
            return self._file.rust.resolve_import(each, depth)
        if self._language is Language.GO:
            folder = self._defs.modules.go.package(each.module, self._path)
            if folder is None:
                return Referent("library", (), Evidence.IMPORTED, each.module)
            return Referent("module", (), Evidence.IMPORTED, each.module, self._defs.modules.go.folders[folder])
        name = each.name or re.split(r"[./\\]", each.module)[-1]
        files = [
            path for path in self._defs.modules.files(self._path, self._language, each) if path in self._defs.facts
        ]
        package = each.module.replace("\\", ".")
        if not each.name:
            package = package.rpartition(".")[0]
        files = files or list(self._defs.package_files.get(package, ()) if package else ())
        refs = [SymbolRef(path, index) for path in files for index in self._defs.top_level(path).get(name, ())]
        found = self._file.paths.as_referent(refs, Evidence.IMPORTED, name)
        if found is not None:
            return found
        owner = Referent("type", (), Evidence.IMPORTED, package.rpartition(".")[2])
        if each.name and (types := self._defs.types.get(owner.name)):  # `import static com.foo.Bar.baz`
            members, _ = self._file.members.find(owner._replace(symbols=types), name)
            if members:
                return Referent("symbols", members, Evidence.IMPORTED)
        return Referent("library", (), Evidence.IMPORTED, each.module)


def _is_private(symbol: Symbol) -> bool:
    return symbol.signature.startswith("static ") or not symbol.exported
