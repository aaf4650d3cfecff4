"""Errors that callers get when SQLite fails."""

from collections.abc import AsyncGenerator
from pathlib import Path

import apsw
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.clock import system_clock
from scrubjay.core.errors import Busy, ScrubjayError, StoreUnusable, Unavailable
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.errors import translate_error
from scrubjay.db.sqlite.schema import connect_and_migrate, load_migrations
from scrubjay.db.sqlite.threads import Readers, Writer
from tests.contracts.samples import query, search, write


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (apsw.BusyError("database is locked"), Busy),
        (apsw.LockedError("database table is locked"), Busy),
        (apsw.FullError("database or disk is full"), Unavailable),
        (apsw.IOError("disk I/O error"), Unavailable),
        (apsw.CantOpenError("unable to open"), Unavailable),
        (apsw.ReadOnlyError("readonly"), Unavailable),
        (apsw.CorruptError("malformed"), StoreUnusable),
        (apsw.NotADBError("not a database"), StoreUnusable),
    ],
)
def test_each_expected_failure_is_translated_with_a_hint(error: apsw.Error, meaning: type[ScrubjayError]) -> None:
    translated = translate_error(error)
    assert type(translated) is meaning
    assert translated.hint
    assert "is locked" not in translated.message


def test_an_unexpected_failure_is_not_translated() -> None:
    bug = apsw.SQLError("no such table")
    assert translate_error(bug) is bug


@pytest.fixture
async def small_store(empty_home: Path) -> AsyncGenerator[SqliteStore]:
    """A store on a disk with hardly any free space."""
    home = empty_home

    def connect() -> Connection:
        connection = connect_and_migrate(home / "scrubjay.db", 1.0, load_migrations())
        connection.pragma("max_page_count", connection.pragma("page_count") + 40)
        return connection

    writer = Writer(connect, home / "scrubjay.lock", 1.0)
    await writer.run_exclusive(lambda connection: None)
    readers = Readers(lambda: Connection(home / "scrubjay.db", 1.0, read_only=True), 1)
    store = SqliteStore(home, writer, readers, clock=system_clock, lease_seconds=30.0, busy_seconds=1.0)
    yield store
    await store.close()


async def test_a_full_disk_is_reported_and_does_no_damage(small_store: SqliteStore, home: Path) -> None:
    stored = write("stored before")
    await small_store.memories.put([stored])
    with pytest.raises(Unavailable, match="is full") as failure:
        await small_store.memories.put([write("too big", key="k"), write("x" * 1_000_000)])
    assert failure.value.hint is not None
    assert "disk space" in failure.value.hint
    assert (await small_store.check()).problems == []
    assert [memory.content for memory in await small_store.memories.scan(None, 10)] == ["stored before"]
    await small_store.memories.put([write("stored after")])
    await small_store.close()
    store = await SqliteStore.open(home)
    await store.memories.put([write("x" * 1_000_000)])
    assert (await search(store, query("stored"))).texts == 3
    await store.close()


async def test_a_writer_that_ignores_the_lock_only_makes_others_busy(home: Path) -> None:
    store = await SqliteStore.open(home, busy_seconds=0.2)
    rude = Connection(home / "scrubjay.db", 1.0)
    rude.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy) as failure:
        await store.memories.put([write("patient")])
    assert "is locked" not in failure.value.message
    rude.execute("ROLLBACK")
    await store.memories.put([write("patient")])
    assert len(await store.memories.scan(None, 10)) == 1
    await store.close()


async def test_a_damaged_page_is_reported_as_an_unusable_store(store: SqliteStore, home: Path) -> None:
    await store.memories.put([write(f"{number} " + "x" * 3000, id=f"mem_{number:03}") for number in range(50)])
    await store.close()
    content = bytearray((home / "scrubjay.db").read_bytes())
    damaged = len(content) * 3 // 4
    content[damaged:] = b"\xff" * (len(content) - damaged)
    (home / "scrubjay.db").write_bytes(content)
    reopened = await SqliteStore.open(home)
    with pytest.raises(StoreUnusable, match="damaged"):
        await reopened.memories.scan(None, 100)
    assert (await reopened.check()).problems
    await reopened.close()


async def test_a_home_that_cannot_be_created_is_reported_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable) as failure:
        await SqliteStore.open(tmp_path / "file" / "home")
    assert failure.value.hint is not None
    assert "SCRUBJAY_HOME" in failure.value.hint
