"""Take over a store that was written under the product's previous name, Recollect."""

import fcntl
import logging
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from scrubjay.core.errors import Unavailable
from scrubjay.db.sqlite.connections import Connection

logger = logging.getLogger("scrubjay.db")

DEFAULT_HOME = Path("~/.scrubjay")
_PREVIOUS_HOME = Path("~/.recollect")
_PREVIOUS_DATABASE = "recollect.db"
_PREVIOUS_LOCK = "recollect.lock"


def adopt_previous_home(home: Path, database: str, busy_seconds: float) -> None:
    """Move a store of the previous name to `home`, unless there is a store already.

    Looks for the old database file in `home` itself and, for the default home, in the old default folder. Moves
    the folder's other files first and the database last, so that a process killed midway leaves a store that the
    next start moves on. Raises `Unavailable` while a process of the previous version has the store open; nothing
    has changed then.
    """
    folder = _find_previous(home, database)
    if folder is None:
        return
    with _locked(folder / _PREVIOUS_LOCK):
        if _find_previous(home, database) != folder:  # another process moved it while this one waited
            return
        _close_log(folder / _PREVIOUS_DATABASE, busy_seconds)
        try:
            _move(folder, home, database)
        except OSError as error:
            raise Unavailable(
                f"the store in {folder} could not be moved to {home} ({error.strerror})",
                hint=f"nothing is lost: move the folder yourself, or set SCRUBJAY_HOME={folder}",
            ) from error
    logger.warning(
        "the store of Recollect, this program's previous name, was moved", extra={"from": str(folder), "to": str(home)}
    )


def _find_previous(home: Path, database: str) -> Path | None:
    if (home / database).exists():
        return None
    folders = [home]
    if home == DEFAULT_HOME.expanduser():
        folders.append(_PREVIOUS_HOME.expanduser())
    return next((folder for folder in folders if (folder / _PREVIOUS_DATABASE).exists()), None)


@contextmanager
def _locked(lock: Path) -> Generator[None]:
    """Hold the lock that writers of the previous version take before each write."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _close_log(database: Path, busy_seconds: float) -> None:
    """Bring the write-ahead log into the database file, which works only while no other process has it open."""
    connection = Connection(database, busy_seconds)
    try:
        connection.pragma("journal_mode", "delete")
    except apsw.BusyError as error:
        raise Unavailable(
            f"the store in {database.parent} is in use by a process of the previous version, Recollect",
            hint="stop that process, then start Scrubjay again: it moves the store by itself",
        ) from error
    finally:
        connection.close()


def _move(folder: Path, home: Path, database: str) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder != home:
        _move_entries(folder, home, skip={_PREVIOUS_DATABASE, _PREVIOUS_LOCK})
    (folder / _PREVIOUS_DATABASE).rename(home / database)
    _sync(home)
    (folder / _PREVIOUS_LOCK).unlink()
    if folder != home:
        with suppress(OSError):  # a file that both folders have stays where it is
            folder.rmdir()


def _move_entries(folder: Path, target: Path, *, skip: set[str]) -> None:
    for entry in [entry for entry in folder.iterdir() if entry.name not in skip]:
        place = target / entry.name
        if not place.exists():
            entry.rename(place)
        elif entry.is_dir() and place.is_dir():
            _move_entries(entry, place, skip=set())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
