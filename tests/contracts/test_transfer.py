"""Memories move out of a store as they were at one moment, and in without touching what is there."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Cancelled, Conflict, QuotaExceeded
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import Derived, Kind, Memory
from scrubjay.features.transfer.models import Moved
from scrubjay.features.transfer.store import Arrived, Outgoing
from tests.contracts.samples import EVERYTHING, MODEL, NOW, link, query, search, vector, write

ALL = frozenset(Kind)
EVERYBODY = Visibility()


def pair(content: str, uses: int = 0, **fields: Any) -> tuple[Moved, Derived]:
    made = write(content, vector=vector(1, 0), **fields)
    return Moved(made.memory, uses, NOW if uses else None), made.derived


async def moved_out(store: Store, kinds: Collection[Kind] = ALL) -> tuple[dict[Kind, int], list[str], list[Moved]]:
    def work(outgoing: Outgoing) -> tuple[dict[Kind, int], list[str], list[Moved]]:
        return dict(outgoing.counts), [project.path for project in outgoing.projects], list(outgoing.memories)

    return await store.transfer.move_out(kinds, work)


async def contents(store: Store) -> list[str]:
    return [moved.memory.content for moved in (await moved_out(store))[2]]


async def found(store: Store, *words: str) -> list[str]:
    """What words find, through the text index and the index of search."""
    return [one.memory.content for one in (await search(store, query(*words))).candidates if one.bm25 > 0]


async def whole(store: Store) -> bool:
    return (await store.check()).problems == []


async def test_101_everything_moves_out_in_the_order_kept_with_its_uses_and_projects(store: Store) -> None:
    project = await store.projects.ensure("/here", None)
    await store.projects.ensure("/nothing/is/here", None)
    writes = [
        write(
            "in a project",
            scope=Scope.PROJECT,
            project_id=project.id,
            key="k",
            tags=("a", "b"),
            links=(link("a.py::run", text="def run"), link("b.py")),
        ),
        write("in a session", scope=Scope.SESSION, session_id="s", kind=Kind.TURN, details={"prompt": "in"}),
        write("a summary", kind=Kind.SUMMARY, metadata={"deep": [1, {"er": None}]}, occurred_at=NOW - timedelta(1)),
    ]
    await store.memories.put(writes)
    await store.memories.note_uses({writes[1].memory.id: 3}, NOW)
    expected = [Moved(writes[0].memory), Moved(writes[1].memory, 3, NOW), Moved(writes[2].memory)]
    assert await moved_out(store) == ({Kind.GENERAL: 1, Kind.SUMMARY: 1, Kind.TURN: 1}, ["/here"], expected)
    assert (await moved_out(store, {Kind.SUMMARY}))[2] == expected[2:]


async def test_101_what_is_written_meanwhile_is_not_in_what_moves_out(store: Store, other: Store) -> None:
    import anyio.from_thread

    await store.memories.put([write(f"before {number}") for number in range(50)])

    def work(outgoing: Outgoing) -> list[str]:
        anyio.from_thread.run(other.memories.put, [write("later")])
        first = next(outgoing.memories).memory.content
        anyio.from_thread.run(other.memories.put, [write("much later")])
        return [first, *(moved.memory.content for moved in outgoing.memories)]

    assert await store.transfer.move_out(ALL, work) == [f"before {number}" for number in range(50)]
    assert (await contents(store))[-2:] == ["later", "much later"]


async def test_101_work_that_gives_up_ends_the_reading(store: Store) -> None:
    def work(outgoing: Outgoing) -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        await store.transfer.move_out(ALL, work)
    assert await contents(store) == []


async def test_101_what_is_there_is_skipped_and_never_changed(store: Store) -> None:
    same_key, same_id = write("the old value", key="colour"), write("the old text")
    await store.memories.put([same_key, same_id])
    await store.transfer.begin("job", "checksum")
    arrived = await store.transfer.keep(
        "job",
        5,
        [
            pair("the new value", key="colour"),
            pair("the new text", id=same_id.memory.id),
            pair("the same key elsewhere", key="colour", scope=Scope.SESSION, session_id="s"),
            pair("a newcomer", uses=7),
            pair("a newcomer of the same batch", key="colour"),
        ],
    )
    assert arrived == Arrived(read=5, imported=2, skipped=3)
    assert await contents(store) == ["the old value", "the old text", "the same key elsewhere", "a newcomer"]
    assert (await moved_out(store))[2][3].uses == 7
    assert await found(store, "newcomer") == ["a newcomer"]
    assert (await store.memories.counts()).vectors == {MODEL: 2}
    assert await whole(store)


async def test_101_what_a_memory_was_before_comes_only_with_it(store: Store) -> None:
    await store.memories.put([write("mine", key="k")])
    await store.transfer.begin("job", "checksum")
    theirs, fresh = pair("theirs", key="k"), pair("fresh", key="other")
    batch = [
        theirs,
        pair("theirs before", id="old_1", superseded_by=theirs[0].memory.id, valid_until=NOW),
        fresh,
        pair("fresh before", id="old_2", superseded_by=fresh[0].memory.id, valid_until=NOW),
    ]
    assert await store.transfer.keep("job", 4, batch) == Arrived(read=4, imported=2, skipped=2)
    history = await store.memories.history(EVERYBODY, fresh[0].memory.id)
    assert [memory.content for memory in history] == ["fresh before", "fresh"]
    assert await contents(store) == ["mine", "fresh", "fresh before"]


async def test_101_an_import_goes_on_where_it_was_unless_its_file_is_another(store: Store, other: Store) -> None:
    assert await store.transfer.begin("job", "one") == Arrived()
    await store.transfer.keep("job", 2, [pair("a"), pair("b")])
    assert await other.transfer.begin("job", "one") == Arrived(read=2, imported=2)
    assert await other.transfer.keep("job", 3, [pair("c")]) == Arrived(read=3, imported=3)
    assert await store.transfer.begin("job", "another") == Arrived()


async def test_101_what_is_staged_is_seen_by_nobody_until_it_takes_the_place_of_all_in_one_step(
    store: Store, other: Store
) -> None:
    old = write("an old tea", key="drink")
    await store.memories.put([old, write("an old summary", kind=Kind.SUMMARY)])
    await store.transfer.begin("job", "checksum")
    assert await store.transfer.stage("job", 1, [pair("a new tea", key="drink", uses=2)]) == Arrived(read=1)
    replaced = replace(old.memory, content="an old tea as it was")
    made = write("an old tea as it was").derived
    assert await store.transfer.stage("job", 2, [(Moved(replaced), made)]) == Arrived(read=2, skipped=1)
    for seen in (store, other):
        assert await contents(seen) == ["an old tea", "an old summary"]
        assert await found(seen, "tea") == ["an old tea"]
    arrived = await store.transfer.exchange("job", ALL - {Kind.SUMMARY})
    assert arrived == Arrived(read=2, imported=1, skipped=1, erased=1, finished=True)
    for seen in (store, other):
        assert await contents(seen) == ["an old summary", "a new tea"]
        assert await found(seen, "tea") == ["a new tea"]
    assert (await moved_out(store))[2][1].uses == 2
    assert await store.transfer.begin("job", "checksum") == arrived
    assert await whole(store)


async def test_101_an_exchange_takes_part_in_a_rebuild_that_is_under_way(store: Store) -> None:
    old = write("an old tea")
    await store.memories.put([old])
    await store.transfer.begin("job", "checksum")
    await store.transfer.stage("job", 1, [pair("a new tea")])
    await store.memories.begin_rebuild(resume=False)
    await store.memories.rebuild([(old.memory.id, old.derived)])
    await store.transfer.exchange("job", ALL)
    await store.memories.finish_rebuild()
    assert await found(store, "tea") == ["a new tea"]
    assert await whole(store)


async def test_101_a_vector_of_a_model_to_come_comes_along(store: Store) -> None:
    await store.transfer.begin("job", "checksum")
    moved, derived = pair("two vectors")
    both = replace(derived, vector_to_come=("coming", vector(0, 1)))
    await store.transfer.keep("job", 1, [(moved, both)])
    await store.transfer.stage("job", 2, [(Moved(replace(moved.memory, id="another")), both)])
    assert (await store.memories.counts()).vectors == {MODEL: 1, "coming": 1}
    await store.transfer.exchange("job", ALL)
    assert (await store.memories.counts()).vectors == {MODEL: 1, "coming": 1}
    assert await contents(store) == ["two vectors"]


async def test_101_what_was_staged_in_vain_leaves_nothing_behind(store: Store) -> None:
    await store.transfer.begin("job", "checksum")
    await store.transfer.stage("job", 1, [pair("never to be seen")])
    await store.transfer.end("job")
    await store.transfer.end("job")
    assert await store.transfer.exchange("job", ()) == Arrived(read=1, finished=True)
    assert await contents(store) == []


async def test_101_an_import_clears_away_what_those_before_it_left(store: Store) -> None:
    await store.transfer.begin("one that is gone", "checksum")
    await store.transfer.stage("one that is gone", 1, [pair("of one that is gone")])
    job = await store.jobs.add("import_database", {}, owner="me")
    await store.transfer.begin(job.id, "checksum")
    await store.transfer.stage(job.id, 1, [pair("of the job")])
    assert await store.transfer.begin(job.id, "checksum") == Arrived(read=1)
    await store.transfer.begin("the next", "checksum")
    assert await store.transfer.begin("one that is gone", "checksum") == Arrived()
    await store.transfer.exchange(job.id, ())
    assert await contents(store) == ["of the job"]


async def test_101_only_one_import_at_a_time_takes_the_place_of_all(store: Store, other: Store) -> None:
    job = await store.jobs.add("import_database", {}, owner="me")
    await store.transfer.begin(job.id, "checksum")
    await store.transfer.stage(job.id, 1, [pair("of the first")])
    await other.transfer.begin("second", "checksum")
    for attempt in (other.transfer.stage("second", 1, [pair("theirs")]), other.transfer.exchange("second", ALL)):
        with pytest.raises(Conflict) as refused:
            await attempt
        assert refused.value.details == {"job_id": job.id}
    await other.transfer.end("second")
    await store.transfer.exchange(job.id, ALL)
    await other.transfer.stage("second", 1, [pair("of the second")])
    await other.transfer.exchange("second", ALL)
    assert await contents(store) == ["of the second"]
    assert await whole(store)


async def test_101_what_waits_gives_way_to_what_stays(store: Store) -> None:
    key, same_id, used = (
        write("a summary under a key", kind=Kind.SUMMARY, key="k"),
        write("a summary", kind=Kind.SUMMARY),
        write("a summary that was an answer", kind=Kind.SUMMARY, vector=vector(0, 1)),
    )
    await store.memories.put([write("old"), key, same_id, used])
    await store.memories.note_uses({used.memory.id: 3}, NOW)
    await store.transfer.begin("job", "checksum")
    under_key, fresh = pair("of the same key", key="k"), pair("fresh")
    batch = [
        under_key,
        pair("what that was before", id="old_1", superseded_by=under_key[0].memory.id),
        pair("of the same id", id=same_id.memory.id),
        fresh,
        pair("what it was before", id="old_2", superseded_by=fresh[0].memory.id),
    ]
    await store.transfer.stage("job", 5, batch)
    arrived = await store.transfer.exchange("job", ALL - {Kind.SUMMARY})
    assert arrived == Arrived(read=5, imported=2, skipped=3, erased=1, finished=True)
    stays = [one.memory.content for one in (key, same_id, used)]
    assert await contents(store) == [*stays, "fresh", "what it was before"]
    assert (await moved_out(store))[2][2] == Moved(used.memory, 3, NOW)
    assert await found(store, "answer") == [used.memory.content]
    assert await found(store, "same") == []
    assert (await store.memories.counts()).vectors == {MODEL: 3}
    assert await whole(store)


async def test_101_others_write_on_while_memories_wait(store: Store, other: Store) -> None:
    await store.transfer.begin("job", "checksum")
    for number in range(3):
        await store.transfer.stage("job", number + 1, [pair(f"new {number}")])
        await other.memories.put([write(f"summary {number}", kind=Kind.SUMMARY), write(f"of a moment {number}")])
    assert len(await contents(other)) == 6
    arrived = await store.transfer.exchange("job", ALL - {Kind.SUMMARY})
    assert arrived == Arrived(read=3, imported=3, erased=3, finished=True)
    expected = ["new 0", "summary 0", "new 1", "summary 1", "new 2", "summary 2"]
    assert await contents(other) == expected
    await other.memories.put([write("later")])
    assert await contents(store) == [*expected, "later"]
    assert await found(other, "later") == ["later"]
    assert await whole(store)


async def test_101_nobody_gets_more_than_they_may_keep_by_an_exchange(store: Store) -> None:
    ada, grace = {"client": "ada"}, {"client": "grace"}
    await store.memories.put([write(f"of grace {number}", kind=Kind.SUMMARY, provenance=grace) for number in range(3)])
    await store.memories.put([write("of ada", provenance=ada)])
    await store.transfer.begin("job", "checksum")
    await store.transfer.stage("job", 2, [pair("one", provenance=ada), pair("two", provenance=ada)])
    before = await contents(store)
    with pytest.raises(QuotaExceeded) as refused:
        await store.transfer.exchange("job", ALL - {Kind.SUMMARY}, most=1)
    assert refused.value.details == {"client": "ada", "most": 1}
    assert await contents(store) == before
    await store.transfer.exchange("job", ALL - {Kind.SUMMARY}, most=2)
    assert await store.transfer.kept_by(["ada", "grace", "nobody"]) == {"ada": 2, "grace": 3, "nobody": 0}


async def test_101_nothing_visible_is_asked_of_whoever_may_not_see_it(store: Store) -> None:
    """An import keeps each memory for exactly those who could see it."""
    await store.transfer.begin("job", "checksum")
    await store.transfer.keep("job", 1, [pair("private", scope=Scope.SESSION, session_id="s")])
    assert await store.memories.find(EVERYBODY, EVERYTHING, 5) == []
    seen: list[Memory] = list(await store.memories.find(Visibility(session_id="s"), EVERYTHING, 5))
    assert [memory.content for memory in seen] == ["private"]
