"""Store contract: maintenance of a whole store."""

from pathlib import Path

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict, InvalidRequest, Unavailable
from tests.contracts.conftest import Backend
from tests.contracts.samples import GLOBAL_ONLY, query, search, vector, write


async def test_data_survives_closing_and_reopening(backend: Backend) -> None:
    first = await backend.open()
    stored = write("durable", vector=vector(1, 0))
    await first.memories.put([stored])
    project = await first.projects.ensure("/p", None)
    job = await first.jobs.add("index", {}, owner=None)
    await first.usage.add({"recall": 1})
    await first.close()
    second = await backend.open()
    assert await second.memories.get(GLOBAL_ONLY, stored.memory.id) == stored.memory
    assert len((await search(second, query("durable", vector=vector(1, 0)))).candidates) == 1
    assert await second.projects.list() == [project]
    assert await second.jobs.get(job.id) == job
    assert await second.usage.counts() == {"recall": 1}


async def test_a_closed_store_refuses_calls(backend: Backend) -> None:
    store = await backend.open()
    await store.close()
    await store.close()
    with pytest.raises(Unavailable, match="closed"):
        await store.memories.counts()
    with pytest.raises(Unavailable, match="closed"):
        await store.memories.put([write("late")])
    with pytest.raises(Unavailable, match="closed"):
        await store.ping()
    with pytest.raises(Unavailable, match="closed"):
        await store.check()


async def test_a_healthy_store_answers_a_ping_and_has_no_problems(store: Store) -> None:
    await store.memories.put([write("one", vector=vector(1, 0)), write("two")])
    await store.ping()
    report = await store.check()
    assert report.checked
    assert report.problems == []


async def test_info_describes_the_store(store: Store, other: Store) -> None:
    info = await store.info()
    assert info.schema_version >= 1
    assert info.bytes > 0
    await store.memories.put([write("x" * 1_000_000)])
    assert (await other.info()).bytes > info.bytes


async def test_a_backup_is_a_complete_store_and_overwrites_nothing(store: Store, tmp_path: Path) -> None:
    await store.memories.put([write("copied", vector=vector(1, 0))])
    target = tmp_path / "copies" / "copy.db"
    with pytest.raises(InvalidRequest, match="does not exist"):
        await store.backup(target)
    target.parent.mkdir()
    info = await store.backup(target)
    assert (info.location, info.bytes) == (str(target), target.stat().st_size)
    with pytest.raises(Conflict, match="exists"):
        await store.backup(target)
    assert [path.name for path in target.parent.iterdir()] == ["copy.db"]


async def test_vacuum_returns_the_space_of_deleted_memories(store: Store) -> None:
    big = write("x" * 2_000_000)
    await store.memories.put([big, write("small")])
    await store.memories.delete(GLOBAL_ONLY, [big.memory.id])
    before = await store.info()
    after = await store.vacuum()
    assert after.bytes < before.bytes - 1_000_000
    assert [memory.content for memory in await store.memories.scan(None, 10)] == ["small"]
    assert (await store.check()).problems == []
