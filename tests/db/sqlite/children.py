"""Other processes that work on a store while a test watches or kills them; run with `python -m`, see `conftest`.

Each tells what it did in lines on its standard output, and stops when its standard input ends.
"""

import asyncio
import fcntl
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Unavailable
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.schema import load_migrations, migrate
from scrubjay.features.memory.models import Derived
from tests.contracts.samples import query, search, vector, write


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def keep_writing(home: Path) -> None:
    """Put one memory after the other, and tell the id of each when it is durable."""
    stopping = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stopping.set()), daemon=True).start()
    store = await SqliteStore.open(home)
    number = 0
    while not stopping.is_set():
        kept = write(f"number {number} of {os.getpid()}", vector=vector(number % 7, 1))
        await store.memories.put([kept])
        tell(kept.memory.id)
        number += 1
    await store.close()


async def hold_the_lock(lock: Path) -> None:
    """Take the writers' lock and keep it."""
    with lock.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        tell("held")
        sys.stdin.read()


async def answer(home: Path) -> None:
    """For each line that comes in, the contents of the candidates for this term."""
    store = await SqliteStore.open(home)
    for line in sys.stdin:
        term = line.strip()
        pool = await search(store, query(term, vector=vector(1, 0), limit=5))
        tell(" | ".join(candidate.memory.content for candidate in pool.candidates))
    await store.close()


async def rebuild_slowly(home: Path) -> None:
    """Rebuild one memory at a time, and wait for a line before each."""
    store = await SqliteStore.open(home)
    after = await store.memories.begin_rebuild(resume=True)
    while batch := await store.memories.scan(after, 1):
        sys.stdin.readline()
        after = batch[0].id
        made = Derived(passages=(("rebuilt", batch[0].content),), traits=0, vector=vector(0, 1), model="rebuilt")
        await store.memories.rebuild([(after, made)])
        tell(after)
    await store.memories.finish_rebuild()
    tell("finished")


async def open_once(home: Path) -> None:
    """Open and close the store."""
    store = await SqliteStore.open(home)
    info = await store.info()
    await store.close()
    tell(str(info.schema_version))


async def fork_and_ask(home: Path) -> None:
    """Fork with an open store; the child asks it, and then the parent does."""
    store = await SqliteStore.open(home)
    if (child := os.fork()) == 0:
        try:
            await store.memories.counts()
        except Unavailable as error:
            tell(f"child: {error}")
        os._exit(0)
    await asyncio.to_thread(os.waitpid, child, 0)
    tell(f"parent: {(await store.memories.counts()).memories}")
    await store.close()


class DyingConnection(Connection):
    """Kills its process where a script says so."""

    def execute(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Any]:
        before, dies, _ = sql.partition("-- die here")
        rows = super().execute(before, values)
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return rows


async def migrate_and_die(folder: Path) -> None:
    """Migrate `folder/scrubjay.db` by the steps in `folder/steps`, as far as they let it live."""
    migrate(DyingConnection(folder / "scrubjay.db", 1.0), load_migrations(folder / "steps"))
    tell("survived")


ROLES = [keep_writing, hold_the_lock, answer, rebuild_slowly, open_once, fork_and_ask, migrate_and_die]

if __name__ == "__main__":
    asyncio.run({role.__name__: role for role in ROLES}[sys.argv[1]](Path(sys.argv[2])))
