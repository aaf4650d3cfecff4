"""Which texts are being asked for now, by this process and by others."""

import fcntl
from collections.abc import Iterable
from pathlib import Path
from typing import IO


class Claims:
    """A text is claimed by its key before it is asked for. What a process that dies had claimed is free at once.

    Between processes a claim is a lock on one byte, far behind the end of an empty file. Such locks belong to the
    process, and closing the file anywhere in it lets go of all: a process has one object of this class for a file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._held: set[str] = set()

    def take(self, keys: Iterable[str]) -> list[str]:
        """Claim what nobody has claimed; which of these that was."""
        return [key for key in keys if self._take(key)]

    def release(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._held.remove(key)
            fcntl.lockf(self._opened(), fcntl.LOCK_UN, 1, _place(key))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _take(self, key: str) -> bool:
        if key in self._held:
            return False
        try:
            fcntl.lockf(self._opened(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):  # systems differ in what they call a lock that another holds
            return False
        self._held.add(key)
        return True

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = self._path.open("ab")
        return self._file


def _place(key: str) -> int:
    """Sixty bits of the key: a file has no place beyond 63."""
    return int(key[:15], 16)
