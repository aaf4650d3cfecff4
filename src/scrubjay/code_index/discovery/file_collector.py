"""Deciding of each file that is found whether it is read, and what it is."""

import os
import stat
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

from scrubjay.code_index.discovery.contents import blob_id
from scrubjay.code_index.discovery.file_traits import traits_by_path
from scrubjay.code_index.discovery.ignore_rules import IgnoreRules
from scrubjay.code_index.discovery.languages import is_header, language_by_content, language_by_name
from scrubjay.code_index.discovery.limits import Bounds, Limits
from scrubjay.code_index.discovery.rooted_reader import Beneath
from scrubjay.code_index.discovery.skip_rules import HEAD_BYTES, reason_by_content, reason_by_path
from scrubjay.code_index.discovery.stat_cache import SETTLED_NS, IndexStamp, Remembered, Staged
from scrubjay.code_index.models import FileStamp, Language, Skipped, SourceFile
from scrubjay.core.errors import TooLarge

_CHECK_EVERY = 128
LINK = "a symbolic link"


class Gathering:
    """The files that are read and those that are not, while they are found."""

    def __init__(
        self, bounds: Bounds, limits: Limits, excludes: Sequence[str] = (), remembered: Remembered | None = None
    ) -> None:
        """`remembered` is of an earlier look at the same folder, with the same limits and excludes."""
        remembered = remembered or Remembered()
        self.bounds = bounds
        self.known_staged = remembered.staged
        self.staged: dict[IndexStamp, Staged] = {}
        self._known_files, self._known_stamps = remembered.files, remembered.stamps
        self._known_unwanted = remembered.unwanted
        self._unwanted: dict[str, str] = {}
        self._stamps: dict[str, FileStamp] = {}
        self.removed: set[str] = set()
        self.repositories: list[tuple[str, str]] = []
        self._limits = limits
        self._excludes = IgnoreRules()
        self._excludes.add("", excludes)
        self._files: dict[str, SourceFile] = {}
        self._skipped: dict[str, str] = {}
        self._taken = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all was found."""
        return not (self._files or self._skipped or self.removed)

    def skip(self, path: str, reason: str) -> None:
        """Note that this is not read."""
        self._skipped.setdefault(path, reason)

    def drop(self, path: str) -> None:
        """Forget this one."""
        self._files.pop(path, None)
        self._skipped.pop(path, None)

    def excludes(self, path: str) -> bool:
        """Whether the caller does not want it; a path that ends with `/` is a folder."""
        return self._excludes.ignores(path)

    def take_object(self, path: str, blob: str, size: int, head: Callable[[], bytes | None]) -> None:
        """A file whose content is a git object."""
        if not self._wants(path, size):
            return
        language = language_by_name(path)
        if language is None:
            language = self._language_by_content(path, head())
        if language is not None:
            self._add(SourceFile(path, blob, size, language, traits_by_path(path)))

    def take_file(
        self,
        path: str,
        status: os.stat_result,
        beneath: Beneath,
        *,
        blob: str | None = None,
        staged: str | None = None,
        committed: str | None = None,
        algorithm: str = "sha1",
    ) -> None:
        """A file whose content is the work tree's.

        `blob` is its id where that is known without reading, `staged` the id that the index gives it, `committed` that
        of the commit.
        """
        size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            self.skip(path, LINK if stat.S_ISLNK(status.st_mode) else "not a plain file")
            return
        if size == 0 and blob is None:
            blob = _id_of_nothing(algorithm)
        # Of most files is known what was decided of them: there are many, so each step counts.
        known = self._known_files.get(path) if blob is not None else None
        if known is not None and known.blob == blob and known.size == size and known.dirty == (blob != committed):
            self._count()
            self._add(known)
            return
        if not self._wants(path, size):
            return
        try:
            if blob is None:
                found = self._read_id(path, status, beneath, staged, algorithm)
                if found is None:
                    return
                blob, size = found
            language = language_by_name(path)
            if language is None:
                language = self._language_by_content(path, beneath.read(path, HEAD_BYTES))
        except OSError as error:
            self.skip(path, unreadable(error))
            return
        if language is not None:
            self._add(SourceFile(path, blob, size, language, traits_by_path(path), blob != committed))

    def found(self) -> tuple[list[SourceFile], list[Skipped]]:
        """All of them, each ascending by path."""
        files = [self._files[path] for path in sorted(self._files)]
        plus = sum([file.language is Language.CPP for file in files])
        # Then its headers are C++ as well.
        if plus and plus > sum(file.language is Language.C and not is_header(file.path) for file in files):
            files = [file._replace(language=Language.CPP) if is_header(file.path) else file for file in files]
        return files, [Skipped(path, self._skipped[path]) for path in sorted(self._skipped) if path not in self._files]

    def remember(self, remembered: Remembered) -> None:
        """Note what the next look need not look at again."""
        remembered.files, remembered.stamps, remembered.staged = self._files, self._stamps, self.staged
        remembered.unwanted = self._unwanted

    def _count(self) -> None:
        self._taken += 1
        if self._taken % _CHECK_EVERY == 0:
            self.bounds.check()

    def _wants(self, path: str, size: int) -> bool:
        self._count()
        reason = self._known_unwanted.get(path) or reason_by_path(path)
        if reason is None and self._excludes.ignores(path):
            reason = "excluded, as asked"
        if reason is not None:
            self._unwanted[path] = reason
        elif size > self._limits.max_file_bytes:
            reason = self._too_large()
        if reason is None:
            return True
        self.skip(path, reason)
        return False

    def _too_large(self) -> str:
        return f"larger than {self._limits.max_file_bytes:,} bytes"

    def _add(self, file: SourceFile) -> None:
        self._files[file.path] = file
        if len(self._files) > self._limits.max_files:
            raise TooLarge(
                f"there are more than {self._limits.max_files:,} files to read",
                hint="exclude folders, index a folder within, or allow more files",
            )

    def _read_id(
        self, path: str, status: os.stat_result, beneath: Beneath, staged: str | None, algorithm: str
    ) -> tuple[str, int] | None:
        known = self._known_stamps.get(path)
        if known is not None and known[:4] == _stamp(status, "")[:4]:
            self._stamps[path] = known
            return known.blob, known.size
        began = time.time_ns()
        content = beneath.read(path, self._limits.max_file_bytes + 1)
        if len(content) > self._limits.max_file_bytes:
            self.skip(path, self._too_large())
            return None
        blob = blob_id(content, algorithm)
        if staged is not None and blob != staged and b"\r\n" in content:
            unix = content.replace(b"\r\n", b"\n")
            if blob_id(unix, algorithm) == staged:  # git keeps it with other line ends
                return staged, len(unix)
        after = _stamp(beneath.status(path), blob)
        if after == _stamp(status, blob) and after.size == len(content) and after.mtime_ns < began - SETTLED_NS:
            self._stamps[path] = after
        return blob, len(content)

    def _language_by_content(self, path: str, head: bytes | None) -> Language | None:
        reason = "its git object is missing or damaged" if head is None else reason_by_content(head)
        if reason is not None or head is None:
            self.skip(path, reason or "")
            return None
        return language_by_content(head)


def unreadable(error: OSError) -> str:
    """The reason that the file system gives."""
    return f"it cannot be read ({error.strerror or error})"


@lru_cache(maxsize=8)
def _id_of_nothing(algorithm: str) -> str:
    """The id of an empty file, of which there are many."""
    return blob_id(b"", algorithm)


def _stamp(status: os.stat_result, blob: str) -> FileStamp:
    return FileStamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, blob)
