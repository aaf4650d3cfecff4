"""The root folder of all files: resolve a path, and open it without leaving the root."""

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from scrubjay.core.errors import (
    Forbidden,
    InvalidRequest,
    Misconfigured,
    NotFound,
    ScrubjayError,
    TooLarge,
    Unavailable,
)
from scrubjay.core.protected_paths import SECRET_FOLDERS, fold

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Opening a pipe or device without O_NONBLOCK can block forever.
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
# Write access to it means code execution, because git runs hooks and configured programs. Also the end of the names of
# bare repositories.
_GIT = ".git"
# git takes every folder with one of these sets for a repository; `commondir` names the folder of the other two.
_BARE_REPOSITORIES = (frozenset({"HEAD", "objects", "refs"}), frozenset({"HEAD", "commondir"}))
MAX_DEPTH = 200
MAX_PATH = 4_096
Parts = tuple[str, ...]
"""Components of a path relative to the root; empty for the root itself."""


class FileContent(NamedTuple):
    """Content and status of a file."""

    data: bytes
    status: os.stat_result


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that no path can leave: not by `..`, symbolic links, or concurrent changes of the tree.

    A path is first resolved with all symbolic links and compared with the root. Then each component is opened relative
    to the one before without following links, so a link that was created in between is refused.
    """

    path: str
    """Absolute path without symbolic links."""
    hidden: tuple[Parts, ...] = ()
    """Paths that are not listed and cannot be accessed."""
    read_only: tuple[Parts, ...] = ()
    """Paths that cannot be changed."""
    read_only_names: frozenset[str] = frozenset()
    """File names, folded, that cannot be changed in any folder."""
    max_file_bytes: int = 10 * 1024 * 1024

    def parts(self, path: str, *, changes: bool = False) -> Parts:
        """Resolve a path, absolute or relative to the root; raise `Forbidden` if it is outside, hidden or protected."""
        if "\0" in path:
            raise InvalidRequest("path: contains a NUL character")
        if len(path) > MAX_PATH:
            raise InvalidRequest(f"path: has more than {MAX_PATH} characters")
        real = os.path.realpath(Path(self.path, path))
        parts = self._under(real)
        if parts is None:
            raise Forbidden(
                f"{printable(path)} is not under the root",
                hint="give a path relative to the root; the operator can change the root with SCRUBJAY_FILES_ROOT",
                details={"reason": "path_traversal_attempt"},
            )
        if len(parts) > MAX_DEPTH:
            raise InvalidRequest(f"path: is more than {MAX_DEPTH} folders deep")
        if any(_starts_with(parts, prefix) for prefix in self.hidden):
            raise Forbidden(
                f"{printable(path)} belongs to this server's store",
                hint="use the server's tools to read and change its data",
                details={"reason": "hidden"},
            )
        if any(fold(part) in SECRET_FOLDERS for part in parts):
            raise Forbidden(
                f"{printable(path)} is in a folder for secrets",
                hint="only the owner can use it, outside of this tool",
                details={"reason": "hidden"},
            )
        if changes:
            self._refuse_protected(path, parts)
        return parts

    def _refuse_protected(self, path: str, parts: Parts) -> None:
        """Refuse changes to git's files and to files that configure this server, now or when it next starts."""
        # A link may have a protected name, and its target another one.
        names = {fold(part) for part in (*self._given_names(path), *parts)}
        if any(name.endswith(_GIT) for name in names) or self._is_in_repository(parts):
            raise Forbidden(
                f"{printable(path)} belongs to git",
                hint="files in .git can run programs; change them with git",
                details={"reason": "protected"},
            )
        if not names.isdisjoint(self.read_only_names) or any(
            _starts_with(parts, prefix) or _starts_with(prefix, parts)
            for prefix in (*self.read_only, *self._targets_of_protected_links(parts))
        ):
            raise Forbidden(
                f"{printable(path)} configures this server",
                hint="only the owner can change it, outside of this tool",
                details={"reason": "protected"},
            )

    def _given_names(self, path: str) -> Parts:
        """Return the names in a path as it was given, below the root."""
        given = Path(path)
        if not given.is_absolute():
            return given.parts
        return given.relative_to(self.path).parts if given.is_relative_to(self.path) else given.parts[-1:]

    def _targets_of_protected_links(self, parts: Parts) -> list[Parts]:
        """Return what links with protected names point to, in the folder of a file and in those above."""
        found: list[Parts] = []
        for depth in range(len(parts) + 1):
            for name in sorted(self.read_only_names | {_GIT}):
                link = Path(self.path, *parts[:depth], name)
                if link.is_symlink() and (target := self._under(os.path.realpath(link))) is not None:
                    found.append(target)
        return found

    def _is_in_repository(self, parts: Parts) -> bool:
        """Return whether a path is in a bare repository, which has any name, or would make a folder one."""
        for depth in range(len(parts) + 1):
            folder = Path(self.path, *parts[:depth])
            added = {fold(part) for part in parts[depth : depth + 1]}
            for names in _BARE_REPOSITORIES:
                missing = {fold(name) for name in names if not (folder / name).exists()}
                # The root may be a repository: the owner chose it.
                if (missing or depth) and missing <= added:
                    return True
        return False

    def _under(self, real: str) -> Parts | None:
        path = Path(real)
        return path.relative_to(self.path).parts if path.is_relative_to(self.path) else None

    def hides(self, parts: Parts) -> bool:
        """Return whether a name in a listed folder is left out."""
        return (bool(parts) and fold(parts[-1]) in SECRET_FOLDERS) or any(
            len(parts) == len(hidden) and _starts_with(parts, hidden) for hidden in self.hidden
        )

    def text(self, parts: Parts) -> str:
        """Return the path relative to the root, as text."""
        return "/".join(parts) or "."

    @contextmanager
    def folder(self, parts: Parts, *, create: bool = False) -> Generator[int]:
        """Open a folder and yield its descriptor; with `create`, create it and its missing parents."""
        descriptor = os.open(self.path, _FOLDER)
        try:
            for part in parts:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=descriptor)
                deeper = os.open(part, _FOLDER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = deeper
            yield descriptor
        finally:
            os.close(descriptor)

    def status(self, parts: Parts) -> os.stat_result:
        """Return the status of a file, without following a symbolic link."""
        if not parts:
            return Path(self.path).stat()
        with self.folder(parts[:-1]) as folder:
            return os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)

    def read(self, parts: Parts, *, max_bytes: int | None = None) -> FileContent:
        """Return the content of a regular file; raise `TooLarge` above the limit."""
        limit = self.max_file_bytes if max_bytes is None else max_bytes
        if not parts:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with self.folder(parts[:-1]) as folder:
            descriptor = os.open(parts[-1], _FILE, dir_fd=folder)
        try:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not stat.S_ISREG(status.st_mode):
                raise InvalidRequest(f"{self.text(parts)} is not a regular file", details={"reason": "not_a_file"})
            data = bytearray()
            while len(data) <= limit and (chunk := os.read(descriptor, min(1 << 20, limit + 1 - len(data)))):
                data += chunk
        finally:
            os.close(descriptor)
        if len(data) > limit or status.st_size > limit:
            raise too_large(self.text(parts), limit)
        return FileContent(bytes(data), status)

    def read_text(self, parts: Parts, *, max_bytes: int | None = None) -> tuple[str, os.stat_result]:
        content = self.read(parts, max_bytes=max_bytes)
        return decode_text(content.data, self.text(parts)), content.status

    def names(self, parts: Parts) -> Sequence[str]:
        """Return the sorted names in a folder, without hidden ones."""
        with self.folder(parts) as folder:
            return sorted(
                name
                for name in os.listdir(folder)  # noqa: PTH208 - an open descriptor
                if not self.hides((*parts, name))
            )


def choose_root(configured: str | None, working_directory: str) -> str:
    """Return the configured folder, or the working directory unless that is /, which must be configured explicitly."""
    chosen = os.path.realpath(configured or working_directory)
    if configured is None and chosen == os.sep:
        raise Misconfigured(
            "the server runs in /, which is not used as the root of files by default",
            hint="set SCRUBJAY_FILES_ROOT to the folder that callers may use",
        )
    if not Path(chosen).is_dir():
        raise Misconfigured(f"{chosen} is not a folder", hint="set SCRUBJAY_FILES_ROOT to an existing folder")
    return chosen


def _starts_with(parts: Parts, prefix: Parts) -> bool:
    """Compare as file systems do that ignore case: macOS opens `.Scrubjay` as `.scrubjay`."""
    return len(parts) >= len(prefix) and all(
        fold(part) == fold(other) for part, other in zip(parts, prefix, strict=False)
    )


def decode_text(data: bytes, what: str) -> str:
    """Decode UTF-8; raise `InvalidRequest` for binary data."""
    if b"\0" not in data:
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8")
    raise InvalidRequest(
        f"{what} is not UTF-8 text",
        hint="only UTF-8 text files can be read and edited",
        details={"reason": "binary_file"},
    )


def too_large(what: str, limit: int) -> TooLarge:
    return TooLarge(
        f"{what} is larger than {limit} bytes",
        hint="the operator can raise SCRUBJAY_FILES_MAX_BYTES",
        details={"reason": "file_too_large", "max_bytes": limit},
    )


def printable(path: str) -> str:
    """Return a path as valid text of limited length for messages."""
    return path.encode("utf-8", "replace").decode()[:500]


def translate_os_error(path: str, error: OSError) -> ScrubjayError:
    """Return the domain error for an error of the file system."""
    shown_path = printable(path)
    match error.errno:
        case errno.ENOENT:
            return NotFound(
                f"{shown_path} does not exist", hint="list the folder with ls", details={"reason": "enoent"}
            )
        case errno.ENOTDIR:
            return InvalidRequest(f"{shown_path} has a component that is not a folder", details={"reason": "enotdir"})
        case errno.EISDIR:
            return InvalidRequest(f"{shown_path} is a folder", hint="list it with ls", details={"reason": "eisdir"})
        case errno.ELOOP:
            return Forbidden(
                f"{shown_path} goes through a symbolic link that was just created, or through too many links",
                hint="try again",
                details={"reason": "path_traversal_attempt"},
            )
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return Forbidden(f"the operating system denies access to {shown_path}", details={"reason": "eacces"})
        case errno.ENAMETOOLONG:
            return InvalidRequest("path: a component is too long", details={"reason": "enametoolong"})
        case errno.ENOSPC | errno.EDQUOT:
            return Unavailable("no space left on the disk", hint="free some disk space", details={"reason": "enospc"})
        case _:
            return Unavailable(f"{shown_path}: {error.strerror or 'file system error'}", hint="try again")
