"""A file that several processes append lines to, and that is put aside when it becomes too large."""

import fcntl
import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

FILE_NAME = "audit.jsonl"
# Who holds the lock does so for some milliseconds. One that was stopped in the middle must not silence the others:
# appending is safe without the lock, only putting the file aside is not.
LOCK_SECONDS = 2.0
_LOOK_SECONDS = 0.005


class SharedLines:
    """Appends whole lines by one write each time, so that those of two processes are never mixed."""

    def __init__(self, path: Path, *, max_bytes: int, keep_files: int) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._keep_files = keep_files
        self._file: int | None = None

    def append(self, lines: bytes, *, durably: bool = False) -> None:
        """Write these lines, all of them or none; `durably` is to survive a power cut. Raises `OSError`."""
        with self._lock() as alone:
            file = self._current()
            size = os.fstat(file).st_size
            if alone and size and size + len(lines) > self._max_bytes:
                self._put_aside()
                file, size = self._current(), 0
            written = os.write(file, lines)
            if written != len(lines):
                if alone:
                    os.ftruncate(file, size)
                raise OSError(f"only {written} of {len(lines)} bytes could be written")
            if durably:
                os.fsync(file)

    def open_all(self) -> Sequence[int]:
        """Every file, the newest first, opened for reading at one moment; the caller closes them."""
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
        """The file at the path: another process may have put aside the one that was open here."""
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
        os.fchmod(self._file, 0o600)  # also of a file that was there before
        return self._file

    def _put_aside(self) -> None:
        self.close()
        names = [self.path, *self._older()]
        if len(names) == 1:
            self.path.unlink(missing_ok=True)
        for newer, older in reversed([*pairwise(names)]):
            with suppress(FileNotFoundError):
                newer.replace(older)

    @contextmanager
    def _lock(self) -> Generator[bool]:
        """Whether no other process is here at the same time."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            yield _locked(lock)
        finally:
            os.close(lock)


def _locked(lock: int) -> bool:
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_LOOK_SECONDS)
        else:
            return True
