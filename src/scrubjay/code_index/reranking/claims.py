"""Claims on texts that are being embedded, shared between processes."""

import fcntl
from collections.abc import Iterable
from pathlib import Path
from typing import IO


class Claims:
    """A text is claimed by its key before it is requested. The claims of a process that dies are released at once.

    Between processes a claim is a lock on one byte far beyond the end of an empty file. Such locks belong to the
    process, and closing the file anywhere releases all of them: use one object of this class per file and process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._held: set[str] = set()

    def take(self, keys: Iterable[str]) -> list[str]:
        """Claim the unclaimed keys, and return them."""
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
        except (BlockingIOError, PermissionError):  # systems report a held lock differently
            return False
        self._held.add(key)
        return True

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = self._path.open("ab")
        return self._file


def _place(key: str) -> int:
    """Return 60 bits of the key: file offsets have at most 63."""
    return int(key[:15], 16)
