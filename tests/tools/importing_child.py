"""A process that replaces all memories and is killed on the way: `python -m … HOME FILE WHERE`."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio

from recollect.app.lifespan import running
from recollect.app.settings import JobSettings, Settings
from recollect.memory.transfer import importing
from recollect.storage.sqlite import transfer
from recollect.storage.sqlite.transfer import SqliteTransfer
from recollect.toolkit.context import CallContext


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arrange(where: str) -> None:
    """See to it that the process dies there."""
    exchange, stage = SqliteTransfer.exchange, SqliteTransfer.stage

    async def staged(self: SqliteTransfer, import_id: str, read: int, batch: Any) -> Any:
        arrived = await stage(self, import_id, read, batch)
        return arrived if arrived.read < 4 else die()

    async def exchanged(self: SqliteTransfer, import_id: str, kinds: Any) -> Any:
        await exchange(self, import_id, kinds)
        die()

    match where:
        case "while it is staged":
            SqliteTransfer.stage = staged
        case "in the middle of the exchange":
            transfer._keep = die  # pyright: ignore[reportAttributeAccessIssue, reportPrivateUsage]
        case "just before the exchange is durable":
            transfer._clear_stage = die  # pyright: ignore[reportPrivateUsage]
        case "after the exchange":
            SqliteTransfer.exchange = exchanged
        case _:
            raise LookupError(where)


async def replace_all(home: Path, file: str) -> None:
    async with running(Settings(home=home, jobs=JobSettings(lease_seconds=3))) as application:
        arguments = {"file": file, "mode": "replace"}
        await application.dispatcher.call("import_database", arguments, CallContext(surface="python"))


if __name__ == "__main__":
    importing.BATCH = 2
    arrange(sys.argv[3])
    anyio.run(replace_all, Path(sys.argv[1]), sys.argv[2])
