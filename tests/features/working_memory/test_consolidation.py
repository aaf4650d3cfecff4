"""What an agent has in mind becomes memories: each item once, the same thing together (feature 47)."""

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

from scrubjay.app import maintenance as upkeep
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Busy, InvalidRequest, ScrubjayError
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Memory, Written
from scrubjay.features.working_memory.consolidation import (
    MOST_AT_ONCE,
    MOVE_SECONDS,
    Consolidator,
    Reason,
    Tended,
    score_of,
)
from scrubjay.features.working_memory.models import Desk, Mark
from scrubjay.tooling.context import CallContext
from tests.contracts.samples import NOW, ManualClock
from tests.contracts.working_items import HERE, item
from tests.features.memory.house import House

ROOT = Path(__file__).parents[3]
MINUTE = timedelta(seconds=60)


@pytest.fixture
async def open_house(tmp_path: Path) -> AsyncGenerator[Callable[[], Any]]:
    clock, opened = ManualClock(), list[SqliteStore]()

    async def opening() -> House:
        opened.append(await SqliteStore.open(tmp_path / "home", clock=clock))
        return House(opened[-1], clock)

    yield opening
    for store in opened:
        await store.close()


@pytest.fixture
async def house(open_house: Callable[[], Any]) -> House:
    return await open_house()


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
def test_047_the_score_is_the_documented_one(
    content: str, importance: float, reads: int, age: float, score: float
) -> None:
    scored = item(content, importance=importance, access_count=reads)
    assert score_of(scored, NOW + timedelta(seconds=age)) == pytest.approx(score)


async def test_047_what_is_marked_and_old_enough_becomes_a_memory_and_stays_readable(house: House) -> None:
    put = await house.put(
        "The failing test is test_login.",
        importance=0.7,
        context={"file": "a.py"},
        source="user",
        tool_name="pytest",
        client="ada",
    )
    await house.put("not marked", mark=Mark.NONE)
    house.clock.advance(30)
    done = await house.consolidator.consolidate(None)
    ((move,), kept_back) = done.moves, done.kept_back
    assert (kept_back, move.items, move.score) == ([], [put], pytest.approx(0.28 + 0.2 + 0.01))
    (memory,) = await house.memories()
    assert memory == Memory(
        id=move.memory_id or "",
        scope=Scope.PROJECT,
        project_id="prj_a",
        session_id="s1",
        content="The failing test is test_login.",
        importance=0.7,
        metadata={"file": "a.py"},
        occurred_at=NOW,
        recorded_at=house.clock.now,
        updated_at=house.clock.now,
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
    assert await house.memory_of(put) == memory.id
    assert (await house.consolidator.consolidate(None, force=True)).moves == []


async def test_047_an_item_without_a_project_becomes_what_remember_would_make_of_it(house: House) -> None:
    await house.put("Nobody's project.", desk=Desk(None, "s1"))
    await house.consolidator.consolidate(None, force=True)
    (memory,) = await house.memories()
    assert (memory.scope, memory.project_id, memory.session_id) == (Scope.GLOBAL, None, "s1")


async def test_047_each_item_that_is_kept_back_says_why(house: House, open_house: Callable[[], Any]) -> None:
    dull = await house.put("x " * 50, importance=0.3)
    moving = await house.put("moving")
    house.clock.advance(30)
    young = await house.put("young")
    now = house.clock.now
    await house.store.working.begin_moves({"mov_1": [moving.id]}, now, now + MINUTE)
    done = await house.consolidator.consolidate(HERE)
    assert done.moves == []
    assert {one.item.id: (one.reason, one.about) for one in done.kept_back} == {
        dull.id: (Reason.LOW_SCORE, "its score 0.13 is below 0.3"),
        moving.id: (Reason.MOVING, "it is becoming a memory at this moment"),
        young.id: (Reason.TOO_YOUNG, "it is younger than 30 s"),
    }
    forced = await house.consolidator.consolidate(HERE, force=True)
    assert {move.items[0].id for move in forced.moves} == {dull.id, young.id}


async def test_047_what_a_caller_marked_becomes_a_memory_whatever_its_score(house: House) -> None:
    await house.put("x " * 50, importance=0.0, mark=Mark.CALLER)
    house.clock.advance(30)
    assert len((await house.consolidator.consolidate(None)).moves) == 1


async def test_047_a_dry_run_tells_exactly_what_the_run_then_does(house: House) -> None:
    await house.put("We deploy on Thursdays.")
    await house.put("we deploy on thursdays")
    house.clock.advance(29)
    await house.put("Something young.")
    house.clock.advance(1)
    told = await house.consolidator.consolidate(HERE, dry_run=True)
    assert (await house.memories(), house.asked) == ([], 0)
    done = await house.consolidator.consolidate(HERE)
    assert [move.memory_id for move in told.moves] == [None]
    assert [replace(move, id="", memory_id=None) for move in done.moves] == [replace(one, id="") for one in told.moves]
    assert done.kept_back == told.kept_back


async def test_047_the_best_are_moved_first_and_those_about_to_expire_before_them(house: House) -> None:
    for number in range(MOST_AT_ONCE + 3):
        await house.put(f"thought number {number}", importance=0.31 + number / 100)
    dying = await house.put("a dying thought", importance=0.3, expires_at=NOW + timedelta(seconds=60))
    house.clock.advance(30)
    first = await house.consolidator.consolidate(HERE)
    assert len(first.moves) == MOST_AT_ONCE
    assert dying.id in {move.items[0].id for move in first.moves}
    assert {one.item.content for one in first.kept_back} == {f"thought number {number}" for number in range(4)}
    assert {one.reason for one in first.kept_back} == {Reason.TOO_MANY}
    assert len((await house.consolidator.consolidate(HERE)).moves) == 4


async def test_047_items_that_say_the_same_become_one_memory_that_names_them_all(house: House) -> None:
    short = await house.put("We chose PostgreSQL because the team knows it.", source="user", importance=0.9)
    long = await house.put("We chose PostgreSQL, because the team knows it well!", source="mail", context={"n": 1})
    house.clock.advance(20)
    young = await house.put("we chose postgresql because the team knows it", tool_name="notes")
    other_form = await house.put("We choose PostgreSQL because the teams know it.")
    elsewhere = await house.put("We chose PostgreSQL because the team knows it.", desk=Desk("prj_a", "s2"))
    house.clock.advance(10)
    done = await house.consolidator.consolidate(None)
    (move,) = done.moves
    assert [one.id for one in move.items] == [long.id, short.id, young.id]
    assert {one.item.id for one in done.kept_back} == {other_form.id, elsewhere.id}
    (memory,) = await house.memories()
    assert (memory.content, memory.importance, memory.metadata) == (long.content, 0.9, {"n": 1})
    assert memory.provenance["from"] == [long.id, short.id, young.id]
    assert [
        (origin["source"], origin["tool"], origin.get("content")) for origin in memory.provenance["consolidated"]
    ] == [("mail", None, None), ("user", None, short.content), ("unknown", "notes", young.content)]
    assert {await house.memory_of(one) for one in (short, long, young)} == {memory.id}


async def test_047_no_text_with_a_word_of_its_own_gives_way(house: House) -> None:
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
        await house.put(content)
    await house.consolidator.consolidate(None, force=True)
    assert sorted(memory.content for memory in await house.memories()) == sorted(contents)


async def test_047_what_is_about_to_expire_is_not_too_young(house: House) -> None:
    put = await house.put("short-lived", expires_at=NOW + timedelta(seconds=31))
    tended = await house.consolidator.tend()
    (memory,) = await house.memories()
    assert (tended.memories, tended.given_up, tended.erased) == ({put.id: memory.id}, frozenset(), 0)


async def test_046_what_expired_while_nobody_looked_becomes_memories_before_it_is_erased(house: House) -> None:
    for number in range(2 * MOST_AT_ONCE + 7):
        await house.put(f"thought number {number}")
    await house.put("x " * 50, importance=0.3)
    await house.put("not marked", mark=Mark.NONE)
    house.clock.advance(100_000)
    await house.put("alive")
    tended = await house.consolidator.tend()
    assert (len(tended.memories), len(tended.given_up), tended.erased) == (107, 1, 109)
    assert len(await house.memories()) == 107
    assert [one.item.content for one in await house.store.working.candidates(None, 100)] == ["alive"]
    assert (await house.consolidator.tend()).erased == 0


async def test_047_nothing_heavy_is_made_as_long_as_there_is_nothing_to_keep(house: House) -> None:
    await house.put("not marked", mark=Mark.NONE)
    house.clock.advance(1_000)
    assert (await house.consolidator.tend()).erased == 1
    assert house.asked == 0


@pytest.mark.parametrize(
    ("failure", "reason", "left"),
    [(Busy("no turn"), Reason.FAILED, 1), (InvalidRequest("has a secret"), Reason.REFUSED, 0)],
)
async def test_047_one_that_cannot_be_kept_does_not_stop_the_others_and_is_not_lost_in_vain(
    house: House, monkeypatch: pytest.MonkeyPatch, failure: ScrubjayError, reason: Reason, left: int
) -> None:
    bad, good = await house.put("bad"), await house.put("good")
    remember_once = house.memory.remember_once

    async def sometimes(drafts: Sequence[Any], *arguments: Any, **options: Any) -> Written:
        if drafts[0].content == "bad":
            raise failure
        return await remember_once(drafts, *arguments, **options)

    monkeypatch.setattr(house.memory, "remember_once", sometimes)
    done = await house.consolidator.consolidate(None, force=True)
    assert [move.items for move in done.moves] == [[good]]
    assert [(one.item, one.reason, one.about) for one in done.kept_back] == [(bad, reason, failure.message)]
    house.clock.advance(400)
    await house.consolidator.tend()
    assert len(await house.store.working.candidates(None, 10)) == left
    monkeypatch.undo()
    await house.consolidator.tend()
    assert len(await house.memories()) == 1 + left
    assert await house.store.working.candidates(None, 10) == []


async def test_047_a_move_whose_process_died_after_the_memory_was_kept_makes_no_second_one(
    house: House, open_house: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    put, same = await house.put("One thing."), await house.put("one thing")

    async def die(move_id: str, memory_id: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(house.store.working, "finish_move", die)
    with pytest.raises(KeyboardInterrupt):
        await house.consolidator.consolidate(None, force=True)
    other: House = await open_house()
    later = await other.put("one thing")
    waits = await other.consolidator.consolidate(None, force=True)
    assert [one.reason for one in waits.kept_back] == [Reason.MOVING, Reason.MOVING]
    assert [[one.id for one in move.items] for move in waits.moves] == [[later.id]]
    house.clock.advance(MOVE_SECONDS)
    done = await other.consolidator.consolidate(None)
    (move,) = done.moves
    assert {one.id for one in move.items} == {put.id, same.id}
    (memory,) = await other.memories()
    assert set(memory.provenance["from"]) == {put.id, same.id, later.id}
    assert await other.memory_of(put) == await other.memory_of(same) == move.memory_id


@pytest.mark.parametrize("forgotten", [False, True])
async def test_047_a_move_that_lost_an_item_after_it_was_carried_out_is_not_carried_out_again(
    house: House, monkeypatch: pytest.MonkeyPatch, forgotten: bool
) -> None:
    put, same = await house.put("One thing."), await house.put("one thing")

    async def die(move_id: str, memory_id: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(house.store.working, "finish_move", die)
        with pytest.raises(KeyboardInterrupt):
            await house.consolidator.consolidate(None, force=True)
    house.clock.advance(MOVE_SECONDS)
    await house.store.working.delete(HERE, same.id, house.clock.now)
    if forgotten:
        (memory,) = await house.memories()
        await house.store.memories.erase([memory.id])
    done = await house.consolidator.consolidate(None)
    assert [(one.item.id, one.reason) for one in done.kept_back] == [(put.id, Reason.REFUSED)] * forgotten
    assert [(move.memory_id, move.known) for move in done.moves] == [
        (memory.id, True) for memory in await house.memories()
    ]
    house.clock.advance(1_000)
    assert (await house.consolidator.tend()).erased == 1
    assert len(await house.memories()) == (0 if forgotten else 1)


async def test_047_what_is_put_again_after_it_became_a_memory_is_noted_there(house: House) -> None:
    first = await house.put("We deploy on Thursdays, says Ada.", importance=0.6)
    (move,) = (await house.consolidator.consolidate(None, force=True)).moves
    again = await house.put("we deploy on thursdays, says ada", importance=0.9, source="chat")
    more = await house.put("We deploy on Thursdays, says Ada, and never on Fridays.")
    elsewhere = await house.put("We deploy on Thursdays, says Ada.", desk=Desk(None, "another session"))
    done = await house.consolidator.consolidate(None, force=True)
    assert {one.items[0].id: (one.memory_id, one.known) for one in done.moves} == {
        again.id: (move.memory_id, True),
        more.id: (await house.memory_of(more), False),
        elsewhere.id: (await house.memory_of(elsewhere), False),
    }
    memories = {memory.id: memory for memory in await house.memories()}
    known = memories[str(move.memory_id)]
    assert len(memories) == 3
    assert (known.content, known.importance) == ("We deploy on Thursdays, says Ada.", 0.9)
    assert known.provenance["from"] == [first.id, again.id]
    assert [one.get("content") for one in known.provenance["consolidated"]] == [None, again.content]


async def test_047_what_is_put_again_after_its_memory_was_forgotten_is_new(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.put("We deploy on Thursdays.")
    await house.consolidator.consolidate(None, force=True)
    (memory,) = await house.memories()
    again = await house.put("We deploy on Thursdays.")
    page = house.memory.page

    async def just_before(*arguments: Any, **options: Any) -> Any:
        monkeypatch.undo()
        found = await page(*arguments, **options)
        await house.store.memories.erase([memory.id])
        return found

    monkeypatch.setattr(house.memory, "page", just_before)
    done = await house.consolidator.consolidate(None, force=True)
    assert [(one.item.id, one.reason) for one in done.kept_back] == [(again.id, Reason.FAILED)]
    await house.consolidator.consolidate(None, force=True)
    (new,) = await house.memories()
    assert (new.provenance["from"], new.id != memory.id) == ([again.id], True)


async def test_047_an_item_that_is_erased_before_its_memory_is_kept_is_not_in_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, same = await house.put("One thing."), await house.put("one thing")
    remember_once = house.memory.remember_once

    async def very_slowly(*arguments: Any, **options: Any) -> Written:
        monkeypatch.undo()
        house.clock.advance(MOVE_SECONDS)
        await house.store.working.delete(HERE, same.id, house.clock.now)
        return await remember_once(*arguments, **options)

    monkeypatch.setattr(house.memory, "remember_once", very_slowly)
    done = await house.consolidator.consolidate(None, force=True)
    assert {one.item.id: one.reason for one in done.kept_back} == {put.id: Reason.FAILED, same.id: Reason.FAILED}
    assert await house.memories() == []
    await house.consolidator.tend()
    (memory,) = await house.memories()
    assert memory.provenance["from"] == [put.id]


async def test_047_two_that_consolidate_at_the_same_moment_move_everything_once(
    house: House, open_house: Callable[[], Any]
) -> None:
    for number in range(MOST_AT_ONCE):
        await house.put(f"thought number {number}")
    other: House = await open_house()
    done: list[Any] = []

    async def consolidate(one: House) -> None:
        done.append(await one.consolidator.consolidate(None, force=True))

    async with anyio.create_task_group() as tasks:
        for one in (house, other, house, other):
            tasks.start_soon(consolidate, one)
    assert sum(len(report.moves) for report in done) == MOST_AT_ONCE
    assert len({memory.content for memory in await house.memories()}) == MOST_AT_ONCE
    assert len(await house.memories()) == MOST_AT_ONCE


def start(home: Path, role: str) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.features.memory.consolidating_child", str(home), role],
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
        await store.working.put(item(f"thought number {number}", mark=Mark.CALLER), 1_000)
    await store.close()


async def test_047_two_processes_at_once_move_everything_once(tmp_path: Path) -> None:
    await put_thoughts(tmp_path, 40)
    children = [start(tmp_path, "lives") for _ in range(2)]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    told = [line.split() for child in children for line in child.communicate(timeout=60)[0].splitlines()]
    store = await SqliteStore.open(tmp_path)
    memories = await store.memories.scan(None, 1_000)
    await store.close()
    assert sorted(memory.content for memory in memories) == sorted(f"thought number {number}" for number in range(40))
    assert sorted(told) == sorted([memory.id, *memory.provenance["from"]] for memory in memories)


async def test_047_a_process_that_is_killed_with_the_memory_kept_leaves_no_second_one(tmp_path: Path) -> None:
    await put_thoughts(tmp_path, 3)
    child = start(tmp_path, "dies")
    (kept,) = child.communicate("go\n", timeout=60)[0].split()
    clock = ManualClock()
    store = await SqliteStore.open(tmp_path, clock=clock)
    house = House(store, clock)
    (begun, *_) = [one.moving_until for one in await store.working.candidates(None, 10) if one.moving_until]
    clock.now = begun
    await house.consolidator.tend()
    memories = await house.memories()
    await store.close()
    assert sorted(memory.content for memory in memories) == [f"thought number {number}" for number in range(3)]
    assert kept in {memory.id for memory in memories}


async def test_047_a_server_consolidates_without_being_asked_and_goes_on_after_a_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "TEND_SECONDS", 0.01)
    monkeypatch.setattr("scrubjay.features.working_memory.consolidation.LEAST_AGE", timedelta(seconds=0.1))
    tend, breaks = Consolidator.tend, [True]

    async def break_once(self: Consolidator, desk: Desk | None = None) -> Tended:
        if breaks:
            raise ValueError(breaks.pop())
        return await tend(self, desk)

    monkeypatch.setattr(Consolidator, "tend", break_once)
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
