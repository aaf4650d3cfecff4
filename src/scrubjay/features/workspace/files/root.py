"""The folder that everything is under: which file a path means, and how it is opened without leaving."""

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, ScrubjayError, TooLarge, Unavailable

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# What is no plain file could make us wait for ever.
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
# Who may write in it can have git run programs: by its hooks, and by its settings.
_GIT = ".git"
MAX_DEPTH = 200
MAX_PATH = 4_096
Parts = tuple[str, ...]
"""A place under the root: the names of the folders to it, and its own. The root itself has none."""


class Content(NamedTuple):
    """A file that was read."""

    data: bytes
    status: os.stat_result


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that cannot be left: not by `..`, not by a link, and not by whatever others do to the tree meanwhile.

    A path is first resolved, links and all, and compared with the root by its components. Then each of these is opened
    by its name in the one before and no link is followed any more: there is none on the way, unless it came since.
    """

    path: str
    """Absolute, without links."""
    kept_out: tuple[Parts, ...] = ()
    """Places that are as if they were not there."""
    kept_as_is: tuple[Parts, ...] = ()
    """Places that are not changed."""
    kept_names: frozenset[str] = frozenset()
    """Names of files, in small letters, that are not changed wherever they are."""
    max_file_bytes: int = 10 * 1024 * 1024

    def parts(self, given: str, *, changes: bool = False) -> Parts:
        """Where a path leads, from the root or absolute."""
        if "\0" in given:
            raise InvalidRequest("path: contains a NUL character")
        if len(given) > MAX_PATH:
            raise InvalidRequest(f"path: has more than {MAX_PATH} characters")
        real = os.path.realpath(Path(self.path, given))
        parts = self._under(real)
        if parts is None:
            raise Forbidden(
                f"{shown(given)} is not under the root",
                hint="give a path from the root; the operator can choose another one (SCRUBJAY_FILES_ROOT)",
                details={"reason": "path_traversal_attempt"},
            )
        if len(parts) > MAX_DEPTH:
            raise InvalidRequest(f"path: is more than {MAX_DEPTH} folders deep")
        if any(parts[: len(place)] == place for place in self.kept_out):
            raise Forbidden(
                f"{shown(given)} belongs to this server's own store",
                hint="its tools tell and change what is in there",
                details={"reason": "kept_out"},
            )
        if changes:
            self._refuse_deciding(given, parts)
        return parts

    def _refuse_deciding(self, given: str, parts: Parts) -> None:
        """Nobody changes here what decides about this server, now or when it is next started in some folder."""
        if any(part.lower() == _GIT for part in parts):
            raise Forbidden(
                f"{shown(given)} is git's own",
                hint="what is in there can run programs; change it by git itself",
                details={"reason": "kept_as_is"},
            )
        if (parts and parts[-1].lower() in self.kept_names) or any(
            parts[: len(place)] == place or place[: len(parts)] == parts for place in self.kept_as_is
        ):
            raise Forbidden(
                f"{shown(given)} decides what this server allows",
                hint="only its owner changes that, without it",
                details={"reason": "kept_as_is"},
            )

    def _under(self, real: str) -> Parts | None:
        path = Path(real)
        return path.relative_to(self.path).parts if path.is_relative_to(self.path) else None

    def hides(self, parts: Parts) -> bool:
        return parts in self.kept_out

    def text(self, parts: Parts) -> str:
        """A place as it is told: from the root."""
        return "/".join(parts) or "."

    @contextmanager
    def folder(self, parts: Parts, *, make: bool = False) -> Generator[int]:
        """The folder, open; made, with those that it is in, where it is missing."""
        opened = os.open(self.path, _FOLDER)
        try:
            for part in parts:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=opened)
                deeper = os.open(part, _FOLDER, dir_fd=opened)
                os.close(opened)
                opened = deeper
            yield opened
        finally:
            os.close(opened)

    def status(self, parts: Parts) -> os.stat_result:
        """What the file system knows of it; never of what a link leads to."""
        if not parts:
            return Path(self.path).stat()
        with self.folder(parts[:-1]) as folder:
            return os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)

    def read(self, parts: Parts, *, most: int | None = None) -> Content:
        """A plain file's content; `TooLarge` when it has more than is read."""
        limit = self.max_file_bytes if most is None else most
        if not parts:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with self.folder(parts[:-1]) as folder:
            opened = os.open(parts[-1], _FILE, dir_fd=folder)
        try:
            status = os.fstat(opened)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not stat.S_ISREG(status.st_mode):
                raise InvalidRequest(f"{self.text(parts)} is no plain file", details={"reason": "not_a_file"})
            data = bytearray()
            while len(data) <= limit and (some := os.read(opened, min(1 << 20, limit + 1 - len(data)))):
                data += some
        finally:
            os.close(opened)
        if len(data) > limit or status.st_size > limit:
            raise too_large(self.text(parts), limit)
        return Content(bytes(data), status)

    def read_text(self, parts: Parts, *, most: int | None = None) -> tuple[str, os.stat_result]:
        content = self.read(parts, most=most)
        return text_of(content.data, self.text(parts)), content.status

    def names(self, parts: Parts) -> Sequence[str]:
        """What is in a folder, by name; without what is kept out."""
        with self.folder(parts) as folder:
            return sorted(
                name
                for name in os.listdir(folder)  # noqa: PTH208 - an open one
                if (*parts, name) not in self.kept_out
            )


def text_of(data: bytes, what: str) -> str:
    """What a file says; one that is no text is refused."""
    if b"\0" not in data:
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8")
    raise InvalidRequest(
        f"{what} is no text", hint="only files in UTF-8 are read and edited", details={"reason": "binary_file"}
    )


def too_large(what: str, limit: int) -> TooLarge:
    return TooLarge(
        f"{what} is larger than {limit} bytes",
        hint="the operator can raise SCRUBJAY_FILES_MAX_BYTES",
        details={"reason": "file_too_large", "max_bytes": limit},
    )


def shown(path: str) -> str:
    """A path as it can be told."""
    return path.encode("utf-8", "replace").decode()[:500]


def problem_with(path: str, error: OSError) -> ScrubjayError:
    """What a refusal of the file system means."""
    said = shown(path)
    match error.errno:
        case errno.ENOENT:
            return NotFound(f"{said} does not exist", hint="ls tells what there is", details={"reason": "enoent"})
        case errno.ENOTDIR:
            return InvalidRequest(f"{said} goes through something that is no folder", details={"reason": "enotdir"})
        case errno.EISDIR:
            return InvalidRequest(f"{said} is a folder", hint="ls tells what is in it", details={"reason": "eisdir"})
        case errno.ELOOP:
            return Forbidden(
                f"{said} goes through a link that was not there a moment ago, or through too many",
                hint="try again",
                details={"reason": "path_traversal_attempt"},
            )
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return Forbidden(f"the system does not allow this with {said}", details={"reason": "eacces"})
        case errno.ENAMETOOLONG:
            return InvalidRequest("path: a name in it is too long", details={"reason": "enametoolong"})
        case errno.ENOSPC | errno.EDQUOT:
            return Unavailable("there is no space left on the disk", hint="free some", details={"reason": "enospc"})
        case _:
            return Unavailable(f"{said}: {error.strerror or 'the file system fails'}", hint="try again")
