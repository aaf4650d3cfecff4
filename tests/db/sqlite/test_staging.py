"""Imported tables replace the present ones in one short step, and no trace of the old ones remains."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.progress import Progress
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.memory.writes import SearchData
from scrubjay.features.sessions.models import ClientCall, ToolCall
from scrubjay.features.transfer import sqlite as transfer
from scrubjay.features.transfer.models import TransferMemory
from scrubjay.features.transfer.store import ImportProgress
from scrubjay.tooling.jobs.models import JobState
from tests.contracts.samples import GLOBAL_ONLY, NOW, link, query, search, write
from tests.contracts.test_transfer import ALL, contents, is_consistent, matching_contents, pair
from tests.contracts.working_items import HERE, item
from tests.db.sqlite.schemas import new_schema, schema_of
from tests.db.sqlite.test_traces import WORDS, needles_of, secret, traces, vector_of

Batch = list[tuple[TransferMemory, SearchData]]


async def replace_all(store: SqliteStore, import_id: str, batch: Batch, **options: Any) -> ImportProgress:
    await store.transfer.begin(import_id, "checksum")
    await store.transfer.stage(import_id, len(batch), batch)
    return await store.transfer.replace_all(import_id, options.pop("kinds", ALL), **options)


async def test_101_the_schema_is_the_same_after_every_import(store: SqliteStore, home: Path) -> None:
    await store.memories.put([write("old", key="k", provenance={"client": "ada"})])
    for turn in ("first", "second"):
        await replace_all(store, turn, [pair(f"the {turn}", key="k", provenance={"client": "grace"})])
        assert schema_of(home) == await new_schema(home.parent / turn)
        assert await contents(store) == [f"the {turn}"]
        assert await is_consistent(store)
    await store.memories.put([write("by the triggers", provenance={"client": "ada"})])
    assert await store.transfer.count_by_client(["ada", "grace"]) == {"ada": 1, "grace": 1}
    assert (await store.memories.counts()).memories == 2
    assert await matching_contents(store, "triggers") == ["by the triggers"]


async def test_101_the_time_an_import_blocks_other_writers_does_not_grow_with_its_size(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each hold of the writers' lock changes few rows, however many are staged; the rest is done table by table."""
    changed: list[int] = []
    replace_live = transfer.replace_live

    def counting_replace(connection: Connection, *arguments: Any) -> Any:
        before = connection.value("SELECT total_changes()")
        result = replace_live(connection, *arguments)
        changed.append(connection.value("SELECT total_changes()") - before)
        return result

    monkeypatch.setattr(transfer, "replace_live", counting_replace)
    await replace_all(store, "few", [pair("one")])
    await replace_all(store, "many", [pair(f"number {number}") for number in range(500)])
    await replace_all(store, "many again", [pair(f"number {number}") for number in range(500)])
    few, many, again = changed
    assert max(many, again) <= few + 5


async def test_101_no_trace_of_replaced_memories_remains(store: SqliteStore, home: Path) -> None:
    needles = needles_of(" ".join(WORDS))
    await store.memories.put([secret(), *(write(f"ordinary {n}", vector=vector_of(n + 9)) for n in range(30))])
    await search(store, query("ordinary", vector=vector_of(1)))
    await store.memories.compact()
    assert traces(home, needles) == set(needles), "otherwise the test proves nothing"
    fresh = write("a new one", vector=vector_of(2))
    await replace_all(store, "job", [(TransferMemory(fresh.memory), fresh.derived)])
    left = traces(home, needles)
    assert not left & {*WORDS, "vector"}, "the log and the database contain nothing of it already"
    after = await search(store, query("new", vector=vector_of(2)))
    assert [one.memory for one in after.candidates] == [fresh.memory]
    assert traces(home, needles) == set()


async def test_101_code_links_survive_an_import(store: SqliteStore) -> None:
    summary_link, fact_link = link("a.py::one", text="def one"), link("a.py::two", text="def two")
    await store.memories.put(
        [
            write("a summary", kind=MemoryKind.SUMMARY, links=(summary_link, link("pending"))),
            write("a fact", links=(fact_link,)),
        ]
    )
    new_link = link("a.py::three", text="def three")
    await replace_all(store, "job", [pair("imported", links=(new_link,))], kinds=ALL - {MemoryKind.SUMMARY})
    linked = await store.links.linked(GLOBAL_ONLY)
    assert {memory.content: memory.links for memory in linked} == {
        "a summary": (summary_link, link("pending")),
        "imported": (new_link,),
    }
    assert await is_consistent(store)


async def test_101_no_trace_of_an_abandoned_import_remains(store: SqliteStore, home: Path) -> None:
    staged = secret()
    await store.transfer.begin("job", "checksum")
    await store.transfer.stage("job", 1, [(TransferMemory(staged.memory), staged.derived)])
    assert traces(home, needles_of(" ".join(WORDS))) >= {*WORDS, "vector"}
    await store.transfer.end("job")
    assert traces(home, needles_of(" ".join(WORDS))) == set()


async def test_101_staging_tables_of_another_version_are_recreated(store: SqliteStore, home: Path) -> None:
    await store.transfer.begin("job", "checksum")
    await store.transfer.stage("job", 1, [pair("of the old program")])
    assert await store.transfer.begin("job", "checksum") == ImportProgress(read=1)
    await store.close()
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.execute("UPDATE meta SET value = json_set(value, '$.schema', 1) WHERE name = 'stage'")
    connection.close()
    store = await SqliteStore.open(home)
    assert await store.transfer.begin("job", "checksum") == ImportProgress()
    await store.transfer.stage("job", 1, [pair("of this one")])
    await store.transfer.replace_all("job", ALL)
    assert await contents(store) == ["of this one"]
    await store.close()


async def test_101_calls_that_named_replaced_memories_are_erased(store: SqliteStore) -> None:
    replaced, summary = write("hedgehog"), write("a summary", kind=MemoryKind.SUMMARY)
    await store.memories.put([replaced, summary])
    naming_call = ToolCall(
        tool="recall", arguments={"query": "x"}, result="hedgehog", success=True, milliseconds=1, called_at=NOW
    )
    both = [ClientCall("ada", naming_call, frozenset({one.memory.id})) for one in (replaced, summary)]
    await store.sessions.add_calls(both, None)
    # Importing a memory of the same id does not restore calls about the replaced one.
    again = (TransferMemory(replace(replaced.memory, content="a tortoise")), replaced.derived)
    await replace_all(store, "job", [again], kinds=ALL - {MemoryKind.SUMMARY})
    outcome = [call for one in await store.sessions.list(None, 5) for call in await calls_of(store, one.id)]
    assert outcome == [replace(naming_call, arguments={}, result="", erased=True), naming_call]


async def test_101_jobs_and_working_memory_that_named_replaced_memories_are_erased(store: SqliteStore) -> None:
    replaced, summary = write("hedgehog"), write("a summary", kind=MemoryKind.SUMMARY)
    await store.memories.put([replaced, summary])
    for one in (replaced, summary):
        await store.working.put(item(one.memory.content, memory_id=one.memory.id), 10)
    for one in (replaced, summary):
        job = await store.jobs.add("summarize_sessions", {}, owner="me")
        outcome: dict[str, Any] = {"result": {"title": one.memory.content}, "memory_ids": [one.memory.id]}
        await store.jobs.finish(job.id, "me", JobState.COMPLETED, progress=Progress(), **outcome)
    await replace_all(store, "job", [pair("a tortoise")], kinds=ALL - {MemoryKind.SUMMARY})
    results = [job.result for job in await store.jobs.list(limit=5)]
    assert results == [{"title": "a summary"}, None]
    assert [one.content for one in await store.working.items(HERE, NOW)] == ["a summary"]
    await store.memories.erase([summary.memory.id])
    assert [job.result for job in await store.jobs.list(limit=5)] == [None, None], "by the recreated trigger"


async def calls_of(store: SqliteStore, session_id: str) -> list[ToolCall]:
    return list(await store.sessions.calls(None, session_id, newest_first=False, limit=5))
