"""A rotating file to which several processes append lines."""

import errno
import fcntl
import os
import resource
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

FILE_NAME = "audit.jsonl"
# The lock is held for milliseconds. A stopped process must not block the others: appending is safe without the lock,
# only rotation is not.
LOCK_SECONDS = 2.0
_RETRY_SECONDS = 0.005


class SharedLines:
    """Appends whole lines by one write each time, so that lines of two processes are never interleaved."""

    def __init__(self, path: Path, *, max_bytes: int, keep_files: int) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._keep_files = keep_files
        self._file: int | None = None

    def append(self, lines: bytes, *, durably: bool = False) -> None:
        """Write all of these lines or none; `durably` calls fsync. Raises `OSError`."""
        with self._lock() as is_locked:
            file = self._current()
            size = os.fstat(file).st_size
            if is_locked and size and size + len(lines) > self._max_bytes:
                self._rotate()
                file, size = self._current(), 0
            written = os.write(file, lines)
            if written != len(lines):
                if is_locked:
                    os.ftruncate(file, size)
                raise _short_write(file, written, len(lines))
            if durably:
                os.fsync(file)

    def open_all(self) -> Sequence[int]:
        """Open every file for reading, newest first; the caller closes them."""
        opened: list[int] = []
        with self._lock():
            for path in (self.path, *self._older()):
                with suppress(FileNotFoundError):
                    opened.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW))
        return opened

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _older(self) -> list[Path]:
        return [self.path.with_name(f"{self.path.name}.{number}") for number in range(1, self._keep_files)]

    def _current(self) -> int:
        """Return the file at the path; another process may have rotated the one opened before."""
        if self._file is not None:
            ours = os.fstat(self._file)
            with suppress(FileNotFoundError):
                there = self.path.lstat()
                if (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino):
                    return self._file
            self.close()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(self.path, flags, 0o600)
        os.fchmod(self._file, 0o600)  # also for an existing file
        return self._file

    def _rotate(self) -> None:
        self.close()
        names = [self.path, *self._older()]
        if len(names) == 1:
            self.path.unlink(missing_ok=True)
        for newer, older in reversed([*pairwise(names)]):
            with suppress(FileNotFoundError):
                newer.replace(older)

    @contextmanager
    def _lock(self) -> Generator[bool]:
        """Yield True if the lock was acquired within `LOCK_SECONDS`."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            yield _acquire(lock)
        finally:
            os.close(lock)


def _short_write(file: int, written: int, wanted: int) -> OSError:
    """Return the error that stopped a write midway; the kernel reports it to the next write only."""
    reason = "the disk is full, or a limit of the file size is reached"
    status = os.fstatvfs(file)
    if status.f_bavail * status.f_frsize < wanted:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit != resource.RLIM_INFINITY and os.fstat(file).st_size + wanted > limit:
        return OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return OSError(f"only {written} of {wanted} bytes could be written: {reason}")


def _acquire(lock: int) -> bool:
    """Try to lock the file for `LOCK_SECONDS`; return True if that succeeded."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_RETRY_SECONDS)
        else:
            return True
