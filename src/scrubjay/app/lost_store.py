"""Stores whose database was lost: it is missing or empty beside other files of a used store.

Starting such a store would hide the loss behind an empty store that passes every check.
"""

import fcntl
import json
import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scrubjay.app.sqlite_maintenance import check_store, copy_database
from scrubjay.core.atomic_files import sync
from scrubjay.core.errors import Conflict, InvalidRequest, StoreUnusable, Unavailable
from scrubjay.core.paths import CODE_DATABASE
from scrubjay.core.temporary_files import temporary_beside
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.errors import lock_timeout, translated_errors
from scrubjay.db.sqlite.schema import APPLICATION_ID, connect_and_migrate, is_empty, load_migrations, newest_version
from scrubjay.db.sqlite.schema_version import newer_schema, schema_version

DATABASE, LOCK = "scrubjay.db", "scrubjay.lock"
BACKUPS, LAST_BACKUP = "backups", "last-backup.json"
# A log of changes that were not yet copied into the database when it was lost. SQLite would delete the one of an empty
# database, and apply it to a restored one.
_LOG, _LOST_LOG = f"{DATABASE}-wal", f"{DATABASE}-wal.lost"
# Files that exist only after a store was opened and used. `code.db` and the file of a server are created after it.
_TRACES = (CODE_DATABASE, "server.json", LAST_BACKUP, "derived/memories-*.bin")
# Calls that succeed only with a store. Others are recorded by homes that never had one.
_STORE_CALL = re.compile(
    rb'"tool":"(?:remember|remember_many|recall|forget|correct|list_memories|add_memory|store_fact|working_store|think'
    rb'|import_database|export_database|create_task|start_episode)".*"outcome":"ok"'
)
# SQLite keeps the application id of a database in its header.
_HEADER_BYTES, _APPLICATION_ID_AT = 100, 68


def find_traces(home: Path) -> Sequence[str]:
    """Return the names of files in the home that prove that a store was used there."""
    found = [path for pattern in _TRACES for path in sorted(home.glob(pattern))]
    # Not exports: files to import are put into this folder, also before the first start.
    found += [path for path in sorted(home.glob(f"{BACKUPS}/*")) if _is_store(path)]
    found += [path for path in sorted(home.glob("audit.jsonl*")) if _records_store_calls(path)]
    return [str(path.relative_to(home)) for path in found]


def refuse_loss(home: Path, *, with_log: bool) -> None:
    """Raise `StoreUnusable` if there are traces of a store; call it if its database is missing or empty.

    `with_log` counts a write-ahead log as a trace; only before SQLite has opened the database can it be an old one.
    """
    traces = [*find_traces(home), *([_LOG] if with_log and _size(home / _LOG) else [])]
    if traces:
        more = f" and {len(traces) - 3} more" if len(traces) > 3 else ""
        raise StoreUnusable(
            f"{DATABASE} in {home} is missing or empty, but the folder has files of a used store: "
            f"{', '.join(traces[:3])}{more}",
            hint=f"{_way_to_restore(home)}; to start with an empty store instead, run `scrubjay store init`",
            details={"lost": str(home / DATABASE), "traces": traces},
        )


def describe_store(home: Path, busy_seconds: float) -> str:
    """Return the location, schema version and size of the store, without creating or changing it.

    Raise `StoreUnusable` if its database was lost, is damaged, or was written by a newer release.
    """
    database = home / DATABASE
    if not (size := _size(database)):
        refuse_loss(home, with_log=True)
        return f"{home}, no store yet"
    with translated_errors():
        connection = Connection(database, busy_seconds, read_only=True)
        try:
            version, known, is_new = schema_version(connection), newest_version(), is_empty(connection)
            if version > known:
                raise newer_schema(connection, version, known)
        finally:
            connection.close()
    if is_new:
        refuse_loss(home, with_log=False)
    older = f", which the next start migrates to {known}" if version < known else ""
    return f"{home}, schema version {version}{older}, {size:,} bytes"


def set_log_aside(home: Path) -> None:
    """Rename the write-ahead log of a lost database; call it under the writers' lock."""
    if _size(home / _LOG):
        (home / _LOG).replace(home / _LOST_LOG)


def record_backup(home: Path, target: Path) -> None:
    """Remember where the last backup was written, for the day on which the store is lost."""
    written = {"path": str(target.absolute()), "at": datetime.now(UTC).isoformat(timespec="seconds")}
    with suppress(OSError):  # the backup itself is complete
        temporary = temporary_beside(home / LAST_BACKUP)
        temporary.write_text(json.dumps(written), "utf-8")
        temporary.replace(home / LAST_BACKUP)


# -- restoring -------------------------------------------------------------------------------------


def restore_store(backup: Path, home: Path, busy_seconds: float) -> None:
    """Copy a backup into a home without a database, after the copy was migrated and verified.

    Raise `Conflict` if there is a database, `StoreUnusable` if the backup is damaged or no store.
    """
    if not backup.is_file():
        raise InvalidRequest(f"there is no file {backup}", hint="give the path of a file of `scrubjay store backup`")
    if not _is_store(backup):
        raise StoreUnusable(
            f"{backup} is not a copy of a store",
            hint="give a file of `scrubjay store backup`; for a file of export_database, run `scrubjay store init`, "
            "then `scrubjay transfer import-database FILE`",
        )
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = temporary_beside(home / DATABASE)
    try:
        with _locked(home / LOCK, busy_seconds), translated_errors():
            if has_database(home, busy_seconds):
                raise store_exists(home)
            copy_database(backup, temporary, busy_seconds)
            _migrate_and_verify(temporary, backup, busy_seconds)
            set_log_aside(home)
            (home / f"{DATABASE}-shm").unlink(missing_ok=True)
            sync(temporary)
            temporary.replace(home / DATABASE)
            sync(home)
    except OSError as error:
        raise Unavailable(f"cannot write {home} ({error.strerror or error})", hint="check SCRUBJAY_HOME") from error
    finally:
        for name in (temporary.name, f"{temporary.name}-wal", f"{temporary.name}-shm"):
            temporary.with_name(name).unlink(missing_ok=True)


def _migrate_and_verify(copy: Path, backup: Path, busy_seconds: float) -> None:
    connect_and_migrate(copy, busy_seconds, load_migrations()).close()
    if problems := check_store(copy, None, busy_seconds).problems:
        raise StoreUnusable(f"{backup} is damaged: {'; '.join(problems[:3])}", hint="restore an older backup")


def has_database(home: Path, busy_seconds: float) -> bool:
    """Return whether the home has a database that is not empty. A damaged one counts: its owner decides about it."""
    if not _size(home / DATABASE):
        return False
    try:
        with translated_errors():
            connection = Connection(home / DATABASE, busy_seconds, read_only=True)
            try:
                return not is_empty(connection)
            finally:
                connection.close()
    except StoreUnusable:
        return True


def store_exists(home: Path) -> Conflict:
    """Return the error for a home that has a database already."""
    return Conflict(
        f"{home} has a database already, which is never replaced",
        hint=f"stop all processes that use it, and move {DATABASE} and {_LOG} to another folder first",
    )


@contextmanager
def _locked(lock: Path, busy_seconds: float) -> Generator[None]:
    """Hold the writers' lock; raise `Busy` if another process holds it."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise lock_timeout(busy_seconds) from error
    finally:
        os.close(descriptor)


# -- backups ---------------------------------------------------------------------------------------


def _way_to_restore(home: Path) -> str:
    newest = max(_backups(home), key=lambda path: path.stat().st_mtime, default=None)
    if newest is None:
        return "no backup was found: stop all processes and put the file back, or run `scrubjay store restore FILE`"
    written = datetime.fromtimestamp(newest.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")
    if _is_store(newest):
        command = f"run `scrubjay store restore {newest}`"
    else:
        command = f"run `scrubjay store init`, then `scrubjay transfer import-database {newest.name}`"
    return f"the newest backup is {newest} ({written}): {command}"


def _backups(home: Path) -> Iterator[Path]:
    """Yield the backups in the home and the last one that was written elsewhere, if they still exist."""
    for path in (home / BACKUPS).glob("*"):
        if path.suffix == ".jsonl" or _is_store(path):
            yield path
    for path in home.glob("*"):
        if path.name != DATABASE and _is_store(path):
            yield path
    with suppress(OSError, ValueError, LookupError, TypeError):  # there is none, or it is unreadable
        written: dict[str, Any] = json.loads((home / LAST_BACKUP).read_text("utf-8"))
        if _is_store(path := Path(written["path"])):
            yield path


def _is_store(path: Path) -> bool:
    """Return whether the file is a SQLite database of ours. Never call it for one that this process has open.

    Closing it would drop the locks that SQLite holds.
    """
    if not path.is_file():  # opening a named pipe would wait forever
        return False
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return False
    return int.from_bytes(header[_APPLICATION_ID_AT : _APPLICATION_ID_AT + 4], "big") == APPLICATION_ID


def _records_store_calls(log: Path) -> bool:
    try:
        with log.open("rb") as lines:
            return any(_STORE_CALL.search(line) for line in lines)
    except OSError:
        return False


def _size(path: Path) -> int:
    """Return the size of the file, 0 if it does not exist."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0
