"""How every backend lets one embedding model take the place of another."""

from dataclasses import replace

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict
from scrubjay.core.progress import Progress
from scrubjay.features.embeddings.models import ChosenModel, MadeVector, ModelState, Unembedded
from scrubjay.features.memory.models import MemoryWrite
from scrubjay.features.memory.store import MemoryCounts
from scrubjay.tooling.jobs.models import JobState
from tests.contracts.samples import MODEL, NOBODY_IN_PARTICULAR, query, search, vector, write

NEXT = "next"
COMING = ChosenModel(choice={"provider": "vllm", "batch_size": 8}, model=NEXT, dimensions=2, change_id="change_1")


async def keep(store: Store, *contents: str) -> list[MadeVector]:
    """Memories with vectors of the old model; what the new one would make of them."""
    await store.memories.put([write(own, id=f"mem_{own}", vector=vector(1, 0)) for own in contents])
    return [MadeVector(f"mem_{own}", own, vector(0, 1)) for own in contents]


async def test_without_a_choice_there_is_no_model(store: Store) -> None:
    assert await store.embeddings.state() == ModelState()


async def test_every_process_sees_at_once_what_is_coming_and_whether_a_job_is_at_it(store: Store, other: Store) -> None:
    await store.embeddings.begin(COMING)
    assert await other.embeddings.state() == ModelState(coming=COMING)
    job = await store.jobs.add("embed_memories", {}, owner="me")
    claimed = await store.embeddings.claim("change_1", job.id)
    assert claimed == ModelState(coming=COMING, job_id=job.id, under_way=True)
    assert await other.embeddings.state() == claimed
    await store.jobs.finish(job.id, "me", JobState.CANCELLED, progress=Progress())
    assert await other.embeddings.state() == replace(claimed, under_way=False)


async def test_a_model_answers_once_no_memory_lacks_its_vector(store: Store, other: Store) -> None:
    made = await keep(store, "a", "b")
    await store.embeddings.begin(COMING)
    await store.embeddings.keep(NEXT, made[:1])
    assert await store.embeddings.complete("change_1") is False
    assert await other.embeddings.state() == ModelState(coming=COMING)
    await store.embeddings.keep(NEXT, made[1:])
    assert await store.embeddings.complete("change_1") is True
    assert await other.embeddings.state() == ModelState(answering=COMING)
    assert await store.embeddings.complete("change_1") is True


async def test_of_two_choices_the_later_one_holds(store: Store, other: Store) -> None:
    await store.embeddings.begin(COMING)
    later = replace(COMING, choice=None, model="later", change_id="change_2")
    await other.embeddings.begin(later)
    with pytest.raises(Conflict, match="another embedding model"):
        await store.embeddings.claim("change_1", "job_1")
    with pytest.raises(Conflict, match="another embedding model"):
        await store.embeddings.complete("change_1")
    assert await store.embeddings.complete("change_2") is True
    assert await store.embeddings.state() == ModelState(answering=later)


async def test_what_lacks_a_vector_is_found_in_the_order_kept(store: Store) -> None:
    await store.memories.put(
        [
            write("wrong model", id="mem_z", vector=vector(1, 0), model="other"),
            write("right", vector=vector(1, 0)),
            write("without meaning"),
            write("wrong length", id="mem_y", vector=vector(1, 0, 0)),
            write("nobody could make one", id="mem_x", model=""),
        ]
    )
    found = await store.embeddings.lacking(MODEL, 2, -1, 10)
    assert [(one.memory_id, one.content) for one in found] == [
        ("mem_z", "wrong model"),
        ("mem_y", "wrong length"),
        ("mem_x", "nobody could make one"),
    ]
    assert await store.embeddings.count_lacking(MODEL, 2) == 3
    assert await store.embeddings.lacking(MODEL, 2, -1, 1) == found[:1]
    assert await store.embeddings.lacking(MODEL, 2, found[0].place, 10) == found[1:]


async def test_a_vector_is_not_kept_of_what_was_changed_or_erased_meanwhile(store: Store, other: Store) -> None:
    made = await keep(store, "a", "b", "c")
    await other.memories.put([write("old", id="mem_k", key="k", vector=vector(1, 0))])
    await other.memories.put([write("revised", key="k", vector=vector(1, 0))])
    await other.memories.delete(NOBODY_IN_PARTICULAR, ["mem_b"])
    await store.embeddings.keep(NEXT, [*made, MadeVector("mem_k", "old", vector(0, 1))])
    lacking, version = await store.embeddings.lacking(NEXT, 2, -1, 10)
    assert lacking == Unembedded(lacking.place, "mem_k", "revised")
    assert version.content == "old"
    assert await store.memories.counts() == MemoryCounts(4, 4, {NEXT: 2, MODEL: 4})


async def test_what_was_kept_without_a_vector_is_whole_once_it_has_one(store: Store) -> None:
    await store.memories.put([write("a", id="mem_a", model="")])
    assert (await store.check()).problems == []
    await store.embeddings.keep(MODEL, [MadeVector("mem_a", "a", vector(0, 1))])
    assert await store.embeddings.drop_replaced(MODEL, 10) == 0
    pool = await search(store, query(vector=vector(0, 1)))
    assert [(found.memory.content, found.cosine) for found in pool.candidates] == [("a", 1)]
    assert (await store.check()).problems == []


async def test_what_is_written_during_a_change_has_both_vectors_and_a_revision_new_ones(store: Store) -> None:
    def both(content: str, meaning: bytes, coming: bytes | None) -> MemoryWrite:
        made = write(content, key="k", vector=meaning)
        to_come = None if coming is None else (NEXT, coming)
        return replace(made, derived=replace(made.derived, vector_to_come=to_come))

    await store.memories.put([both("first", vector(1, 0), vector(0, 1))])
    assert (await store.memories.counts()).vectors == {MODEL: 1, NEXT: 1}
    await store.memories.put([both("second", vector(0, 1), vector(1, 0))])
    for model, meaning in ((MODEL, vector(0, 1)), (NEXT, vector(1, 0))):
        (found,) = (await search(store, query(vector=meaning, model=model))).candidates
        assert (found.memory.content, found.cosine) == ("second", 1)
    await store.memories.put([both("third", vector(1, 0), None)])
    assert (await store.memories.counts()).vectors == {MODEL: 3, NEXT: 2}  # those of both earlier versions too


async def test_the_old_vectors_answer_until_they_are_dropped(store: Store, other: Store) -> None:
    made = await keep(store, "a", "b")
    await store.embeddings.begin(COMING)
    await store.embeddings.keep(NEXT, made)
    pool = await search(other, query(vector=vector(1, 0)))
    assert [(found.memory.content, found.cosine) for found in pool.candidates] == [("a", 1), ("b", 1)]
    await store.embeddings.complete("change_1")
    assert [await store.embeddings.drop_replaced(NEXT, 1) for _ in range(3)] == [1, 1, 0]
    pool = await search(other, query(vector=vector(0, 1), model=NEXT))
    assert [(found.memory.content, found.cosine) for found in pool.candidates] == [("a", 1), ("b", 1)]
    assert await store.memories.counts() == MemoryCounts(2, 2, {NEXT: 2})
    assert (await store.check()).problems == []


async def test_nothing_is_dropped_that_answers_is_coming_or_is_all_that_a_memory_has(store: Store) -> None:
    made = await keep(store, "a", "b")
    await store.embeddings.begin(COMING)
    await store.embeddings.keep(NEXT, made)
    await store.embeddings.keep("third", made[:1])
    assert await store.embeddings.drop_replaced("third", 10) == 1  # of the old model, and of what has the third
    assert (await store.memories.counts()).vectors == {MODEL: 1, NEXT: 2, "third": 1}
    await store.embeddings.complete("change_1")
    assert await store.embeddings.drop_replaced("third", 10) == 0
    assert (await store.memories.counts()).vectors == {MODEL: 1, NEXT: 2, "third": 1}


async def test_a_rebuild_does_not_drop_the_vectors_of_a_model_that_is_coming(store: Store) -> None:
    made = await keep(store, "a")
    await store.embeddings.begin(COMING)
    await store.embeddings.keep(NEXT, made)
    await store.memories.begin_rebuild(resume=False)
    await store.memories.rebuild([("mem_a", write("a", vector=vector(1, 0)).derived)])
    await store.memories.finish_rebuild()
    assert (await store.memories.counts()).vectors == {MODEL: 1, NEXT: 1}
