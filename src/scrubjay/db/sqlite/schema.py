"""Brings a database file to the schema that this program needs, one numbered step at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from scrubjay.core.errors import StoreUnusable
from scrubjay.db.sqlite.connections import Connection, in_transaction

# Marks a database file as ours (`PRAGMA application_id`): "Reco".
APPLICATION_ID = 0x5265636F


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from the schema version before it to its own."""

    version: int
    name: str
    sql: str


def load_migrations(folder: Traversable | None = None) -> Sequence[Migration]:
    """The steps in order; their numbers begin at 1 and leave no gap."""
    folder = folder or files("scrubjay.db.sqlite") / "migrations"
    steps = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    migrations: list[Migration] = []
    for expected, entry in enumerate(steps, start=1):
        number, _, name = entry.name.removesuffix(".sql").partition("_")
        if int(number) != expected:
            raise ValueError(f"migration {entry.name} should have the number {expected}")
        migrations.append(Migration(expected, name, entry.read_text(encoding="utf-8")))
    return migrations


def connect_and_migrate(database: Path, busy_seconds: float, migrations: Sequence[Migration]) -> Connection:
    """The writer's connection, to a store that has this program's schema. The caller holds the writers' lock."""
    connection = Connection(database, busy_seconds)
    try:
        migrate(connection, migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def migrate(connection: Connection, migrations: Sequence[Migration]) -> None:
    """Take the steps that are missing. Each is one transaction with its version, so a kill leaves the one before."""
    refuse_foreign_file(connection)
    version = schema_version(connection)
    if version > len(migrations):
        raise StoreUnusable(
            f"this store has schema version {version}, and this program knows versions up to {len(migrations)}",
            hint="upgrade scrubjay, or open the store with the version that wrote it",
            details={"schema_version": version, "known": len(migrations)},
        )
    if connection.pragma("journal_mode", "wal") != "wal":
        raise StoreUnusable(
            "this file system cannot hold a write-ahead log", hint="set SCRUBJAY_HOME to a folder on a local disk"
        )
    for migration in migrations[version:]:
        in_transaction(connection, lambda connection, step=migration: _take(connection, step))


def schema_version(connection: Connection) -> int:
    return connection.pragma("user_version")


def refuse_foreign_file(connection: Connection) -> None:
    """Raise `StoreUnusable`, before anything is changed, for a database that some other program made."""
    application_id = connection.pragma("application_id")
    if application_id == APPLICATION_ID:
        return
    if application_id != 0 or connection.value("SELECT count(*) FROM sqlite_schema"):
        raise StoreUnusable(
            "the database file belongs to another program",
            hint="set SCRUBJAY_HOME to a folder of its own",
            details={"application_id": application_id},
        )


def _take(connection: Connection, migration: Migration) -> None:
    connection.execute(migration.sql)
    connection.pragma("user_version", migration.version)
    connection.pragma("application_id", APPLICATION_ID)
