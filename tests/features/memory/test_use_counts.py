"""Counting of uses of recalled memories, without delaying recall (feature 65)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

import anyio
import pytest

from scrubjay.core.errors import Unavailable
from scrubjay.features.memory import use_counts as uses
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.memory.use_counts import FLUSH_COUNT, UseCounter

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class RecordingStore:
    """The only method of a store that `UseCounter` calls; records the writes."""

    def __init__(self) -> None:
        self.writes: list[tuple[dict[str, int], datetime]] = []
        self.called = anyio.Event()
        self.failure: Exception | None = None

    async def add_uses(self, uses: Mapping[str, int], used_at: datetime) -> None:
        self.called.set()
        if self.failure:
            raise self.failure
        self.writes.append((dict(uses), used_at))


@pytest.fixture
def store() -> RecordingStore:
    return RecordingStore()


@pytest.fixture
def counter(store: RecordingStore) -> UseCounter:
    return UseCounter(cast(MemoryStore, store), lambda: NOW)


async def test_065_uses_accumulate_until_they_are_written_then_restart_at_zero(
    store: RecordingStore, counter: UseCounter
) -> None:
    counter.count(["a", "b"])
    counter.count(["a"])
    await counter.flush()
    await counter.flush()
    counter.count(["b"])
    await counter.flush()
    assert store.writes == [({"a": 2, "b": 1}, NOW), ({"b": 1}, NOW)]


async def test_065_uses_are_written_after_the_flush_interval(
    store: RecordingStore, counter: UseCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uses, "FLUSH_SECONDS", 0.01)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(counter.run)
        for name in ("a", "b"):
            store.called = anyio.Event()
            counter.count([name])
            with anyio.fail_after(5):
                await store.called.wait()
        tasks.cancel_scope.cancel()
    assert store.writes == [({"a": 1}, NOW), ({"b": 1}, NOW)]


async def test_065_many_uses_are_written_immediately(
    store: RecordingStore, counter: UseCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uses, "FLUSH_SECONDS", 3600)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(counter.run)
        counter.count(str(number) for number in range(FLUSH_COUNT - 1))
        await anyio.wait_all_tasks_blocked()
        assert store.writes == []
        counter.count(["0"])
        await anyio.wait_all_tasks_blocked()
        assert store.writes == []
        counter.count(["one more"])
        with anyio.fail_after(5):
            await store.called.wait()
        tasks.cancel_scope.cancel()
    assert sum(store.writes[0][0].values()) == FLUSH_COUNT + 1


async def test_065_nothing_is_written_without_uses(store: RecordingStore, counter: UseCounter) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(counter.run)
        counter.count([])
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    await counter.flush()
    assert not store.called.is_set()


async def test_065_a_failing_store_loses_only_use_counts(
    store: RecordingStore, counter: UseCounter, caplog: pytest.LogCaptureFixture
) -> None:
    store.failure = Unavailable("the disk is read-only")
    counter.count(["a"])
    await counter.flush()
    assert [record.message for record in caplog.records] == ["use counts were not stored"]
    store.failure = None
    counter.count(["b"])
    await counter.flush()
    assert store.writes == [({"b": 1}, NOW)]
