"""Resolves the names in the files of one language family."""

from collections.abc import Sequence

from scrubjay.code_index.graph.callback_flow import CallbackFlow
from scrubjay.code_index.graph.definitions import CALLABLES, Definitions, SymbolRef
from scrubjay.code_index.graph.implementations import Implementations
from scrubjay.code_index.graph.name_paths import parse_type_name
from scrubjay.code_index.graph.names_imports import ImportedNames
from scrubjay.code_index.graph.names_members import MemberLookup
from scrubjay.code_index.graph.names_rust import RustNames
from scrubjay.code_index.graph.names_scope import FileScope
from scrubjay.code_index.graph.names_types import WrittenTypes
from scrubjay.code_index.graph.names_uses import UseResolver
from scrubjay.code_index.graph.names_values import PathEvaluator
from scrubjay.code_index.graph.referents import PathParts, Referent
from scrubjay.code_index.graph.rust_modules import RustModule
from scrubjay.code_index.models import UseKind


class LanguageFamily:
    """The files of one language family, which share definitions."""

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self.rust_names: dict[tuple[RustModule, str], Referent | None] = {}
        """Referents of names in modules of Rust; None also while a name is being resolved."""
        self.implementations = Implementations(definitions, self._type_at)
        self.callbacks = CallbackFlow(definitions, self.file)
        self._bases: dict[tuple[str, str], Referent | None] = {}
        self._files: dict[str, FileNames] = {}

    def _type_at(self, path: str, name: str, container: int) -> Sequence[SymbolRef]:
        found = self.file(path).types.find(name, 0, container)
        return found.symbols if found is not None and found.kind == "type" else ()

    def base(self, written: str, path: str) -> Referent | None:
        """Return the referent of a base as it is written in a file."""
        if (written, path) not in self._bases:
            self._bases[written, path] = None
            name = parse_type_name(written.partition("(")[0])
            self._bases[written, path] = self.file(path).types.find(name, 1) if name else None
        return self._bases[written, path]

    def file(self, path: str) -> "FileNames":
        if path not in self._files:
            self._files[path] = FileNames(self, path)
        return self._files[path]


class FileNames:
    """Resolves the names of one file."""

    def __init__(self, family: LanguageFamily, path: str) -> None:
        self.family = family
        self.path = path
        self.facts = family.definitions.facts[path]
        self.scope = FileScope(self)
        self.paths = PathEvaluator(self)
        self.types = WrittenTypes(self)
        self.members = MemberLookup(self)
        self.imports = ImportedNames(self)
        self.rust = RustNames(self)
        self.uses = UseResolver(self)

    def callee(self, parts: PathParts, at: int) -> Referent | None:
        """Return the referent of a path that is called at a byte, without following function values."""
        return self.paths.follow(parts, at, self.scope.container_at(at), UseKind.CALL)

    def value(self, parts: PathParts, at: int) -> Referent | None:
        """Return the type of the value of a path at a byte."""
        found = self.paths.follow(parts, at, self.scope.container_at(at), None)
        if found is not None and found.kind == "symbols":
            found = self.paths.value_of(found, 0, called=False)
        return found

    def enclosing_function(self, at: int) -> int:
        """Return the index of the function around a byte; -1 if there is none."""
        return next(
            (
                each
                for each in self.scope.chain(self.scope.container_at(at))
                if self.facts.symbols[each].kind in CALLABLES
            ),
            -1,
        )
