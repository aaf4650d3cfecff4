"""Connections to the database, and transactions on them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import apsw

from scrubjay.core.errors import StoreUnusable, Unavailable
from scrubjay.db.sqlite.checksums import FUNCTION, INTACT_FUNCTION, is_intact_row, row_checksum
from scrubjay.db.sqlite.schema_version import refuse_other_schema

T = TypeVar("T")
FileIdentity = tuple[int, int]
"""Device and inode of a file."""

# Older versions have a bug that corrupts a write-ahead log shared by processes (fixed in 3.51.3 and 3.53.0).
MIN_SQLITE_VERSION = (3, 53)


def refuse_old_sqlite(version: str) -> None:
    """Raise `StoreUnusable` for a SQLite library that can damage a store shared by processes."""
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_SQLITE_VERSION:
        oldest = ".".join(map(str, MIN_SQLITE_VERSION))
        raise StoreUnusable(
            f"SQLite {version} can damage a store that several processes share; {oldest} or newer is required",
            hint="install apsw 3.54 or newer, which bundles its own SQLite",
        )


class Connection:
    """A connection with durable writes, foreign keys, and deleted data overwritten with zeros.

    A read-only one is opened for writing too, because it may have to recover the log of a killed process; a pragma
    then forbids writes. `ignore_schema_damage` is for recovery: damaged definitions are missing from the schema.

    With `schema`, every transaction raises `StoreUnusable` once the database has another schema version, as a newer
    release may migrate a store that this process has open, or once the file was replaced: once it is another one than
    when the connection was opened, or than `identity`, which the connections of a process share.
    """

    def __init__(
        self,
        database: Path,
        busy_seconds: float,
        *,
        read_only: bool = False,
        schema: int | None = None,
        identity: FileIdentity | None = None,
        ignore_schema_damage: bool = False,
    ) -> None:
        self.name = database.name
        self._database = database
        self.schema = schema
        flags = apsw.SQLITE_OPEN_READWRITE | (0 if read_only else apsw.SQLITE_OPEN_CREATE)
        address = str(database)
        if read_only and is_read_only_medium(database):
            # SQLite could not create the files that readers of a write-ahead log share; no process writes here anyway.
            _refuse_log(database)
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            address = f"{database.absolute().as_uri()}?immutable=1"
        self._apsw: Any = apsw.Connection(address, flags)  # Any: pyright does not fully know apsw's own types
        self._identity = file_identity(database) if identity is None else identity
        self._execute: Callable[..., Any] = self._apsw.execute
        self._apsw.set_busy_timeout(round(busy_seconds * 1000))
        self._apsw.create_scalar_function(FUNCTION, row_checksum, deterministic=True)
        self._apsw.create_scalar_function(INTACT_FUNCTION, is_intact_row, deterministic=True)
        if ignore_schema_damage:  # before the first statement reads the schema: leaves out what is damaged in it
            self.pragma("writable_schema", 1)
        self.pragma("synchronous", "FULL")
        self.pragma("foreign_keys", 1)
        self.pragma("secure_delete", 1)
        self.pragma("query_only", int(read_only))

    def execute(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Any]:
        """Run the statements and return all rows as tuples."""
        return self._execute(sql, values).fetchall()

    def value(self, sql: str, values: Mapping[str, Any] | None = None) -> Any:
        """Return the first column of the first row; None if there is no row."""
        rows = self._execute(sql, values).fetchall()
        return rows[0][0] if rows else None

    def insert(self, sql: str, values: Mapping[str, Any]) -> int:
        """Insert one row and return its rowid."""
        self._execute(sql, values)
        return self._apsw.last_insert_rowid()

    def execute_each(self, sql: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run the statement once per row of values; results are discarded."""
        self._apsw.executemany(sql, rows).fetchall()

    def stream(self, sql: str, values: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Return an iterator over the rows, for results that do not fit in memory."""
        return self._execute(sql, values)

    def pragma(self, name: str, *value: int | str) -> Any:
        """Set the pragma if a value is given, and return its value."""
        return self._apsw.pragma(name, *value)

    def check_schema(self) -> None:
        """Raise `StoreUnusable` if the database is not the one, or has not the schema, that this was opened for.

        SQLite does not notice that the file was replaced, and the writes to the old one would be lost.
        """
        if self.schema is None:
            return
        if file_identity(self._database) != self._identity:
            raise StoreUnusable(
                f"{self.name} was replaced or removed while this process had it open",
                hint="stop this process and start it again; put the file back first if it is missing",
            )
        refuse_other_schema(self, self.schema)

    @property
    def in_transaction(self) -> bool:
        return self._apsw.in_transaction

    def checkpoint(self, mode: int) -> None:
        """Copy the write-ahead log into the database, as far as this mode allows."""
        self._apsw.wal_checkpoint(mode=mode)

    def close(self) -> None:
        self._apsw.close()


def is_read_only_medium(database: Path) -> bool:
    """Return whether an existing database is on a file system that is mounted read-only."""
    try:
        return bool(os.statvfs(database).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _refuse_log(database: Path) -> None:
    log = database.with_name(f"{database.name}-wal")
    if log.exists() and log.stat().st_size:
        raise Unavailable(
            f"{database} is on a read-only file system, and its write-ahead log has changes that must be merged first",
            hint="copy the folder to a writable disk, and use the copy",
        )


def file_identity(file: Path) -> FileIdentity | None:
    """Return what distinguishes this file from every other one that exists; None if it does not exist."""
    try:
        status = os.stat(file)  # noqa: PTH116  # every transaction calls this, and `Path.stat` takes longer
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


Work = Callable[[Connection], T]


def in_transaction(connection: Connection, work: Work[T]) -> T:
    """Run the work in one transaction; roll back if it raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.check_schema()
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # after some failures SQLite has already rolled back
            connection.execute("ROLLBACK")
        raise
    return result


def in_snapshot(connection: Connection, work: Work[T]) -> T:
    """Run reads on one snapshot of the store."""
    connection.execute("BEGIN DEFERRED")
    try:
        connection.check_schema()
        return work(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
