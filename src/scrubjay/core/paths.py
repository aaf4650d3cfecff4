"""Paths as users write them, and files of the home directory that several packages know."""

import os
import stat
from contextlib import suppress
from pathlib import Path

# The settings file that is looked for in the working directory.
SETTINGS_FILE = "scrubjay.toml"
# The file in the home directory that holds code indexes.
CODE_DATABASE = "code.db"
# Everything that the server keeps in the home directory.
STORE_NAMES = (
    *("scrubjay.db", "scrubjay.db-wal", "scrubjay.db-shm", "scrubjay.lock"),
    *(CODE_DATABASE, f"{CODE_DATABASE}-wal", f"{CODE_DATABASE}-shm", "code.lock"),
    *("derived", "code", "backups", "hooks", "audit.jsonl", "audit.lock", "server.json", "last-backup.json"),
)
_OTHERS = 0o077


def absolute_path(path: Path | None) -> Path | None:
    """Return the path with `~` expanded, absolute and without `..`; None stays None.

    `~` stays as it is where there is no home directory: `Path.expanduser` would raise.
    """
    return Path(os.path.abspath(os.path.expanduser(path))) if path is not None else None  # noqa: PTH100, PTH111


def make_private(home: Path) -> None:
    """Take the rights of other users from the files and folders of the store.

    They are created without these rights; earlier versions, copies and restored backups may have them. The home itself
    may also hold files of the owner and keeps its mode.
    """
    for name in STORE_NAMES:
        path = home / name
        with suppress(OSError):  # missing, or of another user
            mode = path.lstat().st_mode
            if mode & _OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS)


def create_private(file: Path) -> None:
    """Create an empty file that only its owner can use, unless it exists.

    An existing file is not opened: closing a second descriptor would drop the POSIX locks that this process has on it.
    """
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def has_code_index(home: Path) -> bool:
    """Return whether any repository was indexed: the first index creates the file."""
    return (home / CODE_DATABASE).exists()
