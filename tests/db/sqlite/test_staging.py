"""Tables take the place of others in one short step, and nothing of the old ones stays."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.progress import Progress
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.memory.models import Derived, Kind
from scrubjay.features.sessions.models import ClientCall, ToolCall
from scrubjay.features.transfer import sqlite as transfer
from scrubjay.features.transfer.models import Moved
from scrubjay.features.transfer.store import Arrived
from scrubjay.tooling.jobs.models import JobState
from tests.contracts.samples import NOBODY_IN_PARTICULAR, NOW, link, query, search, write
from tests.contracts.test_transfer import ALL, contents, found, pair, whole
from tests.contracts.working_items import HERE, item
from tests.db.sqlite.schemas import new_schema, schema_of
from tests.db.sqlite.test_traces import WORDS, needles_of, secret, traces, vector_of

Batch = list[tuple[Moved, Derived]]


async def replace_all(store: SqliteStore, import_id: str, batch: Batch, **options: Any) -> Arrived:
    await store.transfer.begin(import_id, "checksum")
    await store.transfer.stage(import_id, len(batch), batch)
    return await store.transfer.exchange(import_id, options.pop("kinds", ALL), **options)


async def test_101_a_store_is_made_of_the_same_after_each_exchange(store: SqliteStore, home: Path) -> None:
    await store.memories.put([write("old", key="k", provenance={"client": "ada"})])
    for turn in ("first", "second"):
        await replace_all(store, turn, [pair(f"the {turn}", key="k", provenance={"client": "grace"})])
        assert schema_of(home) == await new_schema(home.parent / turn)
        assert await contents(store) == [f"the {turn}"]
        assert await whole(store)
    await store.memories.put([write("by the triggers", provenance={"client": "ada"})])
    assert await store.transfer.kept_by(["ada", "grace"]) == {"ada": 1, "grace": 1}
    assert (await store.memories.counts()).memories == 2
    assert await found(store, "triggers") == ["by the triggers"]


async def test_101_others_wait_as_short_for_many_memories_as_for_few(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What holds the writers' lock in one go changes a few rows, whatever waits; the rest is in steps of one table."""
    changed: list[int] = []
    in_one_go = transfer.exchange

    def watched(connection: Connection, *arguments: Any) -> Any:
        before = connection.value("SELECT total_changes()")
        done = in_one_go(connection, *arguments)
        changed.append(connection.value("SELECT total_changes()") - before)
        return done

    monkeypatch.setattr(transfer, "exchange", watched)
    await replace_all(store, "few", [pair("one")])
    await replace_all(store, "many", [pair(f"number {number}") for number in range(500)])
    await replace_all(store, "many again", [pair(f"number {number}") for number in range(500)])
    few, many, again = changed
    assert max(many, again) <= few + 5


async def test_101_nothing_can_be_found_of_what_had_to_go(store: SqliteStore, home: Path) -> None:
    needles = needles_of(" ".join(WORDS))
    await store.memories.put([secret(), *(write(f"ordinary {n}", vector=vector_of(n + 9)) for n in range(30))])
    await search(store, query("ordinary", vector=vector_of(1)))
    await store.memories.compact()
    assert traces(home, needles) == set(needles), "else the test would prove nothing"
    fresh = write("a new one", vector=vector_of(2))
    await replace_all(store, "job", [(Moved(fresh.memory), fresh.derived)])
    left = traces(home, needles)
    assert not left & {*WORDS, "vector"}, "the log and the database have nothing of it at once"
    after = await search(store, query("new", vector=vector_of(2)))
    assert [one.memory for one in after.candidates] == [fresh.memory]
    assert traces(home, needles) == set()


async def test_101_what_comes_and_what_stays_is_about_the_code_that_it_was_about(store: SqliteStore) -> None:
    stays, goes = link("a.py::stays", text="def stays"), link("a.py::goes", text="def goes")
    await store.memories.put(
        [write("stays", kind=Kind.SUMMARY, links=(stays, link("pending"))), write("goes", links=(goes,))]
    )
    comes = link("a.py::comes", text="def comes")
    await replace_all(store, "job", [pair("comes", links=(comes,))], kinds=ALL - {Kind.SUMMARY})
    found = await store.links.linked(NOBODY_IN_PARTICULAR)
    assert {memory.content: memory.links for memory in found} == {
        "stays": (stays, link("pending")),
        "comes": (comes,),
    }
    assert await whole(store)


async def test_101_nothing_can_be_found_of_what_waited_in_vain(store: SqliteStore, home: Path) -> None:
    waiting = secret()
    await store.transfer.begin("job", "checksum")
    await store.transfer.stage("job", 1, [(Moved(waiting.memory), waiting.derived)])
    assert traces(home, needles_of(" ".join(WORDS))) >= {*WORDS, "vector"}
    await store.transfer.end("job")
    assert traces(home, needles_of(" ".join(WORDS))) == set()


async def test_101_what_waits_in_tables_of_another_program_is_begun_anew(store: SqliteStore, home: Path) -> None:
    await store.transfer.begin("job", "checksum")
    await store.transfer.stage("job", 1, [pair("of the old program")])
    assert await store.transfer.begin("job", "checksum") == Arrived(read=1)
    await store.close()
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.execute("UPDATE meta SET value = json_set(value, '$.schema', 1) WHERE name = 'stage'")
    connection.close()
    store = await SqliteStore.open(home)
    assert await store.transfer.begin("job", "checksum") == Arrived()
    await store.transfer.stage("job", 1, [pair("of this one")])
    await store.transfer.exchange("job", ALL)
    assert await contents(store) == ["of this one"]
    await store.close()


async def test_101_calls_that_told_of_what_had_to_go_tell_it_no_more(store: SqliteStore) -> None:
    gone, stays = write("hedgehog"), write("a summary", kind=Kind.SUMMARY)
    await store.memories.put([gone, stays])
    telling = ToolCall(
        tool="recall", arguments={"query": "x"}, result="hedgehog", success=True, milliseconds=1, called_at=NOW
    )
    both = [ClientCall("ada", telling, frozenset({one.memory.id})) for one in (gone, stays)]
    await store.sessions.keep(both, None)
    # The same memory in the file does not bring back what was said of the one that went.
    again = (Moved(replace(gone.memory, content="a tortoise")), gone.derived)
    await replace_all(store, "job", [again], kinds=ALL - {Kind.SUMMARY})
    told = [call for one in await store.sessions.list(None, 5) for call in await calls_of(store, one.id)]
    assert told == [replace(telling, arguments={}, result="", erased=True), telling]


async def test_101_jobs_that_told_of_what_had_to_go_tell_it_no_more_nor_is_it_in_mind(store: SqliteStore) -> None:
    gone, stays = write("hedgehog"), write("a summary", kind=Kind.SUMMARY)
    await store.memories.put([gone, stays])
    for one in (gone, stays):
        await store.working.put(item(one.memory.content, memory_id=one.memory.id), 10)
    for one in (gone, stays):
        job = await store.jobs.add("summarize_sessions", {}, owner="me")
        told: dict[str, Any] = {"result": {"title": one.memory.content}, "memory_ids": [one.memory.id]}
        await store.jobs.finish(job.id, "me", JobState.COMPLETED, progress=Progress(), **told)
    await replace_all(store, "job", [pair("a tortoise")], kinds=ALL - {Kind.SUMMARY})
    results = [job.result for job in await store.jobs.list(limit=5)]
    assert results == [{"title": "a summary"}, None]
    assert [one.content for one in await store.working.items(HERE, NOW)] == ["a summary"]
    await store.memories.erase([stays.memory.id])
    assert [job.result for job in await store.jobs.list(limit=5)] == [None, None], "by the trigger that was made anew"


async def calls_of(store: SqliteStore, session_id: str) -> list[ToolCall]:
    return list(await store.sessions.calls(None, session_id, newest_first=False, limit=5))
