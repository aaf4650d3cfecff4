"""A full disk: reads go on, memories can be forgotten, and nothing is lost. On a real, small file system."""

import random
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Unavailable
from scrubjay.db.sqlite import space_reserve, threads
from scrubjay.features.memory.writes import MemoryWrite
from tests.contracts.samples import GLOBAL_ONLY, write


def large(number: int) -> MemoryWrite:
    words = " ".join("".join(random.choices("abcdefghijk", k=6)) for _ in range(200))
    return write(f"fact {number} {words}", id=f"mem_{number}")


async def fill(store: SqliteStore) -> int:
    """Store memories until the disk is full; return their number."""
    for number in range(100_000):
        try:
            await store.memories.put([large(number)])
        except Unavailable as error:
            assert "is full" in error.message  # noqa: PT017
            return number
    raise AssertionError("the disk was never full")


async def test_memories_can_be_forgotten_on_a_full_disk_and_new_ones_stored_again(small_disk: Path) -> None:
    store = await SqliteStore.open(small_disk / "home")
    stored = await fill(store)
    with pytest.raises(Unavailable, match="is full"):
        await store.memories.put([large(stored)])
    for number in range(10):
        forgotten = await store.memories.delete(GLOBAL_ONLY, [f"mem_{number}"])
        assert [memory.id for memory in forgotten] == [f"mem_{number}"]
    await store.memories.put([write("new", id="mem_new")])
    assert {memory.id for memory in await store.memories.scan(None, 100_000)} == {
        *(f"mem_{number}" for number in range(10, stored)),
        "mem_new",
    }
    assert (await store.check()).problems == []
    await store.close()


async def test_without_a_reserve_forgetting_says_why_it_needs_space(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space_reserve, "LOW_BYTES", 0)
    store = await SqliteStore.open(small_disk / "home")
    stored = await fill(store)
    with pytest.raises(Unavailable, match="erasing needs some space too") as failure:
        await store.memories.delete(GLOBAL_ONLY, ["mem_0"])
    assert "derived" in str(failure.value.hint)
    assert len(await store.memories.scan(None, 100_000)) == stored
    await store.close()


async def test_the_reserve_takes_space_only_while_the_disk_is_nearly_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "home" / "scrubjay.lock"
    monkeypatch.setattr(space_reserve, "CHECK_SECONDS", 0.0)
    monkeypatch.setattr(threads, "HOLD_SECONDS", 0.0)  # each write takes the lock, and checks the space
    store = await SqliteStore.open(tmp_path / "home")
    assert lock.stat().st_size == 0
    monkeypatch.setattr(space_reserve, "LOW_BYTES", 10**18)
    await store.ping()
    assert lock.stat().st_size == space_reserve.RESERVE_BYTES
    monkeypatch.setattr(space_reserve, "LOW_BYTES", 0)
    await store.ping()
    assert lock.stat().st_size == 0
    await store.close()
