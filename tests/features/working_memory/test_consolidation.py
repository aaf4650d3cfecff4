"""Consolidation turns working memory into memories: each item once, duplicates merged (feature 47)."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from scrubjay.app import maintenance
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Busy, InvalidRequest, ScrubjayError
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Memory
from scrubjay.features.memory.writes import IdempotentOutcome
from scrubjay.features.working_memory.consolidation import (
    MAX_MOVES,
    MOVE_SECONDS,
    Consolidator,
    SkipReason,
    SweepResult,
    consolidation_score,
)
from scrubjay.features.working_memory.models import ConsolidationMark, WorkingScope
from scrubjay.tooling.context import CallContext
from tests.contracts.samples import NOW, ManualClock
from tests.contracts.working_items import HERE, item
from tests.features.working_memory.services import ConsolidationServices

ROOT = Path(__file__).parents[3]
MINUTE = timedelta(seconds=60)


@pytest.fixture
async def open_services(tmp_path: Path) -> AsyncGenerator[Callable[[], Any]]:
    clock, stores = ManualClock(), list[SqliteStore]()

    async def open_store() -> ConsolidationServices:
        stores.append(await SqliteStore.open(tmp_path / "home", clock=clock))
        return ConsolidationServices(stores[-1], clock)

    yield open_store
    for store in stores:
        await store.close()


@pytest.fixture
async def services(open_services: Callable[[], Any]) -> ConsolidationServices:
    return await open_services()


@pytest.mark.parametrize(
    ("content", "importance", "reads", "age", "score"),
    [
        ("", 0.0, 0, 0, 0.0),
        ("new", 0.0, 0, -5, 0.2),
        ("four words all different", 0.5, 0, 30, 0.2 + 0.2 + 0.01),
        ("x x x x x", 0.5, 5, 150, 0.2 + 0.15 + 0.2 * 1.2 / 5 + 0.05),
        ("One one, two two", 1.0, 10, 300, 0.4 + 0.3 + 0.2 * 0.6 + 0.1),
        ("all of it", 1.0, 99, 9_999, 1.0),
    ],
)
def test_047_the_consolidation_score_follows_the_documented_formula(
    content: str, importance: float, reads: int, age: float, score: float
) -> None:
    scored = item(content, importance=importance, access_count=reads)
    assert consolidation_score(scored, NOW + timedelta(seconds=age)) == pytest.approx(score)


async def test_047_a_marked_item_of_sufficient_age_becomes_a_memory_and_stays_readable(
    services: ConsolidationServices,
) -> None:
    put = await services.put(
        "The failing test is test_login.",
        importance=0.7,
        context={"file": "a.py"},
        source="user",
        tool_name="pytest",
        client="ada",
    )
    await services.put("not marked", mark=ConsolidationMark.NONE)
    services.clock.advance(30)
    done = await services.consolidator.consolidate(None)
    ((move,), skipped) = done.moves, done.skipped
    assert (skipped, move.items, move.score) == ([], [put], pytest.approx(0.28 + 0.2 + 0.01))
    (memory,) = await services.memories()
    assert memory == Memory(
        id=move.memory_id or "",
        scope=Scope.PROJECT,
        project_id="prj_a",
        session_id="s1",
        content="The failing test is test_login.",
        importance=0.7,
        metadata={"file": "a.py"},
        occurred_at=NOW,
        recorded_at=services.clock.now,
        updated_at=services.clock.now,
        provenance={
            "source": "user",
            "tool": "pytest",
            "client": "ada",
            "from": [put.id],
            "consolidated": [
                {
                    "id": put.id,
                    "source": "user",
                    "tool": "pytest",
                    "created_at": NOW.isoformat(),
                    "importance": 0.7,
                    "context": {"file": "a.py"},
                }
            ],
        },
    )
    assert await services.memory_of(put) == memory.id
    assert (await services.consolidator.consolidate(None, force=True)).moves == []


async def test_047_an_item_without_a_project_becomes_a_global_memory(services: ConsolidationServices) -> None:
    await services.put("No project.", scope=WorkingScope(None, "s1"))
    await services.consolidator.consolidate(None, force=True)
    (memory,) = await services.memories()
    assert (memory.scope, memory.project_id, memory.session_id) == (Scope.GLOBAL, None, "s1")


async def test_047_each_skipped_item_has_a_reason(
    services: ConsolidationServices, open_services: Callable[[], Any]
) -> None:
    dull = await services.put("x " * 50, importance=0.3)
    moving = await services.put("moving")
    services.clock.advance(30)
    young = await services.put("young")
    now = services.clock.now
    await services.store.working.begin_moves({"mov_1": [moving.id]}, now, now + MINUTE)
    done = await services.consolidator.consolidate(HERE)
    assert done.moves == []
    assert {skipped.item.id: (skipped.reason, skipped.explanation) for skipped in done.skipped} == {
        dull.id: (SkipReason.LOW_SCORE, "its score 0.13 is below 0.3"),
        moving.id: (SkipReason.MOVING, "it is being consolidated"),
        young.id: (SkipReason.TOO_YOUNG, "it is younger than 30 s"),
    }
    forced = await services.consolidator.consolidate(HERE, force=True)
    assert {move.items[0].id for move in forced.moves} == {dull.id, young.id}


async def test_047_an_item_marked_by_the_caller_is_consolidated_at_any_score(services: ConsolidationServices) -> None:
    await services.put("x " * 50, importance=0.0, mark=ConsolidationMark.CALLER)
    services.clock.advance(30)
    assert len((await services.consolidator.consolidate(None)).moves) == 1


async def test_047_a_dry_run_reports_exactly_what_the_real_run_does(services: ConsolidationServices) -> None:
    await services.put("We deploy on Thursdays.")
    await services.put("we deploy on thursdays")
    services.clock.advance(29)
    await services.put("Something young.")
    services.clock.advance(1)
    preview = await services.consolidator.consolidate(HERE, dry_run=True)
    assert (await services.memories(), services.memory_requests) == ([], 0)
    done = await services.consolidator.consolidate(HERE)
    assert [move.memory_id for move in preview.moves] == [None]
    assert [replace(move, id="", memory_id=None) for move in done.moves] == [
        replace(move, id="") for move in preview.moves
    ]
    assert done.skipped == preview.skipped


async def test_047_items_about_to_expire_are_moved_first_then_those_with_the_best_score(
    services: ConsolidationServices,
) -> None:
    for number in range(MAX_MOVES + 3):
        await services.put(f"thought number {number}", importance=0.31 + number / 100)
    expiring = await services.put("an expiring thought", importance=0.3, expires_at=NOW + timedelta(seconds=60))
    services.clock.advance(30)
    first = await services.consolidator.consolidate(HERE)
    assert len(first.moves) == MAX_MOVES
    assert expiring.id in {move.items[0].id for move in first.moves}
    assert {one.item.content for one in first.skipped} == {f"thought number {number}" for number in range(4)}
    assert {one.reason for one in first.skipped} == {SkipReason.TOO_MANY}
    assert len((await services.consolidator.consolidate(HERE)).moves) == 4


async def test_047_duplicate_items_become_one_memory_that_lists_them_all(services: ConsolidationServices) -> None:
    short = await services.put("We chose PostgreSQL because the team knows it.", source="user", importance=0.9)
    long = await services.put("We chose PostgreSQL, because the team knows it well!", source="mail", context={"n": 1})
    services.clock.advance(20)
    young = await services.put("we chose postgresql because the team knows it", tool_name="notes")
    other_form = await services.put("We choose PostgreSQL because the teams know it.")
    elsewhere = await services.put("We chose PostgreSQL because the team knows it.", scope=WorkingScope("prj_a", "s2"))
    services.clock.advance(10)
    done = await services.consolidator.consolidate(None)
    (move,) = done.moves
    assert [one.id for one in move.items] == [long.id, short.id, young.id]
    assert {one.item.id for one in done.skipped} == {other_form.id, elsewhere.id}
    (memory,) = await services.memories()
    assert (memory.content, memory.importance, memory.metadata) == (long.content, 0.9, {"n": 1})
    assert memory.provenance["from"] == [long.id, short.id, young.id]
    assert [
        (origin["source"], origin["tool"], origin.get("content")) for origin in memory.provenance["consolidated"]
    ] == [("mail", None, None), ("user", None, short.content), ("unknown", "notes", young.content)]
    assert {await services.memory_of(one) for one in (short, long, young)} == {memory.id}


async def test_047_texts_that_differ_in_a_word_are_not_merged(services: ConsolidationServices) -> None:
    contents = [
        "We deploy on Thursdays.",
        "We do not deploy on Thursdays.",
        "We deploy on Thursday.",
        "We deployed on Thursdays.",
        "The limit of the public service is 100",
        "The limit of the public service is 200",
        "Ada owes Bob ten euros",
        "Bob owes Ada ten euros",
        "That went well :)",
        "That went well :(",
    ]
    for content in contents:
        await services.put(content)
    await services.consolidator.consolidate(None, force=True)
    assert sorted(memory.content for memory in await services.memories()) == sorted(contents)


async def test_047_the_minimum_age_does_not_apply_to_items_about_to_expire(services: ConsolidationServices) -> None:
    put = await services.put("short-lived", expires_at=NOW + timedelta(seconds=31))
    swept = await services.consolidator.sweep()
    (memory,) = await services.memories()
    assert (swept.memories, swept.dropped, swept.erased) == ({put.id: memory.id}, frozenset(), 0)


async def test_046_expired_marked_items_become_memories_before_they_are_erased(services: ConsolidationServices) -> None:
    for number in range(2 * MAX_MOVES + 7):
        await services.put(f"thought number {number}")
    await services.put("x " * 50, importance=0.3)
    await services.put("not marked", mark=ConsolidationMark.NONE)
    services.clock.advance(100_000)
    await services.put("alive")
    swept = await services.consolidator.sweep()
    assert (len(swept.memories), len(swept.dropped), swept.erased) == (107, 1, 109)
    assert len(await services.memories()) == 107
    assert [one.item.content for one in await services.store.working.candidates(None, 100)] == ["alive"]
    assert (await services.consolidator.sweep()).erased == 0


async def test_047_the_memory_service_is_not_created_when_nothing_is_to_be_stored(
    services: ConsolidationServices,
) -> None:
    await services.put("not marked", mark=ConsolidationMark.NONE)
    services.clock.advance(1_000)
    assert (await services.consolidator.sweep()).erased == 1
    assert services.memory_requests == 0


@pytest.mark.parametrize(
    ("failure", "reason", "left"),
    [(Busy("no turn"), SkipReason.FAILED, 1), (InvalidRequest("has a secret"), SkipReason.REFUSED, 0)],
)
async def test_047_an_item_that_cannot_be_stored_is_reported_and_does_not_stop_the_others(
    services: ConsolidationServices,
    monkeypatch: pytest.MonkeyPatch,
    failure: ScrubjayError,
    reason: SkipReason,
    left: int,
) -> None:
    bad, good = await services.put("bad"), await services.put("good")
    remember_once = services.memory.remember_once

    async def fail_for_bad(drafts: Sequence[Any], *arguments: Any, **options: Any) -> IdempotentOutcome:
        if drafts[0].content == "bad":
            raise failure
        return await remember_once(drafts, *arguments, **options)

    monkeypatch.setattr(services.memory, "remember_once", fail_for_bad)
    done = await services.consolidator.consolidate(None, force=True)
    assert [move.items for move in done.moves] == [[good]]
    assert [(one.item, one.reason, one.explanation) for one in done.skipped] == [(bad, reason, failure.message)]
    services.clock.advance(400)
    await services.consolidator.sweep()
    assert len(await services.store.working.candidates(None, 10)) == left
    monkeypatch.undo()
    await services.consolidator.sweep()
    assert len(await services.memories()) == 1 + left
    assert await services.store.working.candidates(None, 10) == []


async def test_047_a_crash_after_storing_the_memory_does_not_store_it_twice(
    services: ConsolidationServices, open_services: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    put, same = await services.put("One thing."), await services.put("one thing")

    async def die(move_id: str, memory_id: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(services.store.working, "finish_move", die)
    with pytest.raises(KeyboardInterrupt):
        await services.consolidator.consolidate(None, force=True)
    other: ConsolidationServices = await open_services()
    later = await other.put("one thing")
    blocked = await other.consolidator.consolidate(None, force=True)
    assert [one.reason for one in blocked.skipped] == [SkipReason.MOVING, SkipReason.MOVING]
    assert [[one.id for one in move.items] for move in blocked.moves] == [[later.id]]
    services.clock.advance(MOVE_SECONDS)
    done = await other.consolidator.consolidate(None)
    (move,) = done.moves
    assert {one.id for one in move.items} == {put.id, same.id}
    (memory,) = await other.memories()
    assert set(memory.provenance["from"]) == {put.id, same.id, later.id}
    assert await other.memory_of(put) == await other.memory_of(same) == move.memory_id


@pytest.mark.parametrize("forgotten", [False, True])
async def test_047_a_stored_move_that_lost_an_item_is_not_repeated(
    services: ConsolidationServices, monkeypatch: pytest.MonkeyPatch, forgotten: bool
) -> None:
    put, same = await services.put("One thing."), await services.put("one thing")

    async def die(move_id: str, memory_id: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(services.store.working, "finish_move", die)
        with pytest.raises(KeyboardInterrupt):
            await services.consolidator.consolidate(None, force=True)
    services.clock.advance(MOVE_SECONDS)
    await services.store.working.delete(HERE, same.id, services.clock.now)
    if forgotten:
        (memory,) = await services.memories()
        await services.store.memories.erase([memory.id])
    done = await services.consolidator.consolidate(None)
    assert [(one.item.id, one.reason) for one in done.skipped] == [(put.id, SkipReason.REFUSED)] * forgotten
    assert [(move.memory_id, move.known) for move in done.moves] == [
        (memory.id, True) for memory in await services.memories()
    ]
    services.clock.advance(1_000)
    assert (await services.consolidator.sweep()).erased == 1
    assert len(await services.memories()) == (0 if forgotten else 1)


async def test_047_an_item_equal_to_a_consolidated_memory_is_added_to_its_provenance(
    services: ConsolidationServices,
) -> None:
    first = await services.put("We deploy on Thursdays, says Ada.", importance=0.6)
    (move,) = (await services.consolidator.consolidate(None, force=True)).moves
    again = await services.put("we deploy on thursdays, says ada", importance=0.9, source="chat")
    more = await services.put("We deploy on Thursdays, says Ada, and never on Fridays.")
    elsewhere = await services.put("We deploy on Thursdays, says Ada.", scope=WorkingScope(None, "another session"))
    done = await services.consolidator.consolidate(None, force=True)
    assert {one.items[0].id: (one.memory_id, one.known) for one in done.moves} == {
        again.id: (move.memory_id, True),
        more.id: (await services.memory_of(more), False),
        elsewhere.id: (await services.memory_of(elsewhere), False),
    }
    memories = {memory.id: memory for memory in await services.memories()}
    known = memories[str(move.memory_id)]
    assert len(memories) == 3
    assert (known.content, known.importance) == ("We deploy on Thursdays, says Ada.", 0.9)
    assert known.provenance["from"] == [first.id, again.id]
    assert [one.get("content") for one in known.provenance["consolidated"]] == [None, again.content]


async def test_047_an_item_equal_to_a_forgotten_memory_becomes_a_new_memory(
    services: ConsolidationServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    await services.put("We deploy on Thursdays.")
    await services.consolidator.consolidate(None, force=True)
    (memory,) = await services.memories()
    again = await services.put("We deploy on Thursdays.")
    page = services.memory.page

    async def erase_after_reading(*arguments: Any, **options: Any) -> Any:
        monkeypatch.undo()
        found = await page(*arguments, **options)
        await services.store.memories.erase([memory.id])
        return found

    monkeypatch.setattr(services.memory, "page", erase_after_reading)
    done = await services.consolidator.consolidate(None, force=True)
    assert [(one.item.id, one.reason) for one in done.skipped] == [(again.id, SkipReason.FAILED)]
    await services.consolidator.consolidate(None, force=True)
    (new,) = await services.memories()
    assert (new.provenance["from"], new.id != memory.id) == ([again.id], True)


async def test_047_an_item_erased_before_its_memory_is_stored_is_not_in_it(
    services: ConsolidationServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, same = await services.put("One thing."), await services.put("one thing")
    remember_once = services.memory.remember_once

    async def slow_remember_once(*arguments: Any, **options: Any) -> IdempotentOutcome:
        monkeypatch.undo()
        services.clock.advance(MOVE_SECONDS)
        await services.store.working.delete(HERE, same.id, services.clock.now)
        return await remember_once(*arguments, **options)

    monkeypatch.setattr(services.memory, "remember_once", slow_remember_once)
    done = await services.consolidator.consolidate(None, force=True)
    assert {one.item.id: one.reason for one in done.skipped} == {
        put.id: SkipReason.FAILED,
        same.id: SkipReason.FAILED,
    }
    assert await services.memories() == []
    await services.consolidator.sweep()
    (memory,) = await services.memories()
    assert memory.provenance["from"] == [put.id]


async def test_047_concurrent_consolidations_move_every_item_once(
    services: ConsolidationServices, open_services: Callable[[], Any]
) -> None:
    for number in range(MAX_MOVES):
        await services.put(f"thought number {number}")
    other: ConsolidationServices = await open_services()
    done: list[Any] = []

    async def consolidate(one: ConsolidationServices) -> None:
        done.append(await one.consolidator.consolidate(None, force=True))

    async with anyio.create_task_group() as tasks:
        for one in (services, other, services, other):
            tasks.start_soon(consolidate, one)
    assert sum(len(report.moves) for report in done) == MAX_MOVES
    assert len({memory.content for memory in await services.memories()}) == MAX_MOVES
    assert len(await services.memories()) == MAX_MOVES


def start(home: Path, role: str) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.features.working_memory.consolidation_child", str(home), role],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


async def put_thoughts(home: Path, count: int) -> None:
    store = await SqliteStore.open(home)
    for number in range(count):
        await store.working.put(item(f"thought number {number}", mark=ConsolidationMark.CALLER), 1_000)
    await store.close()


async def test_047_two_concurrent_processes_move_every_item_once(tmp_path: Path) -> None:
    await put_thoughts(tmp_path, 40)
    children = [start(tmp_path, "lives") for _ in range(2)]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    printed = [line.split() for child in children for line in child.communicate(timeout=60)[0].splitlines()]
    store = await SqliteStore.open(tmp_path)
    memories = await store.memories.scan(None, 1_000)
    await store.close()
    assert sorted(memory.content for memory in memories) == sorted(f"thought number {number}" for number in range(40))
    assert sorted(printed) == sorted([memory.id, *memory.provenance["from"]] for memory in memories)


async def test_047_a_process_killed_after_storing_the_memory_causes_no_duplicate(tmp_path: Path) -> None:
    await put_thoughts(tmp_path, 3)
    child = start(tmp_path, "dies")
    (memory_id,) = child.communicate("go\n", timeout=60)[0].split()
    clock = ManualClock()
    store = await SqliteStore.open(tmp_path, clock=clock)
    services = ConsolidationServices(store, clock)
    (lease_end, *_) = [one.moving_until for one in await store.working.candidates(None, 10) if one.moving_until]
    clock.now = lease_end
    await services.consolidator.sweep()
    memories = await services.memories()
    await store.close()
    assert sorted(memory.content for memory in memories) == [f"thought number {number}" for number in range(3)]
    assert memory_id in {memory.id for memory in memories}


async def test_047_a_server_consolidates_periodically_and_continues_after_an_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "WORKING_MEMORY_SECONDS", 0.01)
    monkeypatch.setattr("scrubjay.features.working_memory.consolidation.MIN_AGE", timedelta(seconds=0.1))
    sweep, breaks = Consolidator.sweep, [True]

    async def break_once(self: Consolidator, scope: WorkingScope | None = None) -> SweepResult:
        if breaks:
            raise ValueError(breaks.pop())
        return await sweep(self, scope)

    monkeypatch.setattr(Consolidator, "sweep", break_once)
    async with running(Settings(home=tmp_path)) as app:

        async def call(name: str, **arguments: Any) -> Any:
            return await app.dispatcher.call(name, arguments, CallContext(surface="python", client="ada"))

        put = (await call("working_put", content="The build is broken since Tuesday.")).item
        with anyio.fail_after(30):
            found = put
            while found.memory_id is None:
                await anyio.lowlevel.checkpoint()
                found = (await call("working_get", id=put.id)).item
        recalled = await call("recall", query="what is broken?")
        assert ([memory.id for memory in recalled.memories], breaks) == ([found.memory_id], [])
