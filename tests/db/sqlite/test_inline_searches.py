"""The thread of a search: the caller's for a short one, a reader thread for a long one."""

import threading
from pathlib import Path

import anyio
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Unavailable
from scrubjay.features.memory import sqlite as memories
from scrubjay.features.memory.store import SearchView
from tests.contracts.samples import query, search, vector, write

QUERY = query("word", vector=vector(1, 0))


async def ranked_inline(store: SqliteStore) -> tuple[int, bool]:
    """Return the number of candidates, and whether they were ranked on this thread."""

    def rank(view: SearchView) -> tuple[int, bool]:
        return len(view.candidates().handles), threading.current_thread() is threading.main_thread()

    return await store.memories.in_snapshot(QUERY, rank)


async def put(store: SqliteStore, count: int) -> None:
    await store.memories.put([write(f"word {number}", vector=vector(1, number)) for number in range(count)])


async def test_in_a_small_store_only_the_first_search_needs_another_thread(store: SqliteStore) -> None:
    await put(store, 3)
    assert await ranked_inline(store) == (3, False)
    assert await ranked_inline(store) == (3, True)
    await put(store, 2)
    assert await ranked_inline(store) == (5, True)


async def test_an_inline_search_finds_memories_of_other_processes(store: SqliteStore, home: Path) -> None:
    await put(store, 3)
    await ranked_inline(store)
    other = await SqliteStore.open(home)
    await put(other, 1)
    await other.close()
    assert await ranked_inline(store) == (4, True)


async def test_a_search_that_must_read_many_changes_runs_on_another_thread(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "MAX_INLINE_CHANGES", 4)
    await put(store, 3)
    await ranked_inline(store)
    await put(store, 5)
    assert await ranked_inline(store) == (8, False)
    assert await ranked_inline(store) == (8, True)


async def test_in_a_large_store_every_search_runs_on_another_thread(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "MAX_INLINE_MEMORIES", 4)
    await put(store, 5)
    await ranked_inline(store)
    assert await ranked_inline(store) == (5, False)


async def test_concurrent_first_searches_are_all_answered(store: SqliteStore) -> None:
    await put(store, 3)
    await ranked_inline(store)
    results: list[tuple[int, bool]] = []

    async def run_search() -> None:
        results.append(await ranked_inline(store))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(run_search)
    assert results == [(3, True)] * 8


async def test_a_failure_of_an_inline_search_is_translated_like_any_other(store: SqliteStore) -> None:
    await put(store, 3)
    await ranked_inline(store)

    def fail(view: SearchView) -> None:
        raise Unavailable("ranking failed")

    with pytest.raises(Unavailable, match="ranking failed"):
        await store.memories.in_snapshot(QUERY, fail)
    assert await ranked_inline(store) == (3, True)


async def test_a_closed_store_refuses_inline_searches(store: SqliteStore) -> None:
    await put(store, 3)
    await ranked_inline(store)
    await ranked_inline(store)
    await store.close()
    with pytest.raises(Unavailable, match="closed"):
        await search(store, QUERY)
