"""Store contract: replacing one embedding model by another."""

from dataclasses import replace

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict
from scrubjay.core.progress import Progress
from scrubjay.features.embeddings.models import ChosenModel, ModelState, NewVector, UnembeddedMemory
from scrubjay.features.memory.store import MemoryCounts
from scrubjay.features.memory.writes import MemoryWrite
from scrubjay.tooling.jobs.models import JobState
from tests.contracts.samples import GLOBAL_ONLY, MODEL, query, search, vector, write

NEXT = "next"
NEXT_MODEL = ChosenModel(choice={"provider": "vllm", "batch_size": 8}, model=NEXT, dimensions=2, change_id="change_1")


async def store_memories(store: Store, *contents: str) -> list[NewVector]:
    """Store memories with vectors of the old model; return those of the new one."""
    await store.memories.put([write(content, id=f"mem_{content}", vector=vector(1, 0)) for content in contents])
    return [NewVector(f"mem_{content}", content, vector(0, 1)) for content in contents]


async def test_without_a_choice_there_is_no_model(store: Store) -> None:
    assert await store.embeddings.state() == ModelState()


async def test_every_process_sees_the_next_model_and_its_job_at_once(store: Store, other: Store) -> None:
    await store.embeddings.begin(NEXT_MODEL)
    assert await other.embeddings.state() == ModelState(next=NEXT_MODEL)
    job = await store.jobs.add("embed_memories", {}, owner="me")
    claimed = await store.embeddings.claim("change_1", job.id)
    assert claimed == ModelState(next=NEXT_MODEL, job_id=job.id, is_running=True)
    assert await other.embeddings.state() == claimed
    await store.jobs.finish(job.id, "me", JobState.CANCELLED, progress=Progress())
    assert await other.embeddings.state() == replace(claimed, is_running=False)


async def test_a_model_is_used_once_every_memory_has_its_vector(store: Store, other: Store) -> None:
    vectors = await store_memories(store, "a", "b")
    await store.embeddings.begin(NEXT_MODEL)
    await store.embeddings.put(NEXT, vectors[:1])
    assert await store.embeddings.complete("change_1") is False
    assert await other.embeddings.state() == ModelState(next=NEXT_MODEL)
    await store.embeddings.put(NEXT, vectors[1:])
    assert await store.embeddings.complete("change_1") is True
    assert await other.embeddings.state() == ModelState(active=NEXT_MODEL)
    assert await store.embeddings.complete("change_1") is True


async def test_the_later_of_two_choices_wins(store: Store, other: Store) -> None:
    await store.embeddings.begin(NEXT_MODEL)
    later = replace(NEXT_MODEL, choice=None, model="later", change_id="change_2")
    await other.embeddings.begin(later)
    with pytest.raises(Conflict, match="another embedding model"):
        await store.embeddings.claim("change_1", "job_1")
    with pytest.raises(Conflict, match="another embedding model"):
        await store.embeddings.complete("change_1")
    assert await store.embeddings.complete("change_2") is True
    assert await store.embeddings.state() == ModelState(active=later)


async def test_memories_without_a_vector_are_listed_in_storage_order(store: Store) -> None:
    await store.memories.put(
        [
            write("wrong model", id="mem_z", vector=vector(1, 0), model="other"),
            write("right", vector=vector(1, 0)),
            write("without meaning"),
            write("wrong length", id="mem_y", vector=vector(1, 0, 0)),
            write("nobody could make one", id="mem_x", model=""),
        ]
    )
    missing = await store.embeddings.missing(MODEL, 2, -1, 10)
    assert [(one.memory_id, one.content) for one in missing] == [
        ("mem_z", "wrong model"),
        ("mem_y", "wrong length"),
        ("mem_x", "nobody could make one"),
    ]
    assert await store.embeddings.count_missing(MODEL, 2) == 3
    assert await store.embeddings.missing(MODEL, 2, -1, 1) == missing[:1]
    assert await store.embeddings.missing(MODEL, 2, missing[0].seq, 10) == missing[1:]


async def test_a_vector_of_a_changed_or_erased_memory_is_not_stored(store: Store, other: Store) -> None:
    vectors = await store_memories(store, "a", "b", "c")
    await other.memories.put([write("old", id="mem_k", key="k", vector=vector(1, 0))])
    await other.memories.put([write("revised", key="k", vector=vector(1, 0))])
    await other.memories.delete(GLOBAL_ONLY, ["mem_b"])
    await store.embeddings.put(NEXT, [*vectors, NewVector("mem_k", "old", vector(0, 1))])
    unembedded, version = await store.embeddings.missing(NEXT, 2, -1, 10)
    assert unembedded == UnembeddedMemory(unembedded.seq, "mem_k", "revised")
    assert version.content == "old"
    assert await store.memories.counts() == MemoryCounts(4, 4, {NEXT: 2, MODEL: 4})


async def test_a_memory_stored_without_a_vector_can_get_one_later(store: Store) -> None:
    await store.memories.put([write("a", id="mem_a", model="")])
    assert (await store.check()).problems == []
    await store.embeddings.put(MODEL, [NewVector("mem_a", "a", vector(0, 1))])
    assert await store.embeddings.drop_replaced(MODEL, 10) == 0
    pool = await search(store, query(vector=vector(0, 1)))
    assert [(candidate.memory.content, candidate.cosine) for candidate in pool.candidates] == [("a", 1)]
    assert (await store.check()).problems == []


async def test_memories_written_during_a_change_of_models_have_both_vectors(store: Store) -> None:
    def both(content: str, meaning: bytes, next_meaning: bytes | None) -> MemoryWrite:
        revision = write(content, key="k", vector=meaning)
        next_vector = None if next_meaning is None else (NEXT, next_meaning)
        return replace(revision, derived=replace(revision.derived, next_vector=next_vector))

    await store.memories.put([both("first", vector(1, 0), vector(0, 1))])
    assert (await store.memories.counts()).vectors == {MODEL: 1, NEXT: 1}
    await store.memories.put([both("second", vector(0, 1), vector(1, 0))])
    for model, meaning in ((MODEL, vector(0, 1)), (NEXT, vector(1, 0))):
        (candidate,) = (await search(store, query(vector=meaning, model=model))).candidates
        assert (candidate.memory.content, candidate.cosine) == ("second", 1)
    await store.memories.put([both("third", vector(1, 0), None)])
    assert (await store.memories.counts()).vectors == {MODEL: 3, NEXT: 2}  # including both earlier versions


async def test_the_old_vectors_are_used_until_they_are_dropped(store: Store, other: Store) -> None:
    vectors = await store_memories(store, "a", "b")
    await store.embeddings.begin(NEXT_MODEL)
    await store.embeddings.put(NEXT, vectors)
    pool = await search(other, query(vector=vector(1, 0)))
    assert [(candidate.memory.content, candidate.cosine) for candidate in pool.candidates] == [("a", 1), ("b", 1)]
    await store.embeddings.complete("change_1")
    assert [await store.embeddings.drop_replaced(NEXT, 1) for _ in range(3)] == [1, 1, 0]
    pool = await search(other, query(vector=vector(0, 1), model=NEXT))
    assert [(candidate.memory.content, candidate.cosine) for candidate in pool.candidates] == [("a", 1), ("b", 1)]
    assert await store.memories.counts() == MemoryCounts(2, 2, {NEXT: 2})
    assert (await store.check()).problems == []


async def test_vectors_in_use_or_in_preparation_are_not_dropped(store: Store) -> None:
    vectors = await store_memories(store, "a", "b")
    await store.embeddings.begin(NEXT_MODEL)
    await store.embeddings.put(NEXT, vectors)
    await store.embeddings.put("third", vectors[:1])
    assert await store.embeddings.drop_replaced("third", 10) == 1  # the old vector of the memory that has the third
    assert (await store.memories.counts()).vectors == {MODEL: 1, NEXT: 2, "third": 1}
    await store.embeddings.complete("change_1")
    assert await store.embeddings.drop_replaced("third", 10) == 0
    assert (await store.memories.counts()).vectors == {MODEL: 1, NEXT: 2, "third": 1}


async def test_a_rebuild_does_not_drop_the_vectors_of_the_next_model(store: Store) -> None:
    vectors = await store_memories(store, "a")
    await store.embeddings.begin(NEXT_MODEL)
    await store.embeddings.put(NEXT, vectors)
    await store.memories.begin_rebuild(resume=False)
    await store.memories.rebuild([("mem_a", write("a", vector=vector(1, 0)).derived)])
    await store.memories.finish_rebuild()
    assert (await store.memories.counts()).vectors == {MODEL: 1, NEXT: 1}
