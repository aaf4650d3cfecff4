"""Resolves names that a file imports or shares with its package."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.code_index.graph.definitions import Place
from scrubjay.code_index.graph.modules import JVM, C
from scrubjay.code_index.graph.names_scope import MAX_DEPTH, FilePart
from scrubjay.code_index.graph.referents import Meaning
from scrubjay.code_index.models import Evidence, Import, Language, Symbol, SymbolKind

if TYPE_CHECKING:
    from scrubjay.code_index.graph.names_file import FileNames


class ImportedNames(FilePart):
    """Names of other files."""

    def __init__(self, file: "FileNames") -> None:
        super().__init__(file)
        self._known: dict[tuple[str, int], Meaning | None] = {}

    def lookup(self, name: str, container: int, depth: int) -> Meaning | None:
        """Return the meaning of a name of another file: imported, of the same package, or imported by `*`."""
        if self._language is not Language.RUST:
            container = -1  # imports hold for the whole file
        if depth > 1:
            return self._lookup(name, container, depth)
        if (name, container) not in self._known:
            self._known[name, container] = self._lookup(name, container, 1)
        return self._known[name, container]

    def _lookup(self, name: str, container: int, depth: int) -> Meaning | None:
        if self._language is Language.RUST:
            return self._file.rust.lookup(name, container, depth)
        for each in self._file.scope.imports.get(name, ()):
            found = self.resolve(each, depth)
            if found is not None:
                return found
        if self._language is Language.GO or self._language in JVM or self._language is Language.CSHARP:
            group = self._all.group(self._path)
            files = self._all.groups.get(group, ()) if group or self._language is Language.GO else ()
            places = [Place(path, index) for path in files for index in self._all.top(path).get(name, ())]
            places = [place for place in places if self._all.symbol(place).kind is not SymbolKind.MODULE]
            found = self._file.paths.as_meaning(
                places, Evidence.LOCAL if self._language is Language.GO else Evidence.IMPORTED, name
            )
            if found is not None:
                return found
        return self._star_imported(name, depth)

    def _star_imported(self, name: str, depth: int) -> Meaning | None:
        for each in self._file.scope.stars:
            files = list(self._all.modules.files(self._path, self._language, each))
            if self._language in C:
                files += [path for file in files for path in self._implementation_files(file)]
            elif self._language in JVM or self._language is Language.CSHARP:
                files = list(self._all.groups.get(each.module, ()))
            places = [
                Place(path, index)
                for path in files
                if path in self._all.facts
                for index in self._all.top(path).get(name, ())
            ]
            found = self._file.paths.as_meaning(places, Evidence.IMPORTED, name)
            if found is not None:
                return found
        if self._language in C | {Language.RUBY, Language.SWIFT, Language.PHP, Language.BASH, Language.CSHARP}:
            # Names of these languages are global: a single definition is meant.
            for table in (self._all.types, self._all.callables):
                places = [
                    place
                    for place in table.get(name)
                    if not self._all.owner(place.path, self._all.symbol(place))
                    and not _is_private(self._all.symbol(place))
                ]
                places = self._file.members.without_signatures(places)
                if len(places) == 1:
                    return self._file.paths.as_meaning(places, Evidence.IMPORTED, name)
        return None

    def _implementation_files(self, header: str) -> Sequence[str]:
        """Return the files that implement a header."""
        stem = header.rpartition(".")[0]
        beside = [stem + ending for ending in (".c", ".cc", ".cpp", ".cxx", ".m")]
        return [path for path in beside if path in self._all.facts]

    def resolve(self, each: Import, depth: int) -> Meaning | None:
        """Return the meaning of an import."""
        if depth > MAX_DEPTH:
            return None
        if self._language is Language.RUST:
            return self._file.rust.resolve_import(each, depth)
        if self._language is Language.GO:
            folder = self._all.modules.go.package(each.module, self._path)
            if folder is None:
                return Meaning("library", (), Evidence.IMPORTED, each.module)
            return Meaning("module", (), Evidence.IMPORTED, each.module, self._all.modules.go.folders[folder])
        name = each.name or re.split(r"[./\\]", each.module)[-1]
        files = [path for path in self._all.modules.files(self._path, self._language, each) if path in self._all.facts]
        package = each.module.replace("\\", ".")
        if not each.name:
            package = package.rpartition(".")[0]
        files = files or list(self._all.groups.get(package, ()) if package else ())
        places = [Place(path, index) for path in files for index in self._all.top(path).get(name, ())]
        found = self._file.paths.as_meaning(places, Evidence.IMPORTED, name)
        if found is not None:
            return found
        owner = Meaning("type", (), Evidence.IMPORTED, package.rpartition(".")[2])
        if each.name and (types := self._all.types.get(owner.name)):  # `import static com.foo.Bar.baz`
            members, _ = self._file.members.places(owner._replace(places=types), name)
            if members:
                return Meaning("symbols", members, Evidence.IMPORTED)
        return Meaning("library", (), Evidence.IMPORTED, each.module)


def _is_private(symbol: Symbol) -> bool:
    return symbol.signature.startswith("static ") or not symbol.exported
