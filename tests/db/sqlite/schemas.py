"""What a store's database is made of."""

import re
from pathlib import Path

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.db.sqlite.connections import Connection


def schema_of(home: Path) -> list[tuple[str, str, str]]:
    """Every table, index and trigger, and how it is defined; renaming puts names between quotes."""
    connection = Connection(home / "scrubjay.db", 1.0, read_only=True)
    try:
        rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
        return [(kind, name, re.sub("['\"]", "", sql)) for kind, name, sql in rows]
    finally:
        connection.close()


async def new_schema(home: Path) -> list[tuple[str, str, str]]:
    """That of a new store."""
    await (await SqliteStore.open(home)).close()
    return schema_of(home)
