"""The modules of a Python repository: the files that imports refer to, and the loaded files."""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from scrubjay.code_index.graph import python_flow_format as flow
from scrubjay.code_index.graph.python_file import PythonFile
from scrubjay.code_index.graph.python_values import FILE, Value
from scrubjay.code_index.models import Facts


class _ModuleNames(NamedTuple):
    """Module names of a repository."""

    parts: Mapping[str, tuple[str, ...]]
    """Parts of the dotted name, by path."""
    by_last: Mapping[str, Sequence[tuple[tuple[str, ...], str]]]
    """Parts and path, by last part."""
    packages: Set[tuple[str, ...]]
    exact: Mapping[tuple[str, ...], str]
    """Path, by parts."""


@lru_cache(maxsize=4)  # the set of files rarely changes between two updates
def _module_names(paths: tuple[str, ...]) -> _ModuleNames:
    names: dict[str, tuple[str, ...]] = {}
    by_last: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    packages: set[tuple[str, ...]] = set()
    for path in paths:
        parts = tuple(path.rpartition(".")[0].split("/"))
        if parts[-1] == "__init__":
            parts = parts[:-1]
            packages.add(parts)
        names[path] = parts
        by_last[parts[-1] if parts else ""].append((parts, path))
    exact = {parts: path for path, parts in names.items() if not path.endswith(".pyi")}
    return _ModuleNames(names, dict(by_last), packages, exact)


class PythonModules:
    """Finds and loads the modules of a repository. A file is loaded on first use."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._files: dict[str, PythonFile] = {}
        self.by_index: list[PythonFile] = []
        """The loaded files."""
        names = _module_names(tuple(sorted([path for path in facts if path.endswith((".py", ".pyi", ".pyw"))])))
        self._parts, self._by_last, self._packages, self._exact = names
        self._found: dict[tuple[str, ...], dict[str, str | None]] = defaultdict(dict)
        """Paths by package and imported name."""

    def file(self, path: str) -> PythonFile:
        """Return a file of the repository, loading it if necessary."""
        known = self._files.get(path)
        if known is None:
            # A script without a suffix has no module name.
            parts = self._parts.get(path, tuple(path.split("/")))
            known = self._files[path] = PythonFile(len(self.by_index), path, parts, self._facts[path])
            known.modules = self._found[known.package]
            self.by_index.append(known)
        return known

    def file_of(self, value: Value) -> PythonFile:
        """Return the file in which a value is defined."""
        index: int = value[FILE]
        return self.by_index[index]

    def find(self, file: PythonFile, name: str, level: int) -> tuple[str | None, str]:
        """Return path and dotted name of an imported module; the path is None for a library's module.

        `level` is the number of leading dots of a relative import.
        """
        if not level:
            return self._find_absolute(name, file), name
        base = file.package[: len(file.package) - (level - 1)] if level > 1 else file.package
        parts = (*base, *name.split(".")) if name else base
        return self._exact.get(parts), ".".join(parts)

    def _find_absolute(self, name: str, importer: PythonFile) -> str | None:
        known = importer.modules.get(name, "")
        if known != "":
            return known
        wanted = tuple(name.split("."))
        best: tuple[tuple[int, int], str] | None = None
        for parts, path in self._by_last.get(wanted[-1], ()):
            if parts[len(parts) - len(wanted) :] != wanted:
                continue
            root = parts[: len(parts) - len(wanted)]
            if root and root in self._packages:
                continue
            above = importer.parts[: len(root)] == root
            if not above and wanted[0] in sys.stdlib_module_names:
                continue
            rank = (len(root) if above else -1 - len(root), 0 if path.endswith(".pyi") else 1)
            if best is None or rank > best[0]:
                best = (rank, path)
        found = importer.modules[name] = best[1] if best is not None else None
        return found

    def submodule(self, file: PythonFile, name: str) -> PythonFile | None:
        """Return the module of this name in a package; None if the file is not a package or has no such module."""
        path = self._exact.get((*file.parts, name)) if file.is_package else None
        return self.file(path) if path is not None else None

    def star_imports(self, file: PythonFile) -> Iterator[PythonFile]:
        """Yield the repository's modules from which a file imports all names."""
        for module, level in file.stars:
            path, _ = self.find(file, module, level)
            if path is not None:
                yield self.file(path)

    def imports(self, path: str) -> Sequence[str]:
        """Return the sorted paths of the modules that a file imports."""
        file = self.file(path)
        found: set[str] = set()
        for node in file.import_nodes():
            if node[flow.KIND] == flow.MODULE:
                _, module, level = node
                target, _ = self.find(file, module, level)
                found.add(target or "")
            else:
                _, module, level, name = node
                inner, _ = self.find(file, f"{module}.{name}" if module else name, level)
                target, _ = self.find(file, module, level)
                found.add(inner or target or "")
        for module, level in file.stars:
            found.add(self.find(file, module, level)[0] or "")
        return sorted(found - {"", path})
