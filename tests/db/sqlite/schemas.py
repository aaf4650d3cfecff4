"""The schema of a store's database."""

import re
from pathlib import Path

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.db.sqlite.connections import Connection


def schema_of(home: Path) -> list[tuple[str, str, str]]:
    """Return the definition of every table, index and trigger, without the quotes that renaming adds."""
    connection = Connection(home / "scrubjay.db", 1.0, read_only=True)
    try:
        rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
        return [(kind, name, re.sub("['\"]", "", sql)) for kind, name, sql in rows]
    finally:
        connection.close()


async def new_schema(home: Path) -> list[tuple[str, str, str]]:
    """Return the schema of a new store."""
    await (await SqliteStore.open(home)).close()
    return schema_of(home)
