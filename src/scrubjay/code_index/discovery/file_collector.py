"""Collect files: decide for each file found whether it is read, and which language and traits it has."""

import os
import stat
import time
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from scrubjay.code_index.discovery.contents import DAMAGED, blob_id
from scrubjay.code_index.discovery.file_traits import traits_by_path
from scrubjay.code_index.discovery.ignore_rules import IgnoreRules
from scrubjay.code_index.discovery.languages import is_header, language_by_content, language_by_name
from scrubjay.code_index.discovery.limits import Deadline, IndexLimits
from scrubjay.code_index.discovery.rooted_reader import RootedReader
from scrubjay.code_index.discovery.skip_rules import HEAD_BYTES, reason_by_content, reason_by_path
from scrubjay.code_index.discovery.stat_cache import RACY_NS, GitIndex, IndexStamp, StatCache
from scrubjay.code_index.models import FileStamp, Language, Skipped, SourceFile
from scrubjay.core.errors import TooLarge
from scrubjay.core.protected_paths import NOTHING_KEPT_OUT, KeptOut

_CHECK_EVERY = 128
LINK = "a symbolic link"


class FileCollector:
    """Collects the files to read, and the skipped ones with the reason."""

    def __init__(
        self,
        deadline: Deadline,
        limits: IndexLimits,
        excludes: Sequence[str] = (),
        stat_cache: StatCache | None = None,
        kept_out: KeptOut = NOTHING_KEPT_OUT,
        kept_out_folders: Collection[tuple[int, int]] = (),
    ) -> None:
        """`stat_cache` is the cache of an earlier scan of this folder with the same limits, excludes and protection.

        `kept_out_folders` are devices and inodes of folders that are not entered.
        """
        stat_cache = stat_cache or StatCache()
        self.deadline = deadline
        self.cached_indexes = stat_cache.indexes
        self.indexes: dict[IndexStamp, GitIndex] = {}
        self._known_files, self._known_stamps = stat_cache.files, stat_cache.stamps
        self._known_skip_reasons = stat_cache.skip_reasons
        self._skip_reasons: dict[str, str] = {}
        self._stamps: dict[str, FileStamp] = {}
        self.removed: set[str] = set()
        self.repositories: list[tuple[str, str]] = []
        self.kept_out_folders = kept_out_folders
        self._kept_out = kept_out
        self._limits = limits
        self._excludes = IgnoreRules()
        self._excludes.add("", excludes)
        self._files: dict[str, SourceFile] = {}
        self._skipped: dict[str, str] = {}
        self._seen_count = 0

    @property
    def is_empty(self) -> bool:
        """True if nothing was found."""
        return not (self._files or self._skipped or self.removed)

    def skip(self, path: str, reason: str) -> None:
        """Record that this path is not read; that it is protected goes before any other reason."""
        self._skipped.setdefault(path, self._kept_out.reason(path) or reason)

    def drop(self, path: str) -> None:
        """Remove this path from the result."""
        self._files.pop(path, None)
        self._skipped.pop(path, None)

    def excludes(self, path: str) -> bool:
        """Return whether the path is protected or excluded by the caller; a path that ends with `/` is a folder."""
        return self.reason_to_exclude(path) is not None

    def reason_to_exclude(self, path: str) -> str | None:
        """Return why `excludes` is true; None if it is not."""
        return self._kept_out.reason(path) or ("excluded by the caller" if self._excludes.ignores(path) else None)

    def add_object(self, path: str, blob: str, size: int, head: Callable[[], bytes | None]) -> None:
        """Add a file whose content is a git object."""
        if not self._should_read(path, size):
            return
        language = language_by_name(path)
        if language is None:
            language = self._language_by_content(path, head())
        if language is not None:
            self._add(SourceFile(path, blob, size, language, traits_by_path(path)))

    def add_file(
        self,
        path: str,
        status: os.stat_result,
        rooted: RootedReader,
        *,
        blob: str | None = None,
        staged: str | None = None,
        committed: str | None = None,
        algorithm: str = "sha1",
    ) -> None:
        """Add a file of the work tree.

        `blob` is its id if it is known without reading, `staged` its id in git's index, `committed` its id in the
        commit.
        """
        size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            self.skip(path, LINK if stat.S_ISLNK(status.st_mode) else "not a regular file")
            return
        if size == 0 and blob is None:
            blob = _empty_blob_id(algorithm)
        # For most files the decision is cached. There are many files, so each step here costs.
        known = self._known_files.get(path) if blob is not None else None
        if known is not None and known.blob == blob and known.size == size and known.dirty == (blob != committed):
            self._count()
            self._add(known)
            return
        if not self._should_read(path, size):
            return
        try:
            if blob is None:
                found = self._read_blob_id(path, status, rooted, staged, algorithm)
                if found is None:
                    return
                blob, size = found
            language = language_by_name(path)
            if language is None:
                language = self._language_by_content(path, rooted.read(path, HEAD_BYTES))
        except OSError as error:
            self.skip(path, unreadable_reason(error))
            return
        if language is not None:
            self._add(SourceFile(path, blob, size, language, traits_by_path(path), blob != committed))

    def result(self) -> tuple[list[SourceFile], list[Skipped]]:
        """Return the files and the skipped paths, each sorted by path."""
        files = [self._files[path] for path in sorted(self._files)]
        plus = sum([file.language is Language.CPP for file in files])
        # The repository is mostly C++, so its headers are C++ too.
        if plus and plus > sum(file.language is Language.C and not is_header(file.path) for file in files):
            files = [file._replace(language=Language.CPP) if is_header(file.path) else file for file in files]
        return files, [Skipped(path, self._skipped[path]) for path in sorted(self._skipped) if path not in self._files]

    def update_cache(self, stat_cache: StatCache) -> None:
        """Store what the next scan can reuse."""
        stat_cache.files, stat_cache.stamps, stat_cache.indexes = self._files, self._stamps, self.indexes
        stat_cache.skip_reasons = self._skip_reasons

    def _count(self) -> None:
        self._seen_count += 1
        if self._seen_count % _CHECK_EVERY == 0:
            self.deadline.check()

    def _should_read(self, path: str, size: int) -> bool:
        self._count()
        reason = self._known_skip_reasons.get(path) or reason_by_path(path) or self.reason_to_exclude(path)
        if reason is not None:
            self._skip_reasons[path] = reason
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
                hint="exclude folders, index a subfolder, or allow more files",
            )

    def _read_blob_id(
        self, path: str, status: os.stat_result, rooted: RootedReader, staged: str | None, algorithm: str
    ) -> tuple[str, int] | None:
        known = self._known_stamps.get(path)
        if known is not None and known[:4] == _stamp(status, "")[:4]:
            self._stamps[path] = known
            return known.blob, known.size
        began = time.time_ns()
        content = rooted.read(path, self._limits.max_file_bytes + 1)
        if len(content) > self._limits.max_file_bytes:
            self.skip(path, self._too_large())
            return None
        blob = blob_id(content, algorithm)
        if staged is not None and blob != staged and b"\r\n" in content:
            unix = content.replace(b"\r\n", b"\n")
            if blob_id(unix, algorithm) == staged:  # git stores it with other line endings
                return staged, len(unix)
        after = _stamp(rooted.status(path), blob)
        if after == _stamp(status, blob) and after.size == len(content) and after.mtime_ns < began - RACY_NS:
            self._stamps[path] = after
        return blob, len(content)

    def _language_by_content(self, path: str, head: bytes | None) -> Language | None:
        reason = DAMAGED if head is None else reason_by_content(head)
        if reason is not None or head is None:
            self.skip(path, reason or "")
            return None
        return language_by_content(head)


def unreadable_reason(error: OSError) -> str:
    """Return the skip reason for an error of the file system."""
    return f"it cannot be read ({error.strerror or error})"


@lru_cache(maxsize=8)
def _empty_blob_id(algorithm: str) -> str:
    """Return the id of an empty file; there are many of them."""
    return blob_id(b"", algorithm)


def _stamp(status: os.stat_result, blob: str) -> FileStamp:
    return FileStamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, blob)
