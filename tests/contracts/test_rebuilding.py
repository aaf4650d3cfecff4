"""Store contract: rebuilding indexes while searches continue."""

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict
from scrubjay.features.memory.store import MemoryCounts
from scrubjay.features.memory.writes import SearchData
from tests.contracts.samples import GLOBAL_ONLY, FoundPool, query, search, vector, write

NEW_MODEL = "better"


def derived(*terms: str, meaning: bytes = b"", model: str = NEW_MODEL) -> SearchData:
    return SearchData(passages=(terms,), traits=0, vector=meaning, model=model)


def names(pool: FoundPool) -> list[str]:
    return [candidate.memory.content for candidate in pool.candidates]


async def store_three_memories(store: Store) -> list[str]:
    """Store three memories; return their ids."""
    ids = ["mem_a", "mem_b", "mem_c"]
    await store.memories.put(
        [write(memory_id[-1], id=memory_id, terms=("old",), vector=vector(1, 0)) for memory_id in ids]
    )
    return ids


async def test_a_rebuild_changes_answers_only_when_it_is_finished(store: Store, other: Store) -> None:
    ids = await store_three_memories(store)
    assert await store.memories.begin_rebuild(resume=False) is None
    await store.memories.rebuild([(memory_id, derived("new", meaning=vector(0, 1))) for memory_id in ids])
    assert names(await search(other, query("old"))) == ["a", "b", "c"]
    assert names(await search(other, query("new"))) == []
    files = await store.memories.finish_rebuild()
    assert all(file.rows == 3 and file.bytes > 0 for file in files)
    for reader in (store, other):
        assert names(await search(reader, query("old"))) == []
        pool = await search(reader, query("new", vector=vector(0, 1), model=NEW_MODEL))
        assert [(c.memory.content, c.cosine) for c in pool.candidates] == [("a", 1), ("b", 1), ("c", 1)]
        assert (pool.texts, pool.frequencies) == (3, {"new": 3})
    assert await store.memories.counts() == MemoryCounts(3, 3, {NEW_MODEL: 3})
    assert (await store.check()).problems == []


async def test_writes_during_a_rebuild_are_found_before_and_after_it(store: Store, other: Store) -> None:
    await store_three_memories(store)
    await store.memories.begin_rebuild(resume=False)
    await other.memories.put([write("d", id="mem_d", terms=("fresh",), vector=vector(1, 0))])
    await other.memories.delete(GLOBAL_ONLY, ["mem_b"])
    assert names(await search(store, query("fresh"))) == ["d"]
    await store.memories.rebuild([(memory_id, derived("new")) for memory_id in ("mem_a", "mem_b", "mem_c", "mem_d")])
    await other.memories.put([write("e", terms=("fresh",))])
    await other.memories.delete(GLOBAL_ONLY, ["mem_c"])
    await store.memories.finish_rebuild()
    assert names(await search(other, query("fresh"))) == ["d", "e"]
    assert names(await search(other, query("new"))) == ["a"]
    assert (await search(store, query("old"))).texts == 3
    assert (await store.check()).problems == []


async def test_a_memory_revised_after_it_was_scanned_keeps_its_newer_words(store: Store, other: Store) -> None:
    await store.memories.put([write("old", id="mem_a", key="k", vector=vector(1, 0))])
    await store.memories.begin_rebuild(resume=False)
    (scanned,) = await store.memories.scan(None, 10)
    await other.memories.put([write("revised", key="k", vector=vector(0, 1))])
    await store.memories.rebuild([(scanned.id, derived("old", meaning=vector(1, 0)))])
    await store.memories.finish_rebuild()
    assert names(await search(store, query("old"))) == []
    pool = await search(store, query("revised", vector=vector(0, 1)))
    assert [(c.memory.content, c.cosine) for c in pool.candidates] == [("revised", 1)]


async def test_a_rebuild_is_resumed_or_restarted(store: Store, other: Store) -> None:
    await store_three_memories(store)
    assert await store.memories.begin_rebuild(resume=True) is None
    assert await other.memories.begin_rebuild(resume=True) is None
    await store.memories.rebuild([("mem_a", derived("new")), ("mem_b", derived("new"))])
    await store.memories.delete(GLOBAL_ONLY, ["mem_b"])
    after = await other.memories.begin_rebuild(resume=True)
    assert [memory.id for memory in await other.memories.scan(after, 10)] == ["mem_c"]
    assert await other.memories.begin_rebuild(resume=False) is None
    await other.memories.rebuild([(memory_id, derived("newest")) for memory_id in ("mem_a", "mem_c")])
    await other.memories.rebuild([])
    await other.memories.finish_rebuild()
    assert names(await search(store, query("newest", "new"))) == ["a", "c"]


async def test_a_rebuild_that_misses_memories_cannot_be_finished(store: Store) -> None:
    await store_three_memories(store)
    await store.memories.begin_rebuild(resume=False)
    await store.memories.rebuild([("mem_a", derived("new"))])
    with pytest.raises(Conflict, match="2 memories"):
        await store.memories.finish_rebuild()
    assert names(await search(store, query("old"))) == ["a", "b", "c"]
    assert await store.memories.begin_rebuild(resume=True) == "mem_a"


async def test_without_a_rebuild_there_is_nothing_to_resume_or_finish(store: Store) -> None:
    await store_three_memories(store)
    with pytest.raises(Conflict):
        await store.memories.rebuild([("mem_a", derived("new"))])
    with pytest.raises(Conflict):
        await store.memories.finish_rebuild()
    assert (await store.check()).problems == []
