"""Store contract: export of a snapshot, and import beside or in place of existing memories."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Cancelled, Conflict, QuotaExceeded
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import Memory, MemoryKind
from scrubjay.features.memory.writes import SearchData
from scrubjay.features.transfer.models import TransferMemory
from scrubjay.features.transfer.store import ExportSnapshot, ImportProgress
from tests.contracts.samples import EVERYTHING, MODEL, NOW, link, query, search, vector, write

ALL = frozenset(MemoryKind)
EVERYBODY = Visibility()


def pair(content: str, uses: int = 0, **fields: Any) -> tuple[TransferMemory, SearchData]:
    memory = write(content, vector=vector(1, 0), **fields)
    return TransferMemory(memory.memory, uses, NOW if uses else None), memory.derived


async def exported_tables(
    store: Store, kinds: Collection[MemoryKind] = ALL
) -> tuple[dict[MemoryKind, int], list[str], list[TransferMemory]]:
    def work(outgoing: ExportSnapshot) -> tuple[dict[MemoryKind, int], list[str], list[TransferMemory]]:
        return dict(outgoing.counts), [project.path for project in outgoing.projects], list(outgoing.memories)

    return await store.transfer.read_snapshot(kinds, work)


async def contents(store: Store) -> list[str]:
    return [exported.memory.content for exported in (await exported_tables(store))[2]]


async def matching_contents(store: Store, *words: str) -> list[str]:
    """Return the matches of words in the text index and in the search index."""
    return [one.memory.content for one in (await search(store, query(*words))).candidates if one.bm25 > 0]


async def is_consistent(store: Store) -> bool:
    return (await store.check()).problems == []


async def test_101_an_export_contains_everything_in_storage_order_with_uses_and_projects(store: Store) -> None:
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
        write("in a session", scope=Scope.SESSION, session_id="s", kind=MemoryKind.TURN, details={"prompt": "in"}),
        write(
            "a summary", kind=MemoryKind.SUMMARY, metadata={"deep": [1, {"er": None}]}, occurred_at=NOW - timedelta(1)
        ),
    ]
    await store.memories.put(writes)
    await store.memories.add_uses({writes[1].memory.id: 3}, NOW)
    expected = [
        TransferMemory(writes[0].memory),
        TransferMemory(writes[1].memory, 3, NOW),
        TransferMemory(writes[2].memory),
    ]
    assert await exported_tables(store) == (
        {MemoryKind.GENERAL: 1, MemoryKind.SUMMARY: 1, MemoryKind.TURN: 1},
        ["/here"],
        expected,
    )
    assert (await exported_tables(store, {MemoryKind.SUMMARY}))[2] == expected[2:]


async def test_101_an_export_is_a_snapshot(store: Store, other: Store) -> None:
    import anyio.from_thread

    await store.memories.put([write(f"before {number}") for number in range(50)])

    def work(outgoing: ExportSnapshot) -> list[str]:
        anyio.from_thread.run(other.memories.put, [write("later")])
        first = next(outgoing.memories).memory.content
        anyio.from_thread.run(other.memories.put, [write("much later")])
        return [first, *(exported.memory.content for exported in outgoing.memories)]

    assert await store.transfer.read_snapshot(ALL, work) == [f"before {number}" for number in range(50)]
    assert (await contents(store))[-2:] == ["later", "much later"]


async def test_101_abandoning_an_export_ends_its_read(store: Store) -> None:
    def work(outgoing: ExportSnapshot) -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        await store.transfer.read_snapshot(ALL, work)
    assert await contents(store) == []


async def test_101_existing_memories_are_skipped_and_not_changed(store: Store) -> None:
    with_key, with_id = write("the old value", key="colour"), write("the old text")
    await store.memories.put([with_key, with_id])
    await store.transfer.begin("job", "checksum")
    progress = await store.transfer.insert(
        "job",
        5,
        [
            pair("the new value", key="colour"),
            pair("the new text", id=with_id.memory.id),
            pair("the same key elsewhere", key="colour", scope=Scope.SESSION, session_id="s"),
            pair("a newcomer", uses=7),
            pair("a newcomer of the same batch", key="colour"),
        ],
    )
    assert progress == ImportProgress(read=5, imported=2, skipped=3)
    assert await contents(store) == ["the old value", "the old text", "the same key elsewhere", "a newcomer"]
    assert (await exported_tables(store))[2][3].uses == 7
    assert await matching_contents(store, "newcomer") == ["a newcomer"]
    assert (await store.memories.counts()).vectors == {MODEL: 2}
    assert await is_consistent(store)


async def test_101_earlier_versions_are_imported_only_with_their_memory(store: Store) -> None:
    await store.memories.put([write("mine", key="k")])
    await store.transfer.begin("job", "checksum")
    theirs, fresh = pair("theirs", key="k"), pair("fresh", key="other")
    batch = [
        theirs,
        pair("theirs before", id="old_1", superseded_by=theirs[0].memory.id, valid_until=NOW),
        fresh,
        pair("fresh before", id="old_2", superseded_by=fresh[0].memory.id, valid_until=NOW),
    ]
    assert await store.transfer.insert("job", 4, batch) == ImportProgress(read=4, imported=2, skipped=2)
    history = await store.memories.history(EVERYBODY, fresh[0].memory.id)
    assert [memory.content for memory in history] == ["fresh before", "fresh"]
    assert await contents(store) == ["mine", "fresh", "fresh before"]


async def test_101_an_import_is_resumed_unless_its_file_changed(store: Store, other: Store) -> None:
    assert await store.transfer.begin("job", "one") == ImportProgress()
    await store.transfer.insert("job", 2, [pair("a"), pair("b")])
    assert await other.transfer.begin("job", "one") == ImportProgress(read=2, imported=2)
    assert await other.transfer.insert("job", 3, [pair("c")]) == ImportProgress(read=3, imported=3)
    assert await store.transfer.begin("job", "another") == ImportProgress()


async def test_101_staged_memories_are_invisible_until_they_replace_all_others_atomically(
    store: Store, other: Store
) -> None:
    old = write("an old tea", key="drink")
    await store.memories.put([old, write("an old summary", kind=MemoryKind.SUMMARY)])
    await store.transfer.begin("job", "checksum")
    assert await store.transfer.stage("job", 1, [pair("a new tea", key="drink", uses=2)]) == ImportProgress(read=1)
    replaced = replace(old.memory, content="an old tea as it was")
    derived = write("an old tea as it was").derived
    assert await store.transfer.stage("job", 2, [(TransferMemory(replaced), derived)]) == ImportProgress(
        read=2, skipped=1
    )
    for seen in (store, other):
        assert await contents(seen) == ["an old tea", "an old summary"]
        assert await matching_contents(seen, "tea") == ["an old tea"]
    progress = await store.transfer.replace_all("job", ALL - {MemoryKind.SUMMARY})
    assert progress == ImportProgress(read=2, imported=1, skipped=1, erased=1, finished=True)
    for seen in (store, other):
        assert await contents(seen) == ["an old summary", "a new tea"]
        assert await matching_contents(seen, "tea") == ["a new tea"]
    assert (await exported_tables(store))[2][1].uses == 2
    assert await store.transfer.begin("job", "checksum") == progress
    assert await is_consistent(store)


async def test_101_a_replacement_takes_part_in_a_running_rebuild(store: Store) -> None:
    old = write("an old tea")
    await store.memories.put([old])
    await store.transfer.begin("job", "checksum")
    await store.transfer.stage("job", 1, [pair("a new tea")])
    await store.memories.begin_rebuild(resume=False)
    await store.memories.rebuild([(old.memory.id, old.derived)])
    await store.transfer.replace_all("job", ALL)
    await store.memories.finish_rebuild()
    assert await matching_contents(store, "tea") == ["a new tea"]
    assert await is_consistent(store)


async def test_101_vectors_of_the_next_model_are_imported_too(store: Store) -> None:
    await store.transfer.begin("job", "checksum")
    exported, derived = pair("two vectors")
    both = replace(derived, next_vector=("coming", vector(0, 1)))
    await store.transfer.insert("job", 1, [(exported, both)])
    await store.transfer.stage("job", 2, [(TransferMemory(replace(exported.memory, id="another")), both)])
    assert (await store.memories.counts()).vectors == {MODEL: 1, "coming": 1}
    await store.transfer.replace_all("job", ALL)
    assert (await store.memories.counts()).vectors == {MODEL: 1, "coming": 1}
    assert await contents(store) == ["two vectors"]


async def test_101_an_abandoned_staging_leaves_nothing_behind(store: Store) -> None:
    await store.transfer.begin("job", "checksum")
    await store.transfer.stage("job", 1, [pair("never to be seen")])
    await store.transfer.end("job")
    await store.transfer.end("job")
    assert await store.transfer.replace_all("job", ()) == ImportProgress(read=1, finished=True)
    assert await contents(store) == []


async def test_101_an_import_removes_the_remains_of_earlier_ones(store: Store) -> None:
    await store.transfer.begin("one that is gone", "checksum")
    await store.transfer.stage("one that is gone", 1, [pair("of one that is gone")])
    job = await store.jobs.add("import_database", {}, owner="me")
    await store.transfer.begin(job.id, "checksum")
    await store.transfer.stage(job.id, 1, [pair("of the job")])
    assert await store.transfer.begin(job.id, "checksum") == ImportProgress(read=1)
    await store.transfer.begin("the next", "checksum")
    assert await store.transfer.begin("one that is gone", "checksum") == ImportProgress()
    await store.transfer.replace_all(job.id, ())
    assert await contents(store) == ["of the job"]


async def test_101_only_one_import_at_a_time_can_replace_everything(store: Store, other: Store) -> None:
    job = await store.jobs.add("import_database", {}, owner="me")
    await store.transfer.begin(job.id, "checksum")
    await store.transfer.stage(job.id, 1, [pair("of the first")])
    await other.transfer.begin("second", "checksum")
    for attempt in (other.transfer.stage("second", 1, [pair("theirs")]), other.transfer.replace_all("second", ALL)):
        with pytest.raises(Conflict) as refused:
            await attempt
        assert refused.value.details == {"job_id": job.id}
    await other.transfer.end("second")
    await store.transfer.replace_all(job.id, ALL)
    await other.transfer.stage("second", 1, [pair("of the second")])
    await other.transfer.replace_all("second", ALL)
    assert await contents(store) == ["of the second"]
    assert await is_consistent(store)


async def test_101_staged_memories_yield_to_those_that_stay(store: Store) -> None:
    key, with_id, used = (
        write("a summary under a key", kind=MemoryKind.SUMMARY, key="k"),
        write("a summary", kind=MemoryKind.SUMMARY),
        write("a summary that was an answer", kind=MemoryKind.SUMMARY, vector=vector(0, 1)),
    )
    await store.memories.put([write("old"), key, with_id, used])
    await store.memories.add_uses({used.memory.id: 3}, NOW)
    await store.transfer.begin("job", "checksum")
    under_key, fresh = pair("of the same key", key="k"), pair("fresh")
    batch = [
        under_key,
        pair("what that was before", id="old_1", superseded_by=under_key[0].memory.id),
        pair("of the same id", id=with_id.memory.id),
        fresh,
        pair("what it was before", id="old_2", superseded_by=fresh[0].memory.id),
    ]
    await store.transfer.stage("job", 5, batch)
    progress = await store.transfer.replace_all("job", ALL - {MemoryKind.SUMMARY})
    assert progress == ImportProgress(read=5, imported=2, skipped=3, erased=1, finished=True)
    stays = [one.memory.content for one in (key, with_id, used)]
    assert await contents(store) == [*stays, "fresh", "what it was before"]
    assert (await exported_tables(store))[2][2] == TransferMemory(used.memory, 3, NOW)
    assert await matching_contents(store, "answer") == [used.memory.content]
    assert await matching_contents(store, "same") == []
    assert (await store.memories.counts()).vectors == {MODEL: 3}
    assert await is_consistent(store)


async def test_101_other_writers_continue_while_memories_are_staged(store: Store, other: Store) -> None:
    await store.transfer.begin("job", "checksum")
    for number in range(3):
        await store.transfer.stage("job", number + 1, [pair(f"new {number}")])
        await other.memories.put([write(f"summary {number}", kind=MemoryKind.SUMMARY), write(f"of a moment {number}")])
    assert len(await contents(other)) == 6
    progress = await store.transfer.replace_all("job", ALL - {MemoryKind.SUMMARY})
    assert progress == ImportProgress(read=3, imported=3, erased=3, finished=True)
    expected = ["new 0", "summary 0", "new 1", "summary 1", "new 2", "summary 2"]
    assert await contents(other) == expected
    await other.memories.put([write("later")])
    assert await contents(store) == [*expected, "later"]
    assert await matching_contents(other, "later") == ["later"]
    assert await is_consistent(store)


async def test_101_a_replacement_cannot_exceed_the_quota(store: Store) -> None:
    ada, grace = {"client": "ada"}, {"client": "grace"}
    await store.memories.put(
        [write(f"of grace {number}", kind=MemoryKind.SUMMARY, provenance=grace) for number in range(3)]
    )
    await store.memories.put([write("of ada", provenance=ada)])
    await store.transfer.begin("job", "checksum")
    await store.transfer.stage("job", 2, [pair("one", provenance=ada), pair("two", provenance=ada)])
    before = await contents(store)
    with pytest.raises(QuotaExceeded) as refused:
        await store.transfer.replace_all("job", ALL - {MemoryKind.SUMMARY}, most=1)
    assert refused.value.details == {"client": "ada", "limit": 1}
    assert await contents(store) == before
    await store.transfer.replace_all("job", ALL - {MemoryKind.SUMMARY}, most=2)
    assert await store.transfer.count_by_client(["ada", "grace", "nobody"]) == {"ada": 2, "grace": 3, "nobody": 0}


async def test_101_an_import_reveals_nothing_about_invisible_memories(store: Store) -> None:
    """An import preserves the visibility of each memory."""
    await store.transfer.begin("job", "checksum")
    await store.transfer.insert("job", 1, [pair("private", scope=Scope.SESSION, session_id="s")])
    assert await store.memories.find(EVERYBODY, EVERYTHING, 5) == []
    seen: list[Memory] = list(await store.memories.find(Visibility(session_id="s"), EVERYTHING, 5))
    assert [memory.content for memory in seen] == ["private"]
