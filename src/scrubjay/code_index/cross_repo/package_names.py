"""Resolve a use of a package's name: by the imports of the file, and by what the package's repository defines.

Imports numpy, which is slow to import: load this module late.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from scrubjay.code_index.cross_repo.packages import LANGUAGES, Package
from scrubjay.code_index.models import Evidence, FileFacts, Import
from scrubjay.code_index.questions.traversal import GUESS_THRESHOLD, SUPPORTING
from scrubjay.code_index.search.use_graph import UseGraph
from scrubjay.code_index.service import LoadedIndex
from scrubjay.code_index.store import IndexedFile

# Confidence of an imported name; below 1 because the installed release of the package is unknown.
IMPORT_CONFIDENCE = 0.9
_SEPARATORS = re.compile(r"::|[./\\#]|->")
_VERSION = re.compile(r"v\d+")
# Imported names that stand for a whole module.
_WHOLE_MODULE = ("", "*", "default")
# Base names of files that represent their folder when it is imported.
_ENTRY_NAMES = frozenset({"__init__", "index", "lib", "mod", "main"})


class ResolvedUse(NamedTuple):
    """The definitions that a use may refer to, and the confidence."""

    rows: Sequence[int]
    evidence: Evidence
    confidence: float


class _NamedUse(NamedTuple):
    """The part of a package that a use refers to."""

    inner: Sequence[str]
    """Path of the imported module inside the package."""
    names: Sequence[str]
    """Names after the module, outermost first; the last one is used."""
    is_plain: bool
    """True if only an import and names lead to it, without calls or subscripts on the way."""


def is_in_package(module: str, package: Package) -> bool:
    """Return whether a module is the package or inside it."""
    return _path_in_package(module, package) is not None


def imports_from(facts: FileFacts | None, package: Package) -> list[Import]:
    """Return what a file imports from a package."""
    return [one for one in facts.imports if is_in_package(one.module, package)] if facts is not None else []


def last_name(use: str) -> str:
    return _SEPARATORS.split(use)[-1]


def original_names(use: str, imports: Iterable[Import]) -> set[str]:
    """Return the names under which a package may define what a use ends with: that name, or those it is an alias of."""
    return {last_name(use), *(one.name for one in imports if one.alias == use and one.name not in _WHOLE_MODULE)}


def resolve_use(
    use: str, imports: Sequence[Import], package: Package, definer: LoadedIndex, links: UseGraph
) -> ResolvedUse:
    """Return the definitions that a use refers to in the package's repository; empty if it defines no such name."""
    named = _parse_use(use, imports, package)
    rows = [row for row in definer.names.find(named.names[-1], exactly=True) if _belongs_to(row, definer, package)]
    rows = [row for row in rows if not _file(row, definer).traits & SUPPORTING] or rows
    fitting = [row for row in rows if _fits(row, definer, named)] if named.is_plain else []
    meant = [row for row in fitting if _is_in_module(row, definer, named)] or fitting
    if _count_distinct(meant, definer) > 1:
        meant = _reexported(meant, definer, links, named) or meant
    if _count_distinct(meant, definer) == 1:
        return ResolvedUse(meant, Evidence.IMPORTED, IMPORT_CONFIDENCE)
    return ResolvedUse(meant or rows, Evidence.NAME, GUESS_THRESHOLD - 0.1)


def _count_distinct(rows: Sequence[int], definer: LoadedIndex) -> int:
    """Return the number of distinct definitions; overloads and conditional definitions count once."""
    return len({(int(definer.corpus.symbols.files[row]), definer.names.qualified(row)) for row in rows})


def _parse_use(use: str, imports: Sequence[Import], package: Package) -> _NamedUse:
    head, *rest = _SEPARATORS.split(use)
    is_plain = "(" not in use and "[" not in use
    for one in imports:
        inner = _path_in_package(one.module, package) or []
        if one.name not in _WHOLE_MODULE and head == (one.alias or one.name):
            return _NamedUse(inner, [one.name, *rest], is_plain)
        if one.name == "*" or not rest:
            continue
        if one.alias == head:
            return _NamedUse(inner, rest, is_plain)
        if not one.alias and head in (_first(one.module), _go_name(one.module)):
            return _NamedUse([], rest, is_plain)
    return _NamedUse([], [last_name(use)], is_plain=False)


def _path_in_package(module: str, package: Package) -> list[str] | None:
    """Return the path of a module inside the package; None if it is outside."""
    for name in package.imported_as:
        if module == name:
            return []
        if module.startswith(name) and module[len(name)] in "./:":
            return [part for part in _SEPARATORS.split(module[len(name) :]) if part]
    return None


def _first(module: str) -> str:
    return re.split(r"\.|::", module, maxsplit=1)[0]


def _go_name(module: str) -> str:
    """Return the name that Go gives a module: that of its folder, without the version."""
    parts = [part for part in module.split("/") if not _VERSION.fullmatch(part)]
    return parts[-1] if parts else module


def _file(row: int, definer: LoadedIndex) -> IndexedFile:
    return definer.corpus.files[int(definer.corpus.symbols.files[row])]


def _belongs_to(row: int, definer: LoadedIndex, package: Package) -> bool:
    """Return whether a definition may be in this package, by its language and the folder of the manifest."""
    file = _file(row, definer)
    folder = package.manifest.rpartition("/")[0]
    return file.content.language in LANGUAGES[package.ecosystem] and (not folder or file.path.startswith(folder + "/"))


def _containers(row: int, definer: LoadedIndex) -> list[str]:
    """Return the names of the containers of a definition."""
    return definer.names.qualified(row).split(".")[:-1]


def _module(path: str) -> list[str]:
    """Return the components of the path of a module."""
    file = PurePosixPath(path)
    return [*file.parent.parts, file.name.split(".", 1)[0]]


def _is_module(path: str, wanted: Sequence[str]) -> bool:
    """Return whether a file is the module at this path in its package; for an empty path, it is an entry file."""
    module = _module(path)
    by_entry = module[-1] in _ENTRY_NAMES and (not wanted or module[-1 - len(wanted) : -1] == wanted)
    return by_entry or (bool(wanted) and module[-len(wanted) :] == wanted)


def _modules(row: int, definer: LoadedIndex, named: _NamedUse) -> list[str]:
    """Return the names of the use that are modules: those before the containers of the definition."""
    before = named.names[:-1]
    return list(before[: max(0, len(before) - len(_containers(row, definer)))])


def _fits(row: int, definer: LoadedIndex, named: _NamedUse) -> bool:
    """Return whether the names of the use match the definition's containers, and its path before these."""
    modules = _modules(row, definer, named)
    is_within = [*named.names[len(modules) : -1]] == _containers(row, definer)
    return is_within and {*modules} <= {*_module(_file(row, definer).path)}


def _is_in_module(row: int, definer: LoadedIndex, named: _NamedUse) -> bool:
    """Return whether the definition is in the imported module itself, not only re-exported by it."""
    return _is_module(_file(row, definer).path, [*named.inner, *_modules(row, definer, named)])


def _reexported(rows: Sequence[int], definer: LoadedIndex, links: UseGraph, named: _NamedUse) -> list[int]:
    """Return the definitions in files that the imported module imports itself."""
    corpus = definer.corpus
    reexporting = {
        imported
        for path, file in corpus.row_of.items()
        if _is_module(path, [*named.inner])
        for imported in links.imports.get(file, ())
    }
    return [row for row in rows if int(corpus.symbols.files[row]) in reexporting]
