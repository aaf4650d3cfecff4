"""Connections to the database, and how work on one becomes a transaction."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import apsw

from scrubjay.core.errors import StoreUnusable

T = TypeVar("T")

# Older ones carry a bug that corrupts a write-ahead log used by several processes (mended in 3.51.3 and 3.53.0).
OLDEST_SQLITE = (3, 53)


def refuse_old_sqlite(version: str) -> None:
    """Raise `StoreUnusable` for a SQLite library that can damage a store shared by processes."""
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise StoreUnusable(
            f"SQLite {version} can damage a store that several processes share; {oldest} or newer is needed",
            hint="install apsw 3.54 or newer, which brings its own SQLite",
        )


class Connection:
    """A connection that can write, durably and without leaving what was deleted in the file.

    A reading one is opened in the same way, because it may have to mend the log of a killed process, and is then kept
    from writing.
    """

    def __init__(self, database: Path, busy_seconds: float, *, read_only: bool = False) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | (0 if read_only else apsw.SQLITE_OPEN_CREATE)
        self._apsw: Any = apsw.Connection(str(database), flags)  # Any: pyright does not fully know apsw's own types
        self._execute: Callable[..., Any] = self._apsw.execute
        self._apsw.set_busy_timeout(round(busy_seconds * 1000))
        self.pragma("synchronous", "FULL")
        self.pragma("foreign_keys", 1)
        self.pragma("secure_delete", 1)
        self.pragma("query_only", int(read_only))

    def execute(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Any]:
        """Run to the end, and give all rows: tuples of what only the query knows."""
        return self._execute(sql, values).fetchall()

    def value(self, sql: str, values: Mapping[str, Any] | None = None) -> Any:
        """The first value of the first row; None when there is no row."""
        rows = self._execute(sql, values).fetchall()
        return rows[0][0] if rows else None

    def insert(self, sql: str, values: Mapping[str, Any]) -> int:
        """Insert one row; its rowid."""
        self._execute(sql, values)
        return self._apsw.last_insert_rowid()

    def execute_each(self, sql: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run once for each of these; what it gives is not looked at."""
        self._apsw.executemany(sql, rows).fetchall()

    def stream(self, sql: str, values: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """The rows one by one, for results that are too large to hold."""
        return self._execute(sql, values)

    def pragma(self, name: str, *value: int | str) -> Any:
        """Set it, if a value is given; what it is now."""
        return self._apsw.pragma(name, *value)

    @property
    def in_transaction(self) -> bool:
        return self._apsw.in_transaction

    def checkpoint(self, mode: int) -> None:
        """Move what the log holds into the database, as far as this mode goes."""
        self._apsw.wal_checkpoint(mode=mode)

    def close(self) -> None:
        self._apsw.close()


Work = Callable[[Connection], T]


def in_transaction(connection: Connection, work: Work[T]) -> T:
    """Do the work wholly and durably, or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # after some failures SQLite has already rolled back
            connection.execute("ROLLBACK")
        raise
    return result


def in_snapshot(connection: Connection, work: Work[T]) -> T:
    """Do the reading on one state of the store: that at the first statement of the work."""
    connection.execute("BEGIN DEFERRED")
    try:
        return work(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
