"""Checksums of rows, which show that a stored row is no longer what was written.

Each covered table has a column `checksum`, set by triggers in the transaction of each change (migration 0020). A CRC-32
finds every change of up to 32 neighbouring bits and misses one in 4 billion of all others. It protects against failing
disks and stray writes, not against deliberate changes.
"""

from collections.abc import Sequence
from zlib import crc32

import apsw

from scrubjay.core.errors import StoreUnusable
from scrubjay.db.damage_report import REPAIR_HINT, report_damage
from scrubjay.db.sqlite.named_queries import load_queries

FUNCTION = "row_checksum"
"""Name of the SQL function that the triggers call."""

INTACT_FUNCTION = "is_intact_row"
"""Name of the SQL function with which queries leave out damaged rows; see `intact.sql`."""

UNREADABLE = (apsw.CorruptError, UnicodeDecodeError)
"""Errors of a query that reads damaged rows or pages."""

DAMAGE = (*UNREADABLE, LookupError, TypeError, ValueError, OverflowError, MemoryError)
"""Errors of a query or a conversion that reads damaged values."""

Value = str | bytes | int | float | None

# Tables that hold what users wrote, and the tables that say to whom it belongs.
COVERED_TABLES = (
    "memory",
    "audience",
    "memory_link",
    "project",
    "session",
    "working_item",
    "task",
    "goal",
    "milestone",
    "episode",
    "episode_step",
    "pattern",
    "entity",
    "triple",
    "agent_message",
    "agent_reply",
    "persona",
    "permission_rule",
    "tool_call",
    "job",
    "access_key",
)


class DamagedRow(StoreUnusable):
    """A stored row is not what was written; it cannot be used."""

    def __init__(self, table: str, row_id: object = None) -> None:
        super().__init__(
            f"a row of {table} is damaged" if row_id is None else f"the {table} {row_id!s:.80} is damaged",
            hint=REPAIR_HINT,
        )


def row_checksum(*values: Value) -> int:
    """Return the checksum of the values of a row, with its texts as bytes in UTF-8.

    Texts are bytes because those of a damaged row may not be text.
    """
    return crc32(ascii(values).encode())


def is_intact_row(table: str, has_bytes_for_text: int, checksum: Value, *values: Value) -> bool:
    """Return True if the values of a row, with its texts as bytes, have this checksum; report it as damaged otherwise.

    Queries call this before they decode any text, so that one damaged row does not make a whole query fail. One bit
    turns a text into bytes that have the same checksum.
    """
    if not has_bytes_for_text and crc32(ascii(values).encode()) == checksum:
        return True
    report_damage(table, values[0] if type(values[0]) is int else values)
    return False


def is_intact(checksum: int | None, values: Sequence[Value], *, byte_columns: int = 0) -> bool:
    """Return True if the values of a row, in the order of its columns, have this checksum.

    `byte_columns` is the number of columns for bytes; bytes in a column for text are damage.
    """
    encoded = [value.encode() if type(value) is str else value for value in values]
    if checksum != crc32(ascii(tuple(encoded)).encode()):
        return False
    return (
        sum(type(value) is bytes for value in values) == byte_columns
        if byte_columns
        else bytes not in map(type, values)
    )


def without_checksums(sql: str) -> str:
    """Return a query for a store that has no checksums yet."""
    for condition in load_queries(__file__, "intact").values():
        sql = sql.replace(condition, "true")
    return sql


def checked_columns(columns: Sequence[tuple[str, str]], row: str = "") -> str:
    """Return the SQL call that computes the checksum of a row, given the names and types of its other columns."""
    return f"{FUNCTION}({checked_values(columns, row)})"


def checked_values(columns: Sequence[tuple[str, str]], row: str = "") -> str:
    """Return the values that the checksum of a row covers, as arguments of a SQL function."""
    return ", ".join(
        f"CAST({row}{name} AS BLOB)" if declared == "TEXT" else f"{row}{name}" for name, declared in columns
    )
