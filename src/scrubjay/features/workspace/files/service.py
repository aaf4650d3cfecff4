"""All that can be done with files under the root. Each change is done whole, or not at all."""

import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar

import anyio.to_thread

from scrubjay.core.errors import Conflict, InvalidRequest, Misconfigured, NotFound, ScrubjayError
from scrubjay.features.workspace.files.atomic_write import move_beside, replace
from scrubjay.features.workspace.files.lines import Lines
from scrubjay.features.workspace.files.root import Parts, Root, problem_with, shown, text_of, too_large
from scrubjay.features.workspace.files.search import TRUNCATED, find_lines
from scrubjay.features.workspace.isolated import work_apart

MOST_NAMES = 10_000
MOST_ENTRIES = 5_000
SEARCH_SECONDS = 10.0

T = TypeVar("T")

EntryType = Literal["dir", "file", "link", "other"]
Access = Literal["read_write", "read", "write", "none"]


@dataclass(slots=True)
class Entry:
    """Something in a folder."""

    name: str
    type: EntryType
    path: str
    children: "list[Entry] | None" = None
    """What is in it; None for what is no folder, or is deeper than was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """What is known of a file."""

    path: str
    size: int
    type: Literal["regular", "directory", "symlink", "device", "other"]
    access: Access
    atime: datetime
    mtime: datetime
    ctime: datetime
    mode: int
    line_count: int | None
    is_directory: bool
    is_file: bool


@dataclass(frozen=True, slots=True)
class ReadFile:
    """One of several files: its content, or why there is none."""

    path: str
    content: str | None
    error: str | None


@dataclass(slots=True)
class Matches:
    """Lines that were found."""

    matches: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    truncated: bool = False
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class FileService:
    """Files under one root."""

    root: Root
    search_seconds: float = SEARCH_SECONDS
    _changing: Lock = field(default_factory=Lock)
    """Who changes what was read must be alone with it, or another's change is lost."""

    # -- reading ---------------------------------------------------------------------------------------

    async def read(self, path: str) -> str:
        return await self._do(path, lambda parts: self.root.read_text(parts)[0])

    async def read_lines(self, path: str, start_line: int, end_line: int) -> list[str]:
        return await self._do(path, lambda parts: Lines.of(self.root.read_text(parts)[0]).shown(start_line, end_line))

    async def read_multiple(self, paths: Sequence[str]) -> list[ReadFile]:
        """Each file, as far as all together are no larger than one may be."""

        def read() -> list[ReadFile]:
            found: list[ReadFile] = []
            left = self.root.max_file_bytes
            for path in paths:
                try:
                    with _told(path):
                        data = self.root.read(self.root.parts(path)).data
                        if len(data) > left:
                            raise too_large("all that was asked for together", self.root.max_file_bytes)
                        found.append(ReadFile(path, text_of(data, shown(path)), None))
                        left -= len(data)
                except ScrubjayError as error:
                    found.append(ReadFile(path, None, error.message))
            return found

        return await anyio.to_thread.run_sync(read)

    async def ls(self, path: str) -> tuple[list[str], bool]:
        """The names in a folder, and whether there are more."""
        names = await self._do(path, self.root.names)
        return [shown(name) for name in names[:MOST_NAMES]], len(names) > MOST_NAMES

    async def list_directory(self, path: str, depth: int) -> tuple[list[Entry], bool]:
        """What is in a folder, and in those in it, so many levels deep; and whether something was left out."""

        def listed(parts: Parts) -> tuple[list[Entry], bool]:
            left = [MOST_ENTRIES]
            return self._entries(parts, depth, left), left[0] < 0

        return await self._do(path, listed)

    async def get_info(self, path: str) -> FileInfo:
        return await self._do(path, self._info)

    async def search(self, path: str, pattern: str) -> Matches:
        """The lines of a file, or of all files in a folder, that have a match; as many as time and bounds let."""
        parts = await self._do(path, self._existing)
        given = {
            "root": self.root.path,
            "kept_out": self.root.kept_out,
            "max_file_bytes": self.root.max_file_bytes,
            "parts": parts,
            "pattern": pattern,
        }
        done = await work_apart(find_lines, given, seconds=self.search_seconds)
        found = [value for value in done.values if value != TRUNCATED]
        truncated = len(found) < len(done.values) or done.timed_out or done.died
        return Matches(found, truncated, done.timed_out)

    # -- changing --------------------------------------------------------------------------------------

    async def write(self, path: str, content: str, *, appends: bool) -> None:
        def write(parts: Parts) -> None:
            before = self._now(parts)
            data = content.encode("utf-8")
            if before is not None and not stat.S_ISREG(before.st_mode):
                self.root.read(parts)  # says what else it is
            if appends and before is not None:
                old, before = self.root.read(parts)
                data = old + data
            replace(self.root, parts, data, before)

        await self._change(path, write)

    async def insert(self, path: str, after: int, content: str) -> None:
        await self._edit(path, lambda lines: lines.insert(after, content))

    async def replace_lines(self, path: str, start_line: int, end_line: int, content: str | None) -> None:
        await self._edit(path, lambda lines: lines.replace(start_line, end_line, content))

    async def replace_string(self, path: str, old: str, new: str) -> int:
        """Replace the first occurrence; on which line it was."""

        def replaced(parts: Parts) -> int:
            text, before = self.root.read_text(parts)
            place = text.find(old)
            if place < 0:
                raise NotFound(
                    f"{self.root.text(parts)} does not contain the text",
                    hint="old_str must stand there exactly so, with every space",
                    details={"reason": "pattern_not_found"},
                )
            changed = text[:place] + new + text[place + len(old) :]
            replace(self.root, parts, changed.encode("utf-8"), before)
            return text.count("\n", 0, place) + 1

        return await self._change(path, replaced)

    async def move(self, path: str, destination: str) -> None:
        def move(parts: Parts) -> None:
            new = self.root.parts(destination, changes=True)
            if not parts or not new:
                raise InvalidRequest("the root itself is not moved, and nothing takes its place")
            if new[: len(parts)] == parts and new != parts:
                raise InvalidRequest(f"{shown(path)} cannot be moved into itself")
            self.root.status(parts)  # before folders are made for what is not there
            with self.root.folder(parts[:-1]) as old_folder, self.root.folder(new[:-1], make=True) as new_folder:
                try:
                    move_beside(old_folder, parts[-1], new_folder, new[-1])
                except FileExistsError:
                    raise Conflict(
                        f"{shown(destination)} exists already",
                        hint="move it away first: nothing is overwritten by moving",
                        details={"reason": "eexist"},
                    ) from None
                os.fsync(new_folder)
                os.fsync(old_folder)

        await self._change(path, move, follows=False)

    async def create_directory(self, path: str) -> None:
        def create(parts: Parts) -> None:
            with self.root.folder(parts, make=True) as folder:
                os.fsync(folder)

        await self._change(path, create)

    # -- how -------------------------------------------------------------------------------------------

    async def _do(self, path: str, work: Callable[[Parts], T]) -> T:
        def do() -> T:
            with _told(path):
                return work(self.root.parts(path))

        return await anyio.to_thread.run_sync(do)

    async def _change(self, path: str, work: Callable[[Parts], T], *, follows: bool = True) -> T:
        """Without `follows`, a link is itself what is changed, and not what it leads to."""

        def change() -> T:
            with _told(path), self._changing:
                parts = self.root.parts(path, changes=True)
                return work(parts if follows else self._unfollowed(path, parts))

        return await anyio.to_thread.run_sync(change)

    def _unfollowed(self, path: str, parts: Parts) -> Parts:
        whole = Path(self.root.path, path)
        if not whole.is_symlink() or whole.name == "..":
            return parts
        return (*self.root.parts(str(whole.parent)), whole.name)

    async def _edit(self, path: str, edit: Callable[[Lines], None]) -> None:
        def edited(parts: Parts) -> None:
            text, before = self.root.read_text(parts)
            lines = Lines.of(text)
            edit(lines)
            replace(self.root, parts, lines.text.encode("utf-8"), before)

        await self._change(path, edited)

    def _now(self, parts: Parts) -> os.stat_result | None:
        try:
            return self.root.status(parts)
        except FileNotFoundError:
            return None

    def _existing(self, parts: Parts) -> Parts:
        self.root.status(parts)
        return parts

    def _entries(self, parts: Parts, depth: int, left: list[int]) -> list[Entry]:
        found: list[Entry] = []
        with self.root.folder(parts) as folder:
            found_here: list[tuple[str, EntryType]] = [(entry.name, _type_of(entry)) for entry in os.scandir(folder)]
        for name, kind in sorted(found_here):
            if self.root.hides((*parts, name)):
                continue
            left[0] -= 1
            if left[0] < 0:
                break
            inside = (*parts, name)
            entry = Entry(shown(name), kind, shown(self.root.text(inside)))
            if kind == "dir" and depth > 1:
                try:
                    entry.children = self._entries(inside, depth - 1, left)
                except OSError:  # it is closed to us, or gone
                    entry.children = []
            found.append(entry)
        return found

    def _info(self, parts: Parts) -> FileInfo:
        status = self.root.status(parts)
        mode = status.st_mode
        is_file, is_directory = stat.S_ISREG(mode), stat.S_ISDIR(mode)
        return FileInfo(
            path=shown(self.root.text(parts)),
            size=status.st_size,
            type="regular"
            if is_file
            else "directory"
            if is_directory
            else "symlink"
            if stat.S_ISLNK(mode)
            else "device"
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
            else "other",
            access=self._access(parts),
            atime=datetime.fromtimestamp(status.st_atime, UTC),
            mtime=datetime.fromtimestamp(status.st_mtime, UTC),
            ctime=datetime.fromtimestamp(status.st_ctime, UTC),
            mode=stat.S_IMODE(mode),
            line_count=self._line_count(parts) if is_file else None,
            is_directory=is_directory,
            is_file=is_file,
        )

    def _access(self, parts: Parts) -> Access:
        whole = Path(self.root.path, *parts)
        reads, writes = os.access(whole, os.R_OK), os.access(whole, os.W_OK)
        return "read_write" if reads and writes else "read" if reads else "write" if writes else "none"

    def _line_count(self, parts: Parts) -> int | None:
        """None for what is no text, or too large to be read."""
        try:
            return len(Lines.of(self.root.read_text(parts)[0]).lines)
        except (OSError, ScrubjayError):
            return None


def root_of(given: str | None, working_directory: str) -> str:
    """The folder that was chosen, or the one that the server works in; all that there is must be chosen by name."""
    chosen = os.path.realpath(given or working_directory)
    if given is None and chosen == os.sep:
        raise Misconfigured(
            "the server works in /, and that is too much to be the root of files",
            hint="set SCRUBJAY_FILES_ROOT to the folder that callers may work in",
        )
    if not Path(chosen).is_dir():
        raise Misconfigured(f"{chosen} is no folder", hint="set SCRUBJAY_FILES_ROOT to one that there is")
    return chosen


def _type_of(entry: "os.DirEntry[str]") -> EntryType:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "dir"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


@contextmanager
def _told(path: str) -> Generator[None]:
    """What the file system refuses, in our words."""
    try:
        yield
    except OSError as error:
        raise problem_with(path, error) from error
