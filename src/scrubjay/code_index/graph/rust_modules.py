"""Maps Rust crates and modules to files of a repository, by `Cargo.toml`, file locations and `mod` declarations."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import basename, dirname
from typing import NamedTuple

from scrubjay.code_index.graph.manifests import Manifests, joined, with_parents
from scrubjay.code_index.models import Facts, Language, SymbolKind

_PATH = re.compile(r'path\s*=\s*"([^"]+)"')
_CRATE_FOLDERS = ("src/bin", "examples", "tests", "benches")
"""Folders in which each file, and each folder with a `main.rs`, is a crate of its own."""
_STANDARD_CRATES = frozenset({"std", "core", "alloc", "proc_macro", "test"})


class RustModule(NamedTuple):
    """A module: the first file of its crate, and its path in that crate."""

    crate: str
    path: tuple[str, ...] = ()

    def child(self, name: str) -> "RustModule":
        return RustModule(self.crate, (*self.path, name))

    @property
    def above(self) -> "RustModule":
        return RustModule(self.crate, self.path[:-1])


class RustScope(NamedTuple):
    """Location of a module: a file, and the index of the module's symbol there; -1 for the whole file."""

    file: str
    symbol: int = -1


class _Package(NamedTuple):
    """A package as described by its `Cargo.toml`."""

    folder: str
    name: str
    library: str
    """The first file of its library; empty if it has none."""
    imported_as: str
    """The name by which other crates import its library."""
    needs: Mapping[str, str]
    """Packages that it depends on, by local name."""


class RustModules:
    """The Rust modules of a repository, by file and by path."""

    def __init__(self, facts: Facts, manifests: Manifests) -> None:
        self._facts = facts
        self._manifests = manifests
        self._scopes: dict[RustModule, RustScope | None] = {}
        self._crates: dict[tuple[str, str], RustModule | None] = {}

    def of(self, path: str, symbol: int = -1) -> RustModule:
        """Return the module that contains a symbol of a file; for -1 the module of the file."""
        module = self._by_file.get(path, RustModule(path))
        names: list[str] = []
        symbols = self._facts[path].symbols if symbol >= 0 else ()
        while symbol >= 0:
            if symbols[symbol].kind is SymbolKind.MODULE:
                names.append(symbols[symbol].name)
            symbol = symbols[symbol].container
        return RustModule(module.crate, (*module.path, *reversed(names))) if names else module

    def scope(self, module: RustModule) -> RustScope | None:
        """Return where a module is written; None if it is not in the repository."""
        if module not in self._scopes:
            self._scopes[module] = self._scope(module)
        return self._scopes[module]

    def _scope(self, module: RustModule) -> RustScope | None:
        file = self._by_module.get(module)
        if file is not None:
            return RustScope(file)
        around = self.scope(module.above) if module.path else None
        if around is None:
            return None
        for index, symbol in enumerate(self._facts[around.file].symbols):
            if (
                symbol.kind is SymbolKind.MODULE
                and symbol.container == around.symbol
                and symbol.name == module.path[-1]
            ):
                return RustScope(around.file, index)
        return None

    def crate(self, name: str, importer: str) -> RustModule | None:
        """Return the library crate that a file knows by this name; None if it is not in the repository."""
        key = (name, self.of(importer).crate)
        if key not in self._crates:
            self._crates[key] = self._crate(name, importer)
        return self._crates[key]

    def _crate(self, name: str, importer: str) -> RustModule | None:
        if name in _STANDARD_CRATES:
            return None
        own = self._package_around(importer)
        if own is not None:
            if own.library and name == own.imported_as:
                return RustModule(own.library)  # the library next to tests, examples and binaries
            library = self._needed(own).get(name)
            return RustModule(library) if library is not None else None
        found = [root for root in self._roots if basename(root) == "lib.rs" and _named_by_folder(root) == name]
        # A repository's folder need not have the name of its crate, so a file next to the library may refer to it.
        beside = [root for root in ("src/lib.rs", "lib.rs") if root in self._roots and root != self.of(importer).crate]
        return RustModule(root) if (root := next(iter([*found, *beside]), None)) is not None else None

    def start(self, importer: str, module: RustModule, first: str) -> RustModule | None:
        """Return the module at which a `use` path starts: this crate or module, a parent, child or other crate."""
        match first:
            case "crate":
                return RustModule(module.crate)
            case "self":
                return module
            case "super":
                return module.above
            case _:
                child = module.child(first)
                return child if self.scope(child) is not None else self.crate(first, importer)

    def imported(self, importer: str, container: int, parts: Sequence[str]) -> str | None:
        """Return the file that a `use` path leads to, as far as its parts are modules."""
        if not parts:
            return None
        at = self.start(importer, self.of(importer, container), parts[0])
        file = None
        for part in ("", *parts[1:]):
            if at is None or (scope := self.scope(at)) is None:
                break
            file = scope.file
            at = at if not part else at.above if part == "super" else at.child(part)
        if at is not None and (scope := self.scope(at)) is not None:
            file = scope.file
        return file

    # Crates

    @cached_property
    def _files(self) -> Sequence[str]:
        return sorted(path for path, facts in self._facts.items() if facts.language is Language.RUST)

    @cached_property
    def _packages(self) -> Sequence[_Package]:
        manifests = [
            (folder, content["cargo"]) for folder, content in self._manifests.named("Cargo.toml") if "cargo" in content
        ]
        shared: dict[str, dict[str, str]] = {
            folder: content["shared"] for folder, content in manifests if content["shared"]
        }
        nothing: dict[str, str] = {}
        found: list[_Package] = []
        for folder, content in manifests:
            if not content["name"]:
                continue
            library = joined(folder, content["path"] or "src/lib.rs")
            around = next((shared[each] for each in with_parents(folder) if each in shared), nothing)
            dependencies: dict[str, str] = content["needs"]
            needs = {
                name: around.get(name, name) if package == "*" else package for name, package in dependencies.items()
            }
            imported_as = (content["library"] or content["name"]).replace("-", "_")
            found.append(
                _Package(folder, content["name"], library if library in self._facts else "", imported_as, needs)
            )
        return found

    @cached_property
    def _libraries(self) -> Mapping[str, _Package]:
        """The packages with a library, by name."""
        return {each.name: each for each in self._packages if each.library}

    @cached_property
    def _by_folder(self) -> Mapping[str, _Package]:
        return {each.folder: each for each in self._packages}

    def _package_around(self, path: str) -> _Package | None:
        return next((self._by_folder[each] for each in with_parents(dirname(path)) if each in self._by_folder), None)

    def _needed(self, package: _Package) -> Mapping[str, str]:
        """Return the first files of the libraries that a package depends on, by the names that its code uses."""
        found: dict[str, str] = {}
        for alias, name in package.needs.items():
            other = self._libraries.get(name)
            if other is not None:
                # Without a rename, the name in code is the one that the library's own manifest sets.
                found[alias.replace("-", "_") if alias != name else other.imported_as] = other.library
        return found

    @cached_property
    def _roots(self) -> Sequence[str]:
        """The first files of all crates, libraries first."""
        found: list[str] = [each.library for each in self._packages if each.library]
        found += [
            joined(folder, path)
            for folder, content in self._manifests.named("Cargo.toml")
            for path in content.get("cargo", {}).get("roots", ())
        ]
        folders = {each.folder for each in self._packages}
        beside = {joined(each, part) for each in folders for part in _CRATE_FOLDERS}
        for path in self._files:
            folder, name = dirname(path), basename(path)
            is_first = name in ("lib.rs", "main.rs") and (basename(folder) == "src" or not folders)
            is_script = name == "build.rs" and folder in folders
            if is_first or is_script or folder in beside or (name == "main.rs" and dirname(folder) in beside):
                found.append(path)
        return [path for path in dict.fromkeys(found) if path in self._facts]

    # Modules

    @cached_property
    def _by_file(self) -> Mapping[str, RustModule]:
        roots = frozenset(self._roots)
        beside: dict[str, list[str]] = {}
        for root in self._roots:
            beside.setdefault(dirname(root), []).append(root)
        found: dict[str, RustModule] = {}
        for path in self._files:
            found[path] = RustModule(path) if path in roots else self._module_by_location(path, beside)
        for path in self._files:
            for name, file in self._declared_paths(path):
                if file in found:
                    usual, declared = found[file], found[path].child(name)
                    found[file] = declared
                    # Files in its folder move with it.
                    for other in self._files:
                        if basename(file) == "mod.rs" and other.startswith(dirname(file) + "/") and other != file:
                            rest = found[other].path[len(usual.path) :]
                            found[other] = RustModule(declared.crate, (*declared.path, *rest))
        return found

    @cached_property
    def _by_module(self) -> Mapping[RustModule, str]:
        found: dict[RustModule, str] = {}
        for path, module in self._by_file.items():
            found.setdefault(module, path)
        # A `#[path]` attribute overrides the usual location; of several, one per platform, the first applies.
        for path in reversed(self._files):
            for name, file in reversed([*self._declared_paths(path)]):
                if file in self._by_file:
                    found[self._by_file[path].child(name)] = file
        return found

    def _module_by_location(self, path: str, beside: Mapping[str, Sequence[str]]) -> RustModule:
        """Return the module of a file by location: `a/b.rs` and `a/b/mod.rs` next to the crate root are `a::b`."""
        folder = next((each for each in with_parents(dirname(path)) if each in beside), None)
        if folder is None:
            return RustModule(path)
        inside = path[len(folder) + 1 if folder else 0 : -len(".rs")].split("/")
        parts = tuple(inside[:-1] if inside[-1] == "mod" else inside)
        crates = beside[folder]
        if len(crates) > 1:
            crates = [root for root in crates if parts and parts[0] in self._declared(root)] or crates
        return RustModule(crates[0], parts)

    def _declared(self, path: str) -> Iterable[str]:
        return {symbol.name for symbol in self._facts[path].symbols if symbol.kind is SymbolKind.MODULE}

    def _declared_paths(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield modules declared with a `#[path]` attribute, and their files."""
        for symbol in self._facts[path].symbols:
            if symbol.kind is SymbolKind.MODULE:
                for attribute in filter(None, map(_PATH.fullmatch, symbol.decorators)):
                    yield symbol.name, joined(dirname(path), attribute[1])


def _named_by_folder(root: str) -> str:
    """Return the probable name of a library without a manifest: the folder that contains its sources."""
    folder = dirname(root)
    return basename(dirname(folder) if basename(folder) == "src" else folder).replace("-", "_")
