"""Find the type declarations and sources of imported libraries, if they are installed inside the repository."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from scrubjay.code_index.models import FileFacts, Language
from scrubjay.core.secrets import masked

# Limits of what is included: enough to look up what is used; a bundle is about the repository.
MAX_FILES = 2_000
MAX_FILES_PER_LIBRARY = 100
MAX_BYTES = 32 * 1024 * 1024
MAX_FILE_BYTES = 256 * 1024
MAX_DEPTH = 8

_WEB = frozenset({Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX})
_ENVIRONMENTS = (".venv", "venv", "env")
_TYPE_ENDINGS = (".d.ts", ".d.mts", ".d.cts", ".pyi")
_SOURCE_ENDINGS = (".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx")
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "test", "tests", "__tests__", ".git"})
_PACKAGE = re.compile(r"(?:@[a-z0-9][\w.-]*/)?[a-z0-9_][\w.-]*", re.IGNORECASE)
_MODULE = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class VendoredFile:
    """A file of an imported library."""

    folder: str
    """`types` or `vendor_src`."""
    relative_path: str
    """Path that starts with the name of the library."""
    path: Path

    @property
    def name(self) -> str:
        return f"{self.folder}/{self.relative_path}"

    def content(self) -> bytes:
        """Return the content with secrets masked."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(MAX_FILE_BYTES)
        return masked(content.decode("utf-8", "replace")).encode()


class Dependencies:
    """The libraries that the files of a repository import."""

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

    def vendored_files(self) -> Iterator[VendoredFile]:
        """Yield the files of these libraries that are installed, type declarations first, up to the limits."""
        size = 0
        for one in islice(chain(self._files_in("types"), self._files_in("vendor_src")), MAX_FILES):
            size += one.path.lstat().st_size
            if size > MAX_BYTES:
                return
            yield one

    def _files_in(self, folder: str) -> Iterator[VendoredFile]:
        endings = _TYPE_ENDINGS if folder == "types" else _SOURCE_ENDINGS
        for library, start in self._library_paths():
            for path in _files(start, endings, () if folder == "types" else _TYPE_ENDINGS):
                yield VendoredFile(folder, f"{library}/{path}" if path else start.name, start / path if path else start)

    def _library_paths(self) -> Iterator[tuple[str, Path]]:
        """Yield the name and location of each library."""
        modules = self._root / "node_modules"
        for package in sorted(self._packages):
            yield from self._resolve_inside(package, modules / package)
            typed = f"@types/{package.removeprefix('@').replace('/', '__')}"
            yield from self._resolve_inside(typed, modules / typed)
        if not self._modules:
            return
        for environment in _ENVIRONMENTS:
            for site in sorted((self._root / environment).glob("lib/python3.*/site-packages")):
                for module in sorted(self._modules):
                    yield from self._resolve_inside(module, site / module)
                    yield from self._resolve_inside(f"{module}-stubs", site / f"{module}-stubs")
                    yield from self._resolve_inside(module, site / f"{module}.py")

    def _resolve_inside(self, library: str, location: Path) -> Iterator[tuple[str, Path]]:
        """Yield the location if it exists and does not lead out of the repository through a link."""
        try:
            resolved = location.resolve(strict=True)
        except (OSError, RuntimeError):
            return
        if resolved.is_relative_to(self._root):
            yield library, resolved


def _files(start: Path, endings: Sequence[str], other: Sequence[str]) -> Iterator[str]:
    """Yield the files below `start` by relative path, sorted; links are not followed."""
    if start.is_file():
        if start.name.endswith(tuple(endings)) and start.stat().st_size <= MAX_FILE_BYTES:
            yield ""
        return
    found: list[str] = []
    for folder, folders, files in os.walk(start):
        depth = len(Path(folder).relative_to(start).parts)
        folders[:] = [] if depth >= MAX_DEPTH else sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for name in sorted(files):
            path = Path(folder, name)
            fits = name.endswith(tuple(endings)) and not (other and name.endswith(tuple(other)))
            if fits and not path.is_symlink() and path.stat().st_size <= MAX_FILE_BYTES:
                relative = path.relative_to(start).as_posix()
                if relative.isprintable() and relative.isascii():
                    found.append(relative)
        if len(found) >= MAX_FILES_PER_LIBRARY:
            break
    yield from found[:MAX_FILES_PER_LIBRARY]
