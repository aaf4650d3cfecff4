"""The writer and reader threads: order, timeouts, cancellation and closing."""

import asyncio
import fcntl
import gc
import threading
import weakref
from pathlib import Path

import anyio
import apsw
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Busy, Unavailable
from scrubjay.db.sqlite import threads
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.threads import Readers, Writer
from tests.contracts.samples import query, search, vector, write
from tests.db.sqlite.conftest import Child, Start

BOUND = 10.0


def start_holder(start: Start, home: Path) -> Child:
    """Start a process that holds the writers' lock until its input ends."""
    child = start("hold_the_lock", home / "scrubjay.lock")
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def release(child: Child) -> None:
    child.communicate(timeout=BOUND)


async def contents(store: SqliteStore) -> list[str]:
    return sorted(memory.content for memory in await store.memories.scan(None, 1000))


async def test_a_write_that_does_not_get_the_lock_is_busy_and_never_executed(home: Path, start: Start) -> None:
    store = await SqliteStore.open(home, busy_seconds=0.2)
    holder = start_holder(start, home)
    with pytest.raises(Busy) as failure:
        await store.memories.put([write("too late")])
    assert failure.value.hint
    with pytest.raises(Busy):
        await store.ping()
    assert await contents(store) == []
    release(holder)
    await store.ping()
    await store.memories.put([write("in time")])
    assert await contents(store) == ["in time"]
    await store.close()


async def test_reads_continue_while_another_process_holds_the_lock(
    store: SqliteStore, start: Start, home: Path
) -> None:
    await store.memories.put([write("kept", vector=vector(1, 0))])
    holder = start_holder(start, home)
    assert await contents(store) == ["kept"]
    assert len((await search(store, query("kept", vector=vector(1, 0)))).candidates) == 1
    release(holder)


async def test_a_store_cannot_be_opened_while_the_lock_stays_held(empty_home: Path, start: Start) -> None:
    (empty_home / "scrubjay.lock").touch()
    holder = start_holder(start, empty_home)
    with pytest.raises(Busy):
        await SqliteStore.open(empty_home, busy_seconds=0.2)
    release(holder)
    await (await SqliteStore.open(empty_home)).close()


async def test_a_write_whose_caller_is_cancelled_is_completed(home: Path, start: Start) -> None:
    store = await SqliteStore.open(home)
    holder = start_holder(start, home)
    waiting = asyncio.create_task(store.memories.put([write(f"part {number}") for number in range(20)]))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    release(holder)
    await store.memories.put([write("whole")])
    assert len(await contents(store)) == 21
    await store.close()


async def test_a_write_waits_for_writes_of_its_own_process_without_a_timeout(empty_home: Path) -> None:
    writer = Writer(lambda: Connection(empty_home / "x.db", 1.0), empty_home / "x.lock", 0.05)
    go_on = threading.Event()
    slow = asyncio.create_task(writer.write(lambda connection: go_on.wait(BOUND)))
    queued = asyncio.create_task(writer.write(lambda connection: connection.value("SELECT 7")))
    done, _ = await asyncio.wait([slow, queued], timeout=0.3)
    assert done == set()
    go_on.set()
    assert (await slow, await queued) == (True, 7)
    await writer.close()


async def test_a_cancelled_scope_does_not_interrupt_closing(home: Path) -> None:
    store = await SqliteStore.open(home)
    waiting = asyncio.create_task(store.memories.put([write("kept")]))
    await asyncio.sleep(0)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.close()
    assert Connection(home / "scrubjay.db", 1.0).value("SELECT count(*) FROM memory") == 1
    assert len(await waiting) == 1


async def test_closing_waits_for_every_queued_write(home: Path) -> None:
    store = await SqliteStore.open(home)
    writes = [asyncio.create_task(store.memories.put([write(f"{number:02}")])) for number in range(40)]
    await asyncio.sleep(0)
    writes[0].cancel()
    await store.close()
    assert Connection(home / "scrubjay.db", 1.0).value("SELECT count(*) FROM memory") == 40
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert [outcome for outcome in outcomes[1:] if isinstance(outcome, BaseException)] == []
    reopened = await SqliteStore.open(home)
    assert await contents(reopened) == [f"{number:02}" for number in range(40)]
    assert (await reopened.check()).problems == []
    await reopened.close()


async def test_closing_does_not_wait_for_a_lock_that_is_never_released(home: Path, start: Start) -> None:
    store = await SqliteStore.open(home, busy_seconds=0.1)
    holder = start_holder(start, home)
    with pytest.raises(Busy):
        await store.memories.put([write("never")])
    async with asyncio.timeout(BOUND):
        await store.close()
    release(holder)


@pytest.mark.parametrize(("hold", "fewest", "most"), [(60.0, 1, 10), (0.0, 51, 51)])
async def test_queued_writes_share_one_hold_of_the_lock_for_a_limited_time(
    store: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch, hold: float, fewest: int, most: int
) -> None:
    operations: list[int] = []
    flock = fcntl.flock
    with (home / "scrubjay.lock").open("rb") as lock:
        flock(lock, fcntl.LOCK_EX)  # wait until opening has released it: these writes must not share that hold

    def recording_flock(descriptor: int, operation: int) -> None:
        operations.append(operation)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", recording_flock)
    monkeypatch.setattr(threads, "HOLD_SECONDS", hold)
    await asyncio.gather(*(store.memories.put([write(f"{number}")]) for number in range(50)))
    await store.ping()
    assert len(await contents(store)) == 50
    assert fewest <= operations.count(fcntl.LOCK_EX) <= most


async def test_a_read_whose_caller_was_cancelled_is_not_executed(store: SqliteStore, home: Path) -> None:
    readers = Readers(lambda: Connection(home / "scrubjay.db", 1.0, read_only=True), 1)
    go_on, read = threading.Event(), list[str]()
    first = asyncio.create_task(readers.read(lambda connection: go_on.wait(BOUND)))
    second = asyncio.create_task(readers.read(lambda connection: read.append("second")))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.sleep(0)
    go_on.set()
    assert await first
    await readers.read(lambda connection: read.append("third"))
    assert read == ["third"]
    await readers.close()


async def test_a_reader_that_could_not_connect_tries_again(store: SqliteStore, home: Path) -> None:
    attempts: list[int] = []

    def connect() -> Connection:
        attempts.append(1)
        if len(attempts) == 1:
            raise apsw.CantOpenError("not now")
        return Connection(home / "scrubjay.db", 1.0, read_only=True)

    readers = Readers(connect, 1)
    with pytest.raises(Unavailable):
        await readers.read(lambda connection: connection.value("SELECT 1"))
    assert await readers.read(lambda connection: connection.value("SELECT 1")) == 1
    await readers.close()


async def test_a_forked_child_cannot_use_the_store_of_its_parent(store: SqliteStore, home: Path, start: Start) -> None:
    await store.memories.put([write("kept")])
    child = start("fork_and_query", home)
    lines = child.communicate(timeout=BOUND)[0].splitlines()
    assert lines == ["child: this store was opened before the process forked", "parent: 1"]


def log_of(home: Path) -> bytes:
    return (home / "scrubjay.db-wal").read_bytes()


async def write_and_erase(home: Path, writer: Writer) -> None:
    await writer.write(lambda connection: connection.execute("INSERT INTO meta VALUES ('diary', 'xylophone')"))
    assert b"xylophone" in log_of(home)
    await writer.erase(lambda connection: connection.execute("DELETE FROM meta WHERE name = 'diary'"))


async def test_an_erasure_is_also_removed_from_the_write_ahead_log(store: SqliteStore, home: Path) -> None:
    await write_and_erase(home, store._writer)  # pyright: ignore[reportPrivateUsage]
    assert log_of(home) == b""
    assert b"xylophone" not in (home / "scrubjay.db").read_bytes()


@pytest.mark.parametrize("hold", [threads.HOLD_SECONDS, 0])  # 0: the hold ends before the queue is empty
async def test_a_log_in_use_by_a_reader_is_truncated_later(
    store: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch, hold: float
) -> None:
    monkeypatch.setattr(threads, "LOG_SECONDS", 0.01)
    monkeypatch.setattr(threads, "HOLD_SECONDS", hold)
    await store.memories.put([write("kept")])
    reader = Connection(home / "scrubjay.db", 1.0, read_only=True)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM meta")
    writer = store._writer  # pyright: ignore[reportPrivateUsage]
    await write_and_erase(home, writer)
    await writer.write(lambda connection: None)
    assert b"xylophone" in log_of(home)
    reader.execute("COMMIT")
    reader.close()
    await store.memories.put([write("kept too")])
    with anyio.fail_after(BOUND):
        while b"xylophone" in log_of(home):  # truncated after the write was acknowledged; later writes may follow
            await writer.run_exclusive(lambda connection: None)
    assert b"xylophone" not in (home / "scrubjay.db").read_bytes()
    assert await contents(store) == ["kept", "kept too"]


async def test_an_erasure_that_fails_changes_nothing(store: SqliteStore, home: Path) -> None:
    def fail(connection: Connection) -> None:
        connection.execute("DELETE FROM meta")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await store._writer.erase(fail)  # pyright: ignore[reportPrivateUsage]
    await store.ping()
    await store.memories.put([write("kept")])
    assert (await store.memories.counts()).memories == 1


async def test_written_data_is_released_at_once(home: Path, store: SqliteStore) -> None:
    """Without waiting for the garbage collector, which runs after many writes: imports write large batches."""

    class Load:
        pass

    writer = Writer(lambda: Connection(home / "scrubjay.db", 1.0), home / "scrubjay.lock", 1.0)
    load = Load()
    alive = weakref.ref(load)
    gc.disable()
    try:
        await writer.write(lambda connection, load=load: None)
        del load
        await writer.write(lambda connection: None)
        assert alive() is None
    finally:
        gc.enable()
        await writer.close()
