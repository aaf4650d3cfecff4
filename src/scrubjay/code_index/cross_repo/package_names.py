"""What a file means that uses a name of a package: by the file's imports, and by what the package's repository defines.

This module imports numpy, which takes a while: import it where it is needed.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from scrubjay.code_index.cross_repo.packages import LANGUAGES, Package
from scrubjay.code_index.models import Evidence, FileFacts, Import
from scrubjay.code_index.questions.traversal import BESIDE, GUESS
from scrubjay.code_index.search.use_graph import Links
from scrubjay.code_index.service import Loaded
from scrubjay.code_index.store import IndexedFile

# An import names it; but which release of the package is installed is not known.
SURE = 0.9
_SEPARATORS = re.compile(r"::|[./\\#]|->")
_VERSION = re.compile(r"v\d+")
# Names that stand for a module as a whole.
_WHOLE = ("", "*", "default")
# Files by which a folder is imported.
_DOORS = frozenset({"__init__", "index", "lib", "mod", "main"})


class Meant(NamedTuple):
    """The definitions that a use may mean, and how sure that is."""

    rows: Sequence[int]
    evidence: Evidence
    confidence: float


class _Named(NamedTuple):
    """What a use names of a package."""

    inner: Sequence[str]
    """Where in the package it was imported from, from its top."""
    names: Sequence[str]
    """What is named there, outermost first; the last is what is used."""
    is_plain: bool
    """Whether an import and names alone lead to it: nothing is called or followed on the way."""


def is_of(module: str, package: Package) -> bool:
    """Whether a module is the package, or in it."""
    return _inner(module, package) is not None


def imports_of(facts: FileFacts | None, package: Package) -> list[Import]:
    """What a file takes of a package."""
    return [one for one in facts.imports if is_of(one.module, package)] if facts is not None else []


def last_name(use: str) -> str:
    return _SEPARATORS.split(use)[-1]


def original_names(use: str, imports: Iterable[Import]) -> set[str]:
    """By which names a package may define what a use ends with: its own, or that of which it is an alias here."""
    return {last_name(use), *(one.name for one in imports if one.alias == use and one.name not in _WHOLE)}


def meant_by(use: str, imports: Sequence[Import], package: Package, definer: Loaded, links: Links) -> Meant:
    """What a use means in the repository that defines the package; nothing when that defines no such name."""
    named = _named(use, imports, package)
    rows = [row for row in definer.names.find(named.names[-1], exactly=True) if _is_in(row, definer, package)]
    rows = [row for row in rows if not _file(row, definer).traits & BESIDE] or rows
    fitting = [row for row in rows if _fits(row, definer, named)] if named.is_plain else []
    meant = [row for row in fitting if _is_there(row, definer, named)] or fitting
    if _things(meant, definer) > 1:
        meant = _passed_on(meant, definer, links, named) or meant
    if _things(meant, definer) == 1:
        return Meant(meant, Evidence.IMPORTED, SURE)
    return Meant(meant or rows, Evidence.NAME, GUESS - 0.1)


def _things(rows: Sequence[int], definer: Loaded) -> int:
    """How many they are; overloads, and what is defined twice under conditions, are one."""
    return len({(int(definer.corpus.symbols.files[row]), definer.names.qualified(row)) for row in rows})


def _named(use: str, imports: Sequence[Import], package: Package) -> _Named:
    head, *rest = _SEPARATORS.split(use)
    is_plain = "(" not in use and "[" not in use
    for one in imports:
        inner = _inner(one.module, package) or []
        if one.name not in _WHOLE and head == (one.alias or one.name):
            return _Named(inner, [one.name, *rest], is_plain)
        if one.name == "*" or not rest:
            continue
        if one.alias == head:
            return _Named(inner, rest, is_plain)
        if not one.alias and head in (_first(one.module), _last(one.module)):
            return _Named([], rest, is_plain)
    return _Named([], [last_name(use)], is_plain=False)


def _inner(module: str, package: Package) -> list[str] | None:
    """The way to a module from the top of the package; None when it is not in it."""
    for name in package.imported_as:
        if module == name:
            return []
        if module.startswith(name) and module[len(name)] in "./:":
            return [part for part in _SEPARATORS.split(module[len(name) :]) if part]
    return None


def _first(module: str) -> str:
    return re.split(r"\.|::", module, maxsplit=1)[0]


def _last(module: str) -> str:
    """The name by which Go knows a module: that of its folder, without the version."""
    parts = [part for part in module.split("/") if not _VERSION.fullmatch(part)]
    return parts[-1] if parts else module


def _file(row: int, definer: Loaded) -> IndexedFile:
    return definer.corpus.files[int(definer.corpus.symbols.files[row])]


def _is_in(row: int, definer: Loaded, package: Package) -> bool:
    """Whether a definition may be had by this package: by its language, and by where the manifest is."""
    file = _file(row, definer)
    folder = package.manifest.rpartition("/")[0]
    return file.content.language in LANGUAGES[package.ecosystem] and (not folder or file.path.startswith(folder + "/"))


def _within(row: int, definer: Loaded) -> list[str]:
    """The names of what a definition is in."""
    return definer.names.qualified(row).split(".")[:-1]


def _module(path: str) -> list[str]:
    """The parts of the path of a module."""
    place = PurePosixPath(path)
    return [*place.parent.parts, place.name.split(".", 1)[0]]


def _is_module(path: str, wanted: Sequence[str]) -> bool:
    """Whether a file is the module of this way from the top of its package, or that of no way at all."""
    module = _module(path)
    by_door = module[-1] in _DOORS and (not wanted or module[-1 - len(wanted) : -1] == wanted)
    return by_door or (bool(wanted) and module[-len(wanted) :] == wanted)


def _modules(row: int, definer: Loaded, named: _Named) -> list[str]:
    """Those of the names on the way that are not of what a definition is in."""
    before = named.names[:-1]
    return list(before[: max(0, len(before) - len(_within(row, definer)))])


def _fits(row: int, definer: Loaded, named: _Named) -> bool:
    """Whether the names on the way are those of what it is in, and before these those of modules."""
    modules = _modules(row, definer, named)
    is_within = [*named.names[len(modules) : -1]] == _within(row, definer)
    return is_within and {*modules} <= {*_module(_file(row, definer).path)}


def _is_there(row: int, definer: Loaded, named: _Named) -> bool:
    """Whether it is in the very module that was imported, not only passed on by it."""
    return _is_module(_file(row, definer).path, [*named.inner, *_modules(row, definer, named)])


def _passed_on(rows: Sequence[int], definer: Loaded, links: Links, named: _Named) -> list[int]:
    """Those of files that the module which was imported imports itself."""
    corpus = definer.corpus
    passed_on = {
        imported
        for path, file in corpus.row_of.items()
        if _is_module(path, [*named.inner])
        for imported in links.imports.get(file, ())
    }
    return [row for row in rows if int(corpus.symbols.files[row]) in passed_on]
