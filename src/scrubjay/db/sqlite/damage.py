"""Reading of a database that may be damaged: the rows of a table one by one, each with what is wrong with it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import apsw

from scrubjay.db.sqlite.checksums import is_intact
from scrubjay.db.sqlite.connections import Connection

CHECKSUM = "checksum"
"""Name of the column with the checksum of a row."""

Key = tuple[Any, ...]
"""Values of the key columns of a row."""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A row, and what is wrong with it."""

    key: Key
    id: str | None
    """Its id, if the table has ids and it can be read."""
    values: Mapping[str, Any] | None
    """Values by column, with the checksum; None if the row cannot be read."""
    problem: str | None
    """None if the row is intact."""


class DamagedTable:
    """A table of a database that may be damaged. The schema itself must be readable."""

    def __init__(self, connection: Connection, name: str, columns: Sequence[str] | None = None) -> None:
        """Open a table. `columns` are its true names of columns, for a schema that may be damaged too."""
        self._connection = connection
        self.name = name
        info = connection.execute(f'PRAGMA table_info("{name}")')
        if not info:
            raise apsw.CorruptError(f"the schema has no table {name}")
        names = [row[1] for row in info]
        self._byte_columns = sum(row[2] == "BLOB" for row in info)
        self.columns: Sequence[str] = columns if columns is not None and len(columns) == len(names) else names
        self.has_checksum = CHECKSUM in self.columns
        without_rowid = connection.value("SELECT wr FROM pragma_table_list WHERE name = :name", {"name": name})
        primary = [row[1] for row in sorted((row for row in info if row[5]), key=lambda row: row[5])]
        self._keys: Sequence[str] = primary if without_rowid else ["rowid"]
        self._checked = [column for column in self.columns if column != CHECKSUM]
        condition = " AND ".join(f"{key} IS :{key}" for key in self._keys)
        quoted = ", ".join('"' + column.replace('"', '""') + '"' for column in names)
        self._row = f"SELECT {quoted} FROM {name} NOT INDEXED WHERE {condition}"
        self._id = f"SELECT id FROM {name} NOT INDEXED WHERE {condition}" if "id" in self.columns else None

    def rows(self) -> Iterator[CheckedRow]:
        """Yield every row in the order of keys, also those that only an index still names."""
        for key in self.readable_keys():
            yield self.row(key)

    def row(self, key: Key) -> CheckedRow:
        """Read one row."""
        values = dict(zip(self._keys, key, strict=True))
        try:
            rows = self._connection.execute(self._row, values)
        except UnicodeDecodeError:
            return self._unreadable(key, "it has text that is not valid UTF-8")
        except apsw.Error as error:
            return self._unreadable(key, f"it cannot be read ({error})")
        if not rows:
            return self._unreadable(key, "an index names it, but the table does not have it")
        found = dict(zip(self.columns, rows[0], strict=True))
        problem = None
        checked = [found[column] for column in self._checked]
        if self.has_checksum and not is_intact(found[CHECKSUM], checked, byte_columns=self._byte_columns):
            problem = "its checksum does not match its values"
        return CheckedRow(key, _text(found.get("id")), found, problem)

    def readable_keys(self) -> Sequence[Key]:
        """Return the keys of all rows that can be listed, in order.

        Reads the table from both ends and its indexes, so that a damaged page hides only the rows that no other page
        names.
        """
        columns, found = ", ".join(self._keys), set[Key]()
        descending = ", ".join(f"{key} DESC" for key in self._keys)
        queries = [f"SELECT {columns} FROM {self.name} NOT INDEXED ORDER BY {columns}"]
        if not self._collect(queries[0], found):
            self._collect(f"SELECT {columns} FROM {self.name} NOT INDEXED ORDER BY {descending}", found)
        for index in self._full_indexes():
            self._collect(f"SELECT {columns} FROM {self.name} INDEXED BY {index}", found)
        return sorted(found, key=_sort_key)

    def _collect(self, sql: str, found: set[Key]) -> bool:
        """Add the keys that the query returns until it fails; return whether it did not fail."""
        try:
            rows = self._connection.stream(sql)
            for row in rows:
                found.add(tuple(row))
        except (apsw.Error, UnicodeDecodeError):
            return False
        return True

    def _full_indexes(self) -> Sequence[str]:
        """Return the indexes that name every row."""
        with suppress(apsw.Error, UnicodeDecodeError):
            rows = self._connection.execute(f'PRAGMA index_list("{self.name}")')
            return [row[1] for row in rows if not row[4] and not (row[3] == "pk" and self._keys != ["rowid"])]
        return []

    def _unreadable(self, key: Key, problem: str) -> CheckedRow:
        return CheckedRow(key, self._read_id(key), None, problem)

    def _read_id(self, key: Key) -> str | None:
        """Return the id of a row that cannot be read whole: from the row, or from an index of ids."""
        if self._id is None:
            return None
        with suppress(apsw.Error, UnicodeDecodeError):
            if rows := self._connection.execute(self._id, dict(zip(self._keys, key, strict=True))):
                return _text(rows[0][0])
        if self._keys != ["rowid"]:
            return None
        for index in self._full_indexes():
            with suppress(apsw.Error, UnicodeDecodeError):
                by_index = f"SELECT id FROM {self.name} INDEXED BY {index} WHERE +rowid = :rowid"
                is_of_ids = self._connection.execute(f'PRAGMA index_info("{index}")')[0][2] == "id"
                if is_of_ids and (rows := self._connection.execute(by_index, {"rowid": key[0]})):
                    return _text(rows[0][0])
        return None


def _sort_key(key: Key) -> list[tuple[str, Any]]:
    """Order keys by type first, because a damaged key may have another type."""
    return [(type(value).__name__, value) for value in key]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
