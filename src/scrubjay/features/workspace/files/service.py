"""Operations on files under the root. Each change is atomic."""

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

from scrubjay.core.errors import Conflict, InvalidRequest, NotFound, ScrubjayError
from scrubjay.features.workspace.files.atomic_write import rename_exclusive, replace_file
from scrubjay.features.workspace.files.lines import NumberedLines
from scrubjay.features.workspace.files.root import Parts, Root, decode_text, printable, too_large, translate_os_error
from scrubjay.features.workspace.files.search import TRUNCATED, find_lines
from scrubjay.features.workspace.isolated import run_isolated

MAX_NAMES = 10_000
MAX_ENTRIES = 5_000
SEARCH_SECONDS = 10.0

ResultT = TypeVar("ResultT")

EntryType = Literal["dir", "file", "link", "other"]
Access = Literal["read_write", "read", "write", "none"]


@dataclass(slots=True)
class FolderEntry:
    """An entry of a folder."""

    name: str
    type: EntryType
    path: str
    children: "list[FolderEntry] | None" = None
    """Entries of a folder; None for other types and below the requested depth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """Metadata of a file."""

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
class FileReadResult:
    """The content of one of several files, or the reason why it cannot be read."""

    path: str
    content: str | None
    error: str | None


@dataclass(slots=True)
class SearchMatches:
    """Lines that match a pattern."""

    matches: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    truncated: bool = False
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class FileService:
    """Files under one root."""

    root: Root
    search_seconds: float = SEARCH_SECONDS
    _write_lock: Lock = field(default_factory=Lock)
    """Serialises read-modify-write changes, which would otherwise overwrite each other."""

    # -- reading ---------------------------------------------------------------------------------------

    async def read(self, path: str) -> str:
        return await self._run(path, lambda parts: self.root.read_text(parts)[0])

    async def read_lines(self, path: str, start_line: int, end_line: int) -> list[str]:
        return await self._run(
            path, lambda parts: NumberedLines.of(self.root.read_text(parts)[0]).get(start_line, end_line)
        )

    async def read_multiple(self, paths: Sequence[str]) -> list[FileReadResult]:
        """Read several files, up to the maximum size of one file in total."""

        def read() -> list[FileReadResult]:
            found: list[FileReadResult] = []
            left = self.root.max_file_bytes
            for path in paths:
                try:
                    with _translated_os_errors(path):
                        data = self.root.read(self.root.parts(path)).data
                        if len(data) > left:
                            raise too_large("the total of the requested files", self.root.max_file_bytes)
                        found.append(FileReadResult(path, decode_text(data, printable(path)), None))
                        left -= len(data)
                except ScrubjayError as error:
                    found.append(FileReadResult(path, None, error.message))
            return found

        return await anyio.to_thread.run_sync(read)

    async def ls(self, path: str) -> tuple[list[str], bool]:
        """Return the names in a folder, and True if there are more."""
        names = await self._run(path, self.root.names)
        return [printable(name) for name in names[:MAX_NAMES]], len(names) > MAX_NAMES

    async def list_directory(self, path: str, depth: int) -> tuple[list[FolderEntry], bool]:
        """Return the entries of a folder, `depth` levels deep, and True if there are more."""

        def listed(parts: Parts) -> tuple[list[FolderEntry], bool]:
            left = [MAX_ENTRIES]
            return self._entries(parts, depth, left), left[0] < 0

        return await self._run(path, listed)

    async def get_info(self, path: str) -> FileInfo:
        return await self._run(path, self._info)

    async def search(self, path: str, pattern: str) -> SearchMatches:
        """Return matching lines of a file, or of all files in a folder, within the limits of time and number."""
        parts = await self._run(path, self._existing)
        request = {
            "root": self.root.path,
            "hidden": self.root.hidden,
            "max_file_bytes": self.root.max_file_bytes,
            "parts": parts,
            "pattern": pattern,
        }
        done = await run_isolated(find_lines, request, seconds=self.search_seconds)
        found = [value for value in done.values if value != TRUNCATED]
        truncated = len(found) < len(done.values) or done.timed_out or done.died
        return SearchMatches(found, truncated, done.timed_out)

    # -- changing --------------------------------------------------------------------------------------

    async def write(self, path: str, content: str, *, append: bool) -> None:
        def write(parts: Parts) -> None:
            before = self._status_or_none(parts)
            data = content.encode("utf-8")
            if before is not None and not stat.S_ISREG(before.st_mode):
                self.root.read(parts)  # raises the error for its type
            if append and before is not None:
                old, before = self.root.read(parts)
                data = old + data
            replace_file(self.root, parts, data, before)

        await self._change(path, write)

    async def insert(self, path: str, after: int, content: str) -> None:
        await self._edit(path, lambda lines: lines.insert(after, content))

    async def replace_lines(self, path: str, start_line: int, end_line: int, content: str | None) -> None:
        await self._edit(path, lambda lines: lines.replace(start_line, end_line, content))

    async def replace_string(self, path: str, old: str, new: str) -> int:
        """Replace the first occurrence and return its line number."""

        def replaced(parts: Parts) -> int:
            text, before = self.root.read_text(parts)
            position = text.find(old)
            if position < 0:
                raise NotFound(
                    f"{self.root.text(parts)} does not contain the text",
                    hint="old_str must match the file exactly, including whitespace",
                    details={"reason": "pattern_not_found"},
                )
            changed = text[:position] + new + text[position + len(old) :]
            replace_file(self.root, parts, changed.encode("utf-8"), before)
            return text.count("\n", 0, position) + 1

        return await self._change(path, replaced)

    async def move(self, path: str, destination: str) -> None:
        def move(parts: Parts) -> None:
            new = self.root.parts(destination, changes=True)
            if not parts or not new:
                raise InvalidRequest("the root itself cannot be moved or replaced")
            if new[: len(parts)] == parts and new != parts:
                raise InvalidRequest(f"{printable(path)} cannot be moved into itself")
            self.root.status(parts)  # raises for a missing file before folders are created
            with self.root.folder(parts[:-1]) as old_folder, self.root.folder(new[:-1], create=True) as new_folder:
                try:
                    rename_exclusive(old_folder, parts[-1], new_folder, new[-1])
                except FileExistsError:
                    raise Conflict(
                        f"{printable(destination)} already exists",
                        hint="move it away first: move never overwrites",
                        details={"reason": "eexist"},
                    ) from None
                os.fsync(new_folder)
                os.fsync(old_folder)

        await self._change(path, move, follows=False)

    async def create_directory(self, path: str) -> None:
        def create(parts: Parts) -> None:
            with self.root.folder(parts, create=True) as folder:
                os.fsync(folder)

        await self._change(path, create)

    # -- helpers ---------------------------------------------------------------------------------------

    async def _run(self, path: str, work: Callable[[Parts], ResultT]) -> ResultT:
        def do() -> ResultT:
            with _translated_os_errors(path):
                return work(self.root.parts(path))

        return await anyio.to_thread.run_sync(do)

    async def _change(self, path: str, work: Callable[[Parts], ResultT], *, follows: bool = True) -> ResultT:
        """Run a change under the lock. Without `follows`, change a symbolic link itself instead of its target."""

        def change() -> ResultT:
            with _translated_os_errors(path), self._write_lock:
                parts = self.root.parts(path, changes=True)
                return work(parts if follows else self._without_following(path, parts))

        return await anyio.to_thread.run_sync(change)

    def _without_following(self, path: str, parts: Parts) -> Parts:
        whole = Path(self.root.path, path)
        if not whole.is_symlink() or whole.name == "..":
            return parts
        return (*self.root.parts(str(whole.parent)), whole.name)

    async def _edit(self, path: str, edit: Callable[[NumberedLines], None]) -> None:
        def edited(parts: Parts) -> None:
            text, before = self.root.read_text(parts)
            lines = NumberedLines.of(text)
            edit(lines)
            replace_file(self.root, parts, lines.text.encode("utf-8"), before)

        await self._change(path, edited)

    def _status_or_none(self, parts: Parts) -> os.stat_result | None:
        try:
            return self.root.status(parts)
        except FileNotFoundError:
            return None

    def _existing(self, parts: Parts) -> Parts:
        self.root.status(parts)
        return parts

    def _entries(self, parts: Parts, depth: int, left: list[int]) -> list[FolderEntry]:
        listed: list[FolderEntry] = []
        with self.root.folder(parts) as folder:
            entries: list[tuple[str, EntryType]] = [(entry.name, _type_of(entry)) for entry in os.scandir(folder)]
        for name, kind in sorted(entries):
            if self.root.hides((*parts, name)):
                continue
            left[0] -= 1
            if left[0] < 0:
                break
            inside = (*parts, name)
            entry = FolderEntry(printable(name), kind, printable(self.root.text(inside)))
            if kind == "dir" and depth > 1:
                try:
                    entry.children = self._entries(inside, depth - 1, left)
                except OSError:  # no permission, or deleted
                    entry.children = []
            listed.append(entry)
        return listed

    def _info(self, parts: Parts) -> FileInfo:
        status = self.root.status(parts)
        mode = status.st_mode
        is_file, is_directory = stat.S_ISREG(mode), stat.S_ISDIR(mode)
        return FileInfo(
            path=printable(self.root.text(parts)),
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
        """Return the number of lines; None if the file is binary or too large."""
        try:
            return len(NumberedLines.of(self.root.read_text(parts)[0]).lines)
        except (OSError, ScrubjayError):
            return None


def _type_of(entry: "os.DirEntry[str]") -> EntryType:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "dir"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


@contextmanager
def _translated_os_errors(path: str) -> Generator[None]:
    """Translate errors of the file system into domain errors."""
    try:
        yield
    except OSError as error:
        raise translate_os_error(path, error) from error
