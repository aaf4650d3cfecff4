"""The schema version of a database, and the program that wrote it."""

from typing import TYPE_CHECKING

from scrubjay import __version__
from scrubjay.core.errors import StoreUnusable

if TYPE_CHECKING:
    from scrubjay.db.sqlite.connections import Connection

# One row per schema version: the release that migrated the database to it. Stores of older releases have no such table.
_CREATE_HISTORY = (
    "CREATE TABLE IF NOT EXISTS schema_history (version INTEGER PRIMARY KEY, program TEXT NOT NULL) STRICT"
)
_HAS_HISTORY = "SELECT 1 FROM sqlite_schema WHERE name = 'schema_history'"
_ADD = "INSERT OR REPLACE INTO schema_history VALUES (:version, :program)"
_PROGRAM = "SELECT program FROM schema_history WHERE version = :version"


def schema_version(connection: "Connection") -> int:
    return connection.value("PRAGMA user_version")  # a microsecond within a transaction


def set_schema_version(connection: "Connection", version: int, program: str = __version__) -> None:
    """Set the version, and record the release that migrated the database to it."""
    connection.execute(_CREATE_HISTORY)
    connection.execute(_ADD, {"version": version, "program": program})
    connection.pragma("user_version", version)


def refuse_other_schema(connection: "Connection", expected: int) -> None:
    """Raise `StoreUnusable` if the database has another version than when it was opened."""
    if (version := schema_version(connection)) > expected:
        raise newer_schema(connection, version, expected)
    if version < expected:
        raise StoreUnusable(
            f"{connection.name} was replaced by one of schema version {version} while this process used {expected}",
            hint="stop this process and start it again; it migrates the file when it starts",
            details={"schema_version": version, "known": expected},
        )


def newer_schema(connection: "Connection", version: int, known: int, *, otherwise: str = "") -> StoreUnusable:
    """Return the error for a database that a newer release has migrated; it names the release if that is recorded.

    `otherwise` adds another way out to the hint.
    """
    program = _program_of(connection, version)
    by = f" (written by scrubjay {program})" if program else ""
    release = f"scrubjay {program} or newer" if program else "the newer scrubjay that wrote the file"
    return StoreUnusable(
        f"{connection.name} has schema version {version}{by}; this process is scrubjay {__version__}, which supports"
        f" versions up to {known}",
        hint=f"stop this process, upgrade scrubjay if it is older, and start {release}{otherwise}",
        details={"schema_version": version, "known": known, "program": __version__, "needed_program": program},
    )


def _program_of(connection: "Connection", version: int) -> str | None:
    if not connection.execute(_HAS_HISTORY):
        return None
    return connection.value(_PROGRAM, {"version": version})
