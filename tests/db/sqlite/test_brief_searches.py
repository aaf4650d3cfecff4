"""Where a search runs: a short one on the caller's thread, a long one on a reader's."""

import threading
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Unavailable
from scrubjay.features.memory import sqlite as memories
from scrubjay.features.memory.models import CandidatePool
from tests.contracts.samples import query, search, vector, write

ASKED = query("word", vector=vector(1, 0))


async def where_it_ran(store: SqliteStore) -> tuple[int, bool]:
    """How many candidates there were, and whether they were ranked on this thread."""
    ran: list[tuple[int, bool]] = []

    def choose(pool: CandidatePool) -> Sequence[int]:
        ran.append((len(pool.handles), threading.current_thread() is threading.main_thread()))
        return []

    await store.memories.search(ASKED, choose)
    (found,) = ran
    return found


async def put(store: SqliteStore, count: int) -> None:
    await store.memories.put([write(f"word {number}", vector=vector(1, number)) for number in range(count)])


async def test_only_the_first_search_among_few_memories_needs_another_thread(store: SqliteStore) -> None:
    await put(store, 3)
    assert await where_it_ran(store) == (3, False)
    assert await where_it_ran(store) == (3, True)
    await put(store, 2)
    assert await where_it_ran(store) == (5, True)


async def test_what_others_kept_is_found_on_this_thread_too(store: SqliteStore, home: Path) -> None:
    await put(store, 3)
    await where_it_ran(store)
    other = await SqliteStore.open(home)
    await put(other, 1)
    await other.close()
    assert await where_it_ran(store) == (4, True)


async def test_catching_up_with_many_changes_is_left_to_another_thread(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "FEW_CHANGES", 4)
    await put(store, 3)
    await where_it_ran(store)
    await put(store, 5)
    assert await where_it_ran(store) == (8, False)
    assert await where_it_ran(store) == (8, True)


async def test_among_many_memories_every_search_is_left_to_another_thread(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "FEW_MEMORIES", 4)
    await put(store, 5)
    await where_it_ran(store)
    assert await where_it_ran(store) == (5, False)


async def test_first_searches_at_once_are_all_answered(store: SqliteStore) -> None:
    await put(store, 3)
    await where_it_ran(store)
    found: list[tuple[int, bool]] = []

    async def ask() -> None:
        found.append(await where_it_ran(store))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(ask)
    assert found == [(3, True)] * 8


async def test_a_failure_on_this_thread_is_told_as_on_any_other(store: SqliteStore) -> None:
    await put(store, 3)
    await where_it_ran(store)

    def fail(pool: CandidatePool) -> Sequence[int]:
        raise Unavailable("ranking failed")

    with pytest.raises(Unavailable, match="ranking failed"):
        await store.memories.search(ASKED, fail)
    assert await where_it_ran(store) == (3, True)


async def test_a_closed_store_answers_on_no_thread(store: SqliteStore) -> None:
    await put(store, 3)
    await where_it_ran(store)
    await where_it_ran(store)
    await store.close()
    with pytest.raises(Unavailable, match="closed"):
        await search(store, ASKED)
