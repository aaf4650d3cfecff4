"""The types and the sources of what a repository imports, where they lie in the repository's own folder."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from scrubjay.code_index.models import FileFacts, Language
from scrubjay.core.secrets import masked

# Enough to look up what is used; a bundle is about the repository.
MOST_FILES = 2_000
MOST_FILES_OF_ONE = 100
MOST_BYTES = 32 * 1024 * 1024
MOST_BYTES_OF_ONE_FILE = 256 * 1024
MOST_DEPTH = 8

_WEB = frozenset({Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX})
_ENVIRONMENTS = (".venv", "venv", "env")
_TYPES = (".d.ts", ".d.mts", ".d.cts", ".pyi")
_SOURCES = (".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx")
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "test", "tests", "__tests__", ".git"})
_PACKAGE = re.compile(r"(?:@[a-z0-9][\w.-]*/)?[a-z0-9_][\w.-]*", re.IGNORECASE)
_MODULE = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Vendored:
    """A file of a library."""

    folder: str
    """`types` or `vendor_src`."""
    place: str
    """Of the library, and within it."""
    path: Path

    @property
    def name(self) -> str:
        return f"{self.folder}/{self.place}"

    def content(self) -> bytes:
        """What it says, without secrets."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(MOST_BYTES_OF_ONE_FILE)
        return masked(content.decode("utf-8", "replace")).encode()


class Dependencies:
    """What the files of a repository import by name."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._packages: set[str] = set()
        self._modules: set[str] = set()

    def add(self, facts: FileFacts) -> None:
        for one in facts.imports:
            if facts.language in _WEB:
                parts = one.module.split("/")
                name = "/".join(parts[:2]) if one.module.startswith("@") else parts[0]
                if _PACKAGE.fullmatch(name):
                    self._packages.add(name)
            elif facts.language is Language.PYTHON and _MODULE.fullmatch(name := one.module.split(".")[0]):
                self._modules.add(name)

    def found(self) -> Iterator[Vendored]:
        """The files of these libraries that are there, types first, no more than fit."""
        size = 0
        for one in islice(chain(self._all("types"), self._all("vendor_src")), MOST_FILES):
            size += one.path.lstat().st_size
            if size > MOST_BYTES:
                return
            yield one

    def _all(self, folder: str) -> Iterator[Vendored]:
        endings = _TYPES if folder == "types" else _SOURCES
        for library, start in self._places():
            for place in _files(start, endings, () if folder == "types" else _TYPES):
                yield Vendored(folder, f"{library}/{place}" if place else start.name, start / place if place else start)

    def _places(self) -> Iterator[tuple[str, Path]]:
        """Where each library is, by name."""
        modules = self._root / "node_modules"
        for package in sorted(self._packages):
            yield from self._within(package, modules / package)
            typed = f"@types/{package.removeprefix('@').replace('/', '__')}"
            yield from self._within(typed, modules / typed)
        if not self._modules:
            return
        for environment in _ENVIRONMENTS:
            for site in sorted((self._root / environment).glob("lib/python3.*/site-packages")):
                for module in sorted(self._modules):
                    yield from self._within(module, site / module)
                    yield from self._within(f"{module}-stubs", site / f"{module}-stubs")
                    yield from self._within(module, site / f"{module}.py")

    def _within(self, library: str, place: Path) -> Iterator[tuple[str, Path]]:
        """The place, if there is one and no link leads out of the repository."""
        try:
            resolved = place.resolve(strict=True)
        except (OSError, RuntimeError):
            return
        if resolved.is_relative_to(self._root):
            yield library, resolved


def _files(start: Path, endings: Sequence[str], other: Sequence[str]) -> Iterator[str]:
    """The files below, by their places in it, sorted; links are not followed."""
    if start.is_file():
        if start.name.endswith(tuple(endings)) and start.stat().st_size <= MOST_BYTES_OF_ONE_FILE:
            yield ""
        return
    found: list[str] = []
    for folder, folders, files in os.walk(start):
        depth = len(Path(folder).relative_to(start).parts)
        folders[:] = [] if depth >= MOST_DEPTH else sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted(files):
            path = Path(folder, name)
            fits = name.endswith(tuple(endings)) and not (other and name.endswith(tuple(other)))
            if fits and not path.is_symlink() and path.stat().st_size <= MOST_BYTES_OF_ONE_FILE:
                place = path.relative_to(start).as_posix()
                if place.isprintable() and place.isascii():
                    found.append(place)
        if len(found) >= MOST_FILES_OF_ONE:
            break
    yield from found[:MOST_FILES_OF_ONE]
