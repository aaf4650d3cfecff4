"""What recall answers is counted, without making any answer wait (feature 65)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

import anyio
import pytest

from scrubjay.core.errors import Unavailable
from scrubjay.features.memory import use_counts as uses
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.memory.use_counts import KEEP_AT_ONCE, Uses

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Notes:
    """The one method of a store that counting needs."""

    def __init__(self) -> None:
        self.noted: list[tuple[dict[str, int], datetime]] = []
        self.came = anyio.Event()
        self.failure: Exception | None = None

    async def note_uses(self, uses: Mapping[str, int], used_at: datetime) -> None:
        self.came.set()
        if self.failure:
            raise self.failure
        self.noted.append((dict(uses), used_at))


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def counting(notes: Notes) -> Uses:
    return Uses(cast(MemoryStore, notes), lambda: NOW)


async def test_065_answers_add_up_until_they_are_written_and_then_begin_anew(notes: Notes, counting: Uses) -> None:
    counting.note(["a", "b"])
    counting.note(["a"])
    await counting.flush()
    await counting.flush()
    counting.note(["b"])
    await counting.flush()
    assert notes.noted == [({"a": 2, "b": 1}, NOW), ({"b": 1}, NOW)]


async def test_065_a_while_after_an_answer_it_is_written(
    notes: Notes, counting: Uses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uses, "KEEP_SECONDS", 0.01)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(counting.keep)
        for name in ("a", "b"):
            notes.came = anyio.Event()
            counting.note([name])
            with anyio.fail_after(5):
                await notes.came.wait()
        tasks.cancel_scope.cancel()
    assert notes.noted == [({"a": 1}, NOW), ({"b": 1}, NOW)]


async def test_065_many_answers_are_written_at_once(
    notes: Notes, counting: Uses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uses, "KEEP_SECONDS", 3600)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(counting.keep)
        counting.note(str(number) for number in range(KEEP_AT_ONCE - 1))
        await anyio.wait_all_tasks_blocked()
        assert notes.noted == []
        counting.note(["0"])
        await anyio.wait_all_tasks_blocked()
        assert notes.noted == []
        counting.note(["one more"])
        with anyio.fail_after(5):
            await notes.came.wait()
        tasks.cancel_scope.cancel()
    assert sum(notes.noted[0][0].values()) == KEEP_AT_ONCE + 1


async def test_065_no_answer_is_no_reason_to_write(notes: Notes, counting: Uses) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(counting.keep)
        counting.note([])
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    await counting.flush()
    assert not notes.came.is_set()


async def test_065_a_store_that_cannot_be_written_loses_counts_and_nothing_else(
    notes: Notes, counting: Uses, caplog: pytest.LogCaptureFixture
) -> None:
    notes.failure = Unavailable("the disk is read-only")
    counting.note(["a"])
    await counting.flush()
    assert [record.message for record in caplog.records] == ["uses of memories could not be kept"]
    notes.failure = None
    counting.note(["b"])
    await counting.flush()
    assert notes.noted == [({"b": 1}, NOW)]
