"""Child processes that work on a store while a test watches or kills them; run with `python -m`, see `conftest`.

Each prints what it did as lines on standard output, and stops when its standard input ends.
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
from scrubjay.core.paths import CODE_DATABASE
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.schema import Migration, connect_and_migrate, load_migrations, migrate
from scrubjay.db.sqlite.schema_version import set_schema_version
from scrubjay.db.sqlite.threads import Writer
from scrubjay.features.code.sqlite import LOCK as CODE_LOCK
from scrubjay.features.code.sqlite import SCHEMA
from scrubjay.features.memory.writes import SearchData
from tests.contracts.samples import query, search, vector, write


def print_line(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def keep_writing(home: Path) -> None:
    """Store memories one by one, and print the id of each when it is durable."""
    stopping = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stopping.set()), daemon=True).start()
    store = await SqliteStore.open(home)
    number = 0
    while not stopping.is_set():
        memory_write = write(f"number {number} of {os.getpid()}", vector=vector(number % 7, 1))
        await store.memories.put([memory_write])
        print_line(memory_write.memory.id)
        number += 1
    await store.close()


async def hold_the_lock(lock: Path) -> None:
    """Hold the writers' lock until standard input ends."""
    with lock.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        print_line("held")
        sys.stdin.read()


async def answer(home: Path) -> None:
    """For each input line, print the contents of the candidates for this term."""
    store = await SqliteStore.open(home)
    for line in sys.stdin:
        term = line.strip()
        pool = await search(store, query(term, vector=vector(1, 0), limit=5))
        print_line(" | ".join(candidate.memory.content for candidate in pool.candidates))
    await store.close()


async def rebuild_slowly(home: Path) -> None:
    """Rebuild one memory at a time, waiting for an input line before each."""
    store = await SqliteStore.open(home)
    after = await store.memories.begin_rebuild(resume=True)
    while batch := await store.memories.scan(after, 1):
        sys.stdin.readline()
        after = batch[0].id
        search_data = SearchData(
            passages=(("rebuilt", batch[0].content),), traits=0, vector=vector(0, 1), model="rebuilt"
        )
        await store.memories.rebuild([(after, search_data)])
        print_line(after)
    await store.memories.finish_rebuild()
    print_line("finished")


async def open_once(home: Path) -> None:
    """Open and close the store."""
    store = await SqliteStore.open(home)
    info = await store.info()
    await store.close()
    print_line(str(info.schema_version))


async def fork_and_query(home: Path) -> None:
    """Fork with an open store; query it in the child and then in the parent."""
    store = await SqliteStore.open(home)
    if (child := os.fork()) == 0:
        try:
            await store.memories.counts()
        except Unavailable as error:
            print_line(f"child: {error}")
        os._exit(0)
    await asyncio.to_thread(os.waitpid, child, 0)
    print_line(f"parent: {(await store.memories.counts()).memories}")
    await store.close()


class DyingConnection(Connection):
    """Kills its own process at `-- die here` in a script."""

    def execute(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Any]:
        before, marker, _ = sql.partition("-- die here")
        rows = super().execute(before, values)
        if marker:
            os.kill(os.getpid(), signal.SIGKILL)
        return rows


async def migrate_and_die(folder: Path) -> None:
    """Migrate `folder/scrubjay.db` with the steps in `folder/steps`, until one of them kills the process."""
    migrate(DyingConnection(folder / "scrubjay.db", 1.0), load_migrations(folder / "steps"))
    print_line("survived")


NEWER_PROGRAM = "98.7.6"


async def migrate_as_newer_release(home: Path) -> None:
    """Migrate the store as a newer release does, which has one more migration."""
    known = load_migrations()
    steps = [*known, Migration(len(known) + 1, "newer", "CREATE TABLE newer (x)")]
    writer = Writer(
        lambda: connect_and_migrate(home / "scrubjay.db", 10.0, steps, program=NEWER_PROGRAM),
        home / "scrubjay.lock",
        10.0,
    )
    await writer.write(lambda connection: None)
    await writer.close()
    print_line(str(len(steps)))


async def recreate_code_as_newer_release(home: Path) -> None:
    """Change the schema of `code.db` as a newer release does, which renames a table."""

    def work(connection: Connection) -> None:
        connection.execute("ALTER TABLE code_index RENAME TO code_repository")
        set_schema_version(connection, SCHEMA + 1, NEWER_PROGRAM)

    writer = Writer(lambda: Connection(home / CODE_DATABASE, 10.0), home / CODE_LOCK, 10.0)
    await writer.write(work)
    await writer.close()
    print_line(str(SCHEMA + 1))


ROLES = [
    migrate_as_newer_release,
    recreate_code_as_newer_release,
    keep_writing,
    hold_the_lock,
    answer,
    rebuild_slowly,
    open_once,
    fork_and_query,
    migrate_and_die,
]

if __name__ == "__main__":
    asyncio.run({role.__name__: role for role in ROLES}[sys.argv[1]](Path(sys.argv[2])))
