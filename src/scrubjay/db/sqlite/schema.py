"""Schema migrations: numbered steps that bring a database file to the schema of this program."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scrubjay import __version__
from scrubjay.core.errors import StoreUnusable
from scrubjay.db.sqlite.connections import Connection, in_transaction
from scrubjay.db.sqlite.schema_snapshot import (
    CONDITIONS,
    SCRIPT,
    SchemaSnapshot,
    load_snapshot,
    render_conditions,
    render_snapshot,
)
from scrubjay.db.sqlite.schema_version import newer_schema, schema_version, set_schema_version

# Identifies a database file as ours (`PRAGMA application_id`): "Reco", after the previous name Recollect.
APPLICATION_ID = 0x5265636F
_MIGRATIONS = Path(__file__).parent / "migrations"


@dataclass(frozen=True, slots=True)
class Migration:
    """The step from the previous schema version to this one."""

    version: int
    name: str
    sql: str


def load_migrations(folder: Path = _MIGRATIONS) -> Sequence[Migration]:
    """Return all migrations in order. Their numbers begin at 1 and have no gaps."""
    steps = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    migrations: list[Migration] = []
    for expected, entry in enumerate(steps, start=1):
        number, _, name = entry.name.removesuffix(".sql").partition("_")
        if int(number) != expected:
            raise ValueError(f"migration {entry.name} should have the number {expected}")
        migrations.append(Migration(expected, name, entry.read_text(encoding="utf-8")))
    return migrations


def newest_version() -> int:
    """Return the newest schema version that this program supports."""
    return len(list(_MIGRATIONS.glob("*.sql")))


def connect_and_migrate(
    database: Path,
    busy_seconds: float,
    migrations: Sequence[Migration],
    *,
    program: str = __version__,
    before_creation: Callable[[], None] | None = None,
) -> Connection:
    """Open the writer's connection and migrate the store. The caller must hold the writers' lock.

    `before_creation` is called if the database is empty, and may raise.
    """
    connection = Connection(database, busy_seconds)
    try:
        if before_creation is not None and is_empty(connection):
            before_creation()
        migrate(connection, migrations, program, snapshot=load_snapshot())
    except BaseException:
        connection.close()
        raise
    connection.schema = len(migrations)
    return connection


def migrate(
    connection: Connection,
    migrations: Sequence[Migration],
    program: str = __version__,
    *,
    snapshot: SchemaSnapshot | None = None,
) -> None:
    """Apply the missing migrations, and record that this release applied them.

    Each runs in one transaction with its version number, so a process killed midway leaves the previous version. An
    empty database starts from the snapshot instead, if the migrations reach it: a quarter of the time.
    """
    refuse_foreign_file(connection)
    version = schema_version(connection)
    if version > len(migrations):
        raise newer_schema(connection, version, len(migrations))
    if connection.pragma("journal_mode", "wal") != "wal":
        raise StoreUnusable(
            "the file system does not support a write-ahead log", hint="set SCRUBJAY_HOME to a folder on a local disk"
        )
    if version == 0 and snapshot is not None and snapshot.version <= len(migrations):
        in_transaction(connection, lambda connection: _apply(connection, snapshot, program))
        version = snapshot.version
    for migration in migrations[version:]:
        in_transaction(connection, lambda connection, step=migration: _apply(connection, step, program))


def refuse_foreign_file(connection: Connection) -> None:
    """Raise `StoreUnusable` for a database of another program, before anything is changed."""
    application_id = connection.pragma("application_id")
    if application_id == APPLICATION_ID:
        return
    if application_id != 0 or not is_empty(connection):
        raise StoreUnusable(
            "the database file belongs to another program",
            hint="set SCRUBJAY_HOME to a folder of its own",
            details={"application_id": application_id},
        )


def is_empty(connection: Connection) -> bool:
    """Return whether the database has no tables and was never migrated."""
    return schema_version(connection) == 0 and not connection.value("SELECT count(*) FROM sqlite_schema")


def _apply(connection: Connection, step: Migration | SchemaSnapshot, program: str) -> None:
    connection.execute(step.sql)
    set_schema_version(connection, step.version, program)
    connection.pragma("application_id", APPLICATION_ID)


def write_snapshot() -> None:
    """Write `schema.sql` and `intact.sql` as the migrations make the schema now."""
    connection = Connection(Path(":memory:"), 1.0)
    for migration in load_migrations():
        _apply(connection, migration, __version__)
    SCRIPT.write_text(render_snapshot(connection), encoding="utf-8")
    CONDITIONS.write_text(render_conditions(connection), encoding="utf-8")


if __name__ == "__main__":
    write_snapshot()
