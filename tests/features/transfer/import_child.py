"""A process that replaces all memories and kills itself (SIGKILL) at a given point."""

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

# For each point: the process dies at the first statement that starts with the second prefix,
# after a statement that starts with the first prefix.
STATEMENTS = {
    "during the table swap": ("", "ALTER TABLE coming_memory_vector"),
    "before the swap is committed": ("ALTER TABLE coming_memory ", "COMMIT"),
    "after the swap is committed": ("ALTER TABLE coming_memory ", "BEGIN IMMEDIATE"),
    "while dropping the old tables": ("", "DROP TABLE gone_memory_use"),
    "while renaming the indexes": ("DROP INDEX coming_", "CREATE"),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(before: str, last: str) -> None:
    """Kill this process at a statement that starts with `last`, after one that starts with `before`."""
    execute, prefixes = Connection.execute, [before, last]

    def execute_or_die(self: Connection, sql: str, values: Any = None) -> Any:
        if sql.startswith(prefixes[0]):
            prefixes.pop(0)
            if not prefixes:
                die()
        return execute(self, sql, values)

    if not before:
        prefixes.pop(0)
    Connection.execute = execute_or_die


def install_crash(where: str) -> None:
    """Patch the store so that the process dies at this point."""
    if where in STATEMENTS:
        die_at(*STATEMENTS[where])
        return
    stage = SqliteTransfer.stage

    async def stage_or_die(self: SqliteTransfer, import_id: str, read: int, batch: Any) -> Any:
        progress = await stage(self, import_id, read, batch)
        if progress.read >= 4:
            die()
        return progress

    match where:
        case "while staging":
            SqliteTransfer.stage = stage_or_die
        case _:
            raise LookupError(where)


def replace_all_and_die(home: Path, file: str, where: str) -> None:
    """Run the import in this process and die at the given point."""
    importing.BATCH = 2
    install_crash(where)
    anyio.run(replace_all, home, file)


async def replace_all(home: Path, file: str) -> None:
    async with running(Settings(home=home, jobs=JobSettings(lease_seconds=3))) as application:
        arguments = {"file": file, "mode": "replace"}
        await application.dispatcher.call("import_database", arguments, CallContext(surface="python"))
