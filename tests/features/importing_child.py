"""A process that replaces all memories and is killed on the way."""

import os
import signal
from pathlib import Path
from typing import Any

import anyio

from scrubjay.app.lifespan import running
from scrubjay.app.settings import JobSettings, Settings
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.transfer import importer as importing
from scrubjay.features.transfer.sqlite import SqliteTransfer
from scrubjay.tooling.context import CallContext

# The statements that the process does not live to execute: the first of them after the one that is given before it.
STATEMENTS = {
    "in the middle of the exchange": ("", "ALTER TABLE coming_memory_vector"),
    "just before the exchange is durable": ("ALTER TABLE coming_memory ", "COMMIT"),
    "just after the exchange": ("ALTER TABLE coming_memory ", "BEGIN IMMEDIATE"),
    "while the old is cleared away": ("", "DROP TABLE gone_memory_use"),
    "while indexes get their names": ("DROP INDEX coming_", "CREATE"),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(before: str, last: str) -> None:
    execute, waiting_for = Connection.execute, [before, last]

    def executed(self: Connection, sql: str, values: Any = None) -> Any:
        if sql.startswith(waiting_for[0]):
            waiting_for.pop(0)
            if not waiting_for:
                die()
        return execute(self, sql, values)

    if not before:
        waiting_for.pop(0)
    Connection.execute = executed


def arrange(where: str) -> None:
    """See to it that the process dies there."""
    if where in STATEMENTS:
        die_at(*STATEMENTS[where])
        return
    stage = SqliteTransfer.stage

    async def staged(self: SqliteTransfer, import_id: str, read: int, batch: Any) -> Any:
        arrived = await stage(self, import_id, read, batch)
        if arrived.read >= 4:
            die()
        return arrived

    match where:
        case "while it is staged":
            SqliteTransfer.stage = staged
        case _:
            raise LookupError(where)


def replace_all_and_die(home: Path, file: str, where: str) -> None:
    """What the process does."""
    importing.BATCH = 2
    arrange(where)
    anyio.run(replace_all, home, file)


async def replace_all(home: Path, file: str) -> None:
    async with running(Settings(home=home, jobs=JobSettings(lease_seconds=3))) as application:
        arguments = {"file": file, "mode": "replace"}
        await application.dispatcher.call("import_database", arguments, CallContext(surface="python"))
