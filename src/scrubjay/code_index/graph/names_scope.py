"""The definitions and imports of one file, and the scopes in which names are visible."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.code_index.graph.definitions import CALLABLES, TYPES
from scrubjay.code_index.graph.modules import JVM, C
from scrubjay.code_index.graph.referents import Referent
from scrubjay.code_index.models import Import, Language, SymbolKind

if TYPE_CHECKING:
    from scrubjay.code_index.graph.names_file import FileNames

MAX_DEPTH = 10
"""Steps from a variable to its value, to that one's value and so on, that are followed."""
UNKNOWN_REFERENT = Referent("unknown")
FOLLOWS_FUNCTIONS = frozenset({Language.GO, Language.RUST})
"""Languages whose flow records where function values are passed and stored."""
IMPLICIT_THIS = JVM | {Language.CPP, Language.CSHARP, Language.RUBY, Language.SWIFT}
"""Languages in which a bare name may be a member of the enclosing type."""
MAKING = frozenset({"default", "from", "from_iter", "from_str", "try_from"})
"""Functions of Rust's standard traits that return the type they are called on. They are often derived."""
_CONTAINERS = CALLABLES | TYPES | {SymbolKind.IMPL, SymbolKind.MODULE}


class FilePart:
    """Base of the objects that resolve one file; holds the file, its facts and the family's definitions."""

    def __init__(self, file: "FileNames") -> None:
        self._file = file
        self._family = file.family
        self._file_names = file.family.file
        self._defs = file.family.definitions
        self._path, self._facts, self._language = file.path, file.facts, file.facts.language


class FileScope(FilePart):
    """Definitions and imports of a file by name, and the nesting of definitions."""

    def __init__(self, file: "FileNames") -> None:
        super().__init__(file)
        self.facts = file.facts
        self.by_name: dict[str, list[int]] = {}
        """Indexes of symbols."""
        for index, symbol in enumerate(self._facts.symbols):
            self.by_name.setdefault(symbol.name, []).append(index)
        self.imports: dict[str, list[Import]] = {}
        self.stars: list[Import] = []
        """Imports of all names."""
        for each in self._facts.imports:
            if each.name == "*" or self._language in C or (each.alias == "." and self._language is Language.GO):
                self.stars.append(each)
            else:
                self.imports.setdefault(self._local_name(each), []).append(each)

    def _local_name(self, each: Import) -> str:
        """Return the name of an import in this file. In Go, a package declares its own name."""
        if self._language is Language.GO and not each.alias:
            folder = self._defs.modules.go.package(each.module, self._path)
            for path in self._defs.modules.go.folders[folder] if folder is not None else ():
                if not path.endswith("_test.go") and (name := self._defs.flow(path).package):
                    return name
        return _local_name(each, self._language)

    def chain(self, container: int) -> Sequence[int]:
        """Return a definition and those that enclose it, innermost first."""
        chain: list[int] = []
        while container >= 0 and len(chain) < 64:
            chain.append(container)
            container = self._facts.symbols[container].container
        return chain

    def levels(self, container: int) -> Sequence[int]:
        """Return the definitions whose members are visible within one; -1 stands for the file.

        Within a Rust module, the names of enclosing modules are not visible.
        """
        chain = self.chain(container)
        if self._language is Language.RUST:
            for place, each in enumerate(chain):
                if self._facts.symbols[each].kind is SymbolKind.MODULE:
                    return chain[: place + 1]
        return [*chain, -1]

    def container_at(self, at: int) -> int:
        """Return the innermost definition around a byte; -1 if there is none."""
        symbols = self._facts.symbols
        index = bisect_right(symbols, at, key=lambda symbol: symbol.span.start) - 1
        while index >= 0 and not (at < symbols[index].span.end and symbols[index].kind in _CONTAINERS):
            index = symbols[index].container
        return index

    def has_receiver(self, container: int) -> bool:
        """Return whether `self` is a receiver here, within a type or an `impl`."""
        return any(
            self._facts.symbols[each].kind in TYPES | {SymbolKind.IMPL}
            or self._defs.owner(self._path, self._facts.symbols[each])
            for each in self.chain(container)
        )


def _local_name(each: Import, language: Language) -> str:
    """Return the name of an import in its file."""
    if each.alias:
        return each.alias
    if each.name and each.name != "self":
        return each.name
    last = re.split(r"[./\\]|::", each.module)[-1]
    if language is Language.GO and re.fullmatch(r"v\d+", last) and "/" in each.module:
        last = each.module.split("/")[-2]
    return last.partition(".")[0] if language is Language.GO else last
