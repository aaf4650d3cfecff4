"""Store contract: working memory. Numbers are rows of the feature table."""

from dataclasses import replace
from datetime import timedelta

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Busy
from scrubjay.features.working_memory.models import (
    ConsolidationCandidate,
    ConsolidationMark,
    WorkingItem,
    WorkingScope,
    WorkingUsage,
)
from tests.contracts.samples import NOW
from tests.contracts.working_items import ELSEWHERE, HERE, LATER, SOON, item

MANY = 1_000


async def put(store: Store, *items: WorkingItem) -> None:
    for one in items:
        assert await store.working.put(one, MANY) == []


async def test_046_an_item_is_returned_as_stored_also_in_another_process(store: Store, other: Store) -> None:
    complete = item(
        "half a thought 🚂",
        context={"file": "a.py", "lines": [1, 2], "deep": {"é": None}},
        importance=0.7,
        source="user",
        tool_name="grep",
        client="stdio:7",
        access_count=3,
        mark=ConsolidationMark.CALLER,
        memory_id="mem_x",
    )
    bare = item("another", scope=WorkingScope(None, "s1"))
    await put(store, complete, bare)
    assert await other.working.items(HERE, NOW) == [complete]
    assert await other.working.items(WorkingScope(None, "s1"), NOW) == [bare]


async def test_046_items_of_another_scope_can_be_neither_read_nor_changed(store: Store) -> None:
    mine = item("mine", mark=ConsolidationMark.CALLER)
    await put(store, mine)
    for scope in ELSEWHERE:
        assert await store.working.items(scope, NOW) == []
        assert await store.working.access(scope, [mine.id], NOW) == []
        assert await store.working.mark(scope, mine.id, ConsolidationMark.NONE, NOW) is None
        assert await store.working.delete(scope, mine.id, NOW) is None
        assert await store.working.clear(scope, NOW) == []
        assert await store.working.clear_expired(scope, LATER, [mine.id]) == 0
        assert await store.working.candidates(scope, MANY) == []
        assert (await store.working.usage(scope, NOW)).items == 0
    assert await store.working.items(HERE, NOW) == [mine]


async def test_046_expired_items_are_invisible(store: Store) -> None:
    short, long = item("short", expires_at=SOON), item("long")
    await put(store, short, long)
    moment = SOON - timedelta(microseconds=1)
    assert await store.working.items(HERE, moment) == [long, short]
    assert await store.working.items(HERE, SOON) == [long]
    assert await store.working.access(HERE, [short.id], SOON) == []
    assert await store.working.mark(HERE, short.id, ConsolidationMark.CALLER, SOON) is None
    assert await store.working.delete(HERE, short.id, SOON) is None


async def test_046_reads_are_counted_and_keep_the_requested_order(store: Store) -> None:
    first, second = item("first"), item("second")
    await put(store, first, second)
    seen = replace(second, accessed_at=SOON - timedelta(seconds=1), access_count=1)
    read = await store.working.access(HERE, [second.id, "wrk_none", first.id], seen.accessed_at)
    assert read == [seen, replace(first, accessed_at=seen.accessed_at, access_count=1)]
    assert await store.working.access(HERE, [second.id], SOON) == [replace(second, accessed_at=SOON, access_count=2)]
    assert await store.working.access(HERE, [], SOON) == []


async def test_046_the_newest_items_come_first_up_to_the_limit(store: Store) -> None:
    items = [item(f"number {number}") for number in range(5)]
    await put(store, *items)
    assert await store.working.items(HERE, NOW) == items[::-1]
    assert await store.working.items(HERE, NOW, 2) == [items[4], items[3]]


async def test_046_beyond_the_capacity_the_item_that_expires_first_is_evicted(store: Store) -> None:
    late, soon, middle = item("late"), item("soon", expires_at=SOON), item("mid", expires_at=SOON + timedelta(1))
    await put(store, late, soon, item("elsewhere", scope=WorkingScope("prj_b", "s1"), expires_at=SOON), middle)
    fresh = item("fresh", expires_at=NOW + timedelta(seconds=1))
    assert await store.working.put(fresh, 3) == [soon]
    assert await store.working.items(HERE, NOW) == [fresh, middle, late]
    assert len(await store.working.items(WorkingScope("prj_b", "s1"), NOW)) == 1
    assert await store.working.put(item("alone"), 1) == [fresh, late, middle]


async def test_046_expired_items_do_not_count_against_the_capacity(store: Store) -> None:
    await put(store, item("gone", expires_at=SOON), item("there"))
    at = SOON + timedelta(seconds=1)
    assert await store.working.put(item("new", created_at=at), 2) == []


async def test_046_items_marked_for_consolidation_are_evicted_last_and_not_lost(store: Store) -> None:
    marked = item("marked", mark=ConsolidationMark.IMPORTANCE, expires_at=SOON)
    moved = item("moved", mark=ConsolidationMark.CALLER, memory_id="mem_1", expires_at=SOON + timedelta(1))
    plain = item("plain", expires_at=SOON + timedelta(2))
    await put(store, marked, moved, plain)
    fresh = item("fresh", mark=ConsolidationMark.CALLER, expires_at=LATER)
    assert await store.working.put(fresh, 1) == [moved, plain, marked]
    assert await store.working.items(HERE, NOW) == [fresh]
    evicted = replace(marked, expires_at=NOW)
    assert await store.working.candidates(HERE, MANY) == [
        ConsolidationCandidate(item=evicted),
        ConsolidationCandidate(item=fresh),
    ]


async def test_046_an_item_can_be_marked_unmarked_and_deleted(store: Store, other: Store) -> None:
    one = item("one")
    await put(store, one)
    marked = replace(one, mark=ConsolidationMark.CALLER)
    assert await store.working.mark(HERE, one.id, ConsolidationMark.CALLER, NOW) == marked
    assert await other.working.candidates(HERE, MANY) == [ConsolidationCandidate(item=marked)]
    assert await other.working.mark(HERE, one.id, ConsolidationMark.NONE, NOW) == one
    assert await store.working.candidates(HERE, MANY) == []
    assert await store.working.delete(HERE, one.id, NOW) == one
    assert await other.working.items(HERE, NOW) == []
    assert await store.working.delete(HERE, one.id, NOW) is None


async def test_046_clearing_a_scope_erases_all_its_items_and_no_others(store: Store) -> None:
    mine, expired = item("mine"), item("old", expires_at=SOON, mark=ConsolidationMark.CALLER)
    await put(store, mine, expired, item("theirs", scope=ELSEWHERE[1]))
    cleared = await store.working.clear(HERE, SOON)
    assert sorted(cleared, key=lambda one: one.content) == [mine, expired]
    assert await store.working.items(HERE, NOW) == []
    assert len(await store.working.items(ELSEWHERE[1], NOW)) == 1


async def test_046_expired_items_are_erased_unless_they_await_consolidation(store: Store, other: Store) -> None:
    plain = item("plain", expires_at=SOON)
    moved = item("moved", expires_at=SOON, mark=ConsolidationMark.CALLER, memory_id="mem_1")
    waiting = item("waiting", expires_at=SOON, mark=ConsolidationMark.CALLER)
    hopeless = item("hopeless", expires_at=SOON, mark=ConsolidationMark.IMPORTANCE)
    theirs, alive = item("theirs", expires_at=SOON, scope=ELSEWHERE[0]), item("alive", mark=ConsolidationMark.CALLER)
    await put(store, plain, moved, waiting, hopeless, theirs, alive)
    assert await store.working.clear_expired(HERE, NOW, [hopeless.id, alive.id]) == 0
    assert await store.working.clear_expired(HERE, SOON, [hopeless.id, alive.id]) == 3
    assert await other.working.clear_expired(None, SOON) == 1
    assert await other.working.clear_expired(None, SOON) == 0
    left = await store.working.candidates(None, MANY)
    assert left == [ConsolidationCandidate(item=waiting), ConsolidationCandidate(item=alive)]


async def test_046_statistics_count_the_items(store: Store) -> None:
    assert await store.working.usage(HERE, NOW) == WorkingUsage(
        items=0, tokens=0, waiting=0, consolidated=0, soonest_expiry=None, expired_waiting=0
    )
    await put(
        store,
        item("12345"),
        item("éééé", mark=ConsolidationMark.IMPORTANCE, expires_at=LATER + timedelta(1)),
        item("x", mark=ConsolidationMark.CALLER, memory_id="mem_1"),
        item("expired", expires_at=SOON, mark=ConsolidationMark.CALLER),
        item("expired too", expires_at=SOON),
        item("theirs", scope=ELSEWHERE[0]),
    )
    assert await store.working.usage(HERE, SOON) == WorkingUsage(
        items=3, tokens=4, waiting=1, consolidated=1, soonest_expiry=LATER, expired_waiting=1
    )


async def test_047_candidates_come_from_every_scope_soonest_to_expire_first(store: Store) -> None:
    late = item("late", mark=ConsolidationMark.IMPORTANCE)
    soon = item("soon", mark=ConsolidationMark.CALLER, expires_at=SOON, scope=WorkingScope(None, "s9"))
    await put(store, late, soon, item("plain"), item("moved", mark=ConsolidationMark.CALLER, memory_id="mem_1"))
    assert await store.working.candidates(None, MANY) == [
        ConsolidationCandidate(item=soon),
        ConsolidationCandidate(item=late),
    ]
    assert await store.working.candidates(None, 1) == [ConsolidationCandidate(item=soon)]
    assert await store.working.candidates(HERE, MANY) == [ConsolidationCandidate(item=late)]


async def test_047_a_move_is_claimed_by_one_process_until_its_time_is_over(store: Store, other: Store) -> None:
    one, two = item("one", mark=ConsolidationMark.CALLER), item("two", mark=ConsolidationMark.CALLER)
    await put(store, one, two)
    until = NOW + timedelta(seconds=60)
    assert await store.working.begin_moves({"mov_1": [one.id, two.id]}, NOW, until) == {"mov_1": [one.id, two.id]}
    assert await other.working.candidates(None, MANY) == [
        ConsolidationCandidate(item=one, move_id="mov_1", moving_until=until),
        ConsolidationCandidate(item=two, move_id="mov_1", moving_until=until),
    ]
    just_before = until - timedelta(microseconds=1)
    assert await other.working.begin_moves({"mov_1": [one.id, two.id]}, just_before, LATER) == {}
    assert await other.working.begin_moves({"mov_2": [one.id]}, until, LATER) == {}
    assert await other.working.begin_moves({"mov_1": [one.id, two.id]}, until, LATER) == {"mov_1": [one.id, two.id]}
    await other.working.finish_move("mov_1", "mem_1")
    assert await store.working.candidates(None, MANY) == []
    assert await store.working.items(HERE, NOW) == [replace(two, memory_id="mem_1"), replace(one, memory_id="mem_1")]
    assert await store.working.begin_moves({"mov_1": [one.id]}, LATER, LATER) == {}


async def test_047_a_move_is_claimed_with_all_of_its_items_or_not_at_all(store: Store) -> None:
    one, two, plain = (
        item("one", mark=ConsolidationMark.CALLER),
        item("two", mark=ConsolidationMark.CALLER),
        item("plain"),
    )
    await put(store, one, two, plain)
    moves = {"mov_1": [one.id, "wrk_gone"], "mov_2": [one.id, plain.id], "mov_3": [two.id], "mov_4": [two.id, one.id]}
    assert await store.working.begin_moves(moves, NOW, SOON) == {"mov_3": [two.id]}
    assert await store.working.candidates(None, MANY) == [
        ConsolidationCandidate(item=one),
        ConsolidationCandidate(item=two, move_id="mov_3", moving_until=SOON),
    ]
    assert await store.working.begin_moves({}, NOW, SOON) == {}


async def test_047_a_released_move_can_be_resumed_at_once_but_not_split(store: Store) -> None:
    one, two = (
        item("one", mark=ConsolidationMark.CALLER),
        item("two", mark=ConsolidationMark.CALLER, expires_at=LATER + timedelta(1)),
    )
    await put(store, one, two)
    await store.working.begin_moves({"mov_1": [one.id, two.id]}, NOW, SOON)
    await store.working.release_move("mov_1")
    complete = [ConsolidationCandidate(item=one, move_id="mov_1"), ConsolidationCandidate(item=two, move_id="mov_1")]
    assert await store.working.candidates(None, 1) == complete
    assert await store.working.begin_moves({"mov_2": [one.id, two.id]}, NOW, SOON) == {}
    assert await store.working.begin_moves({"mov_1": [one.id, two.id]}, NOW, SOON) == {"mov_1": [one.id, two.id]}


async def test_047_items_being_moved_can_be_neither_marked_nor_deleted(store: Store) -> None:
    one = item("one", mark=ConsolidationMark.CALLER)
    await put(store, one)
    await store.working.begin_moves({"mov_1": [one.id]}, NOW, SOON)
    with pytest.raises(Busy):
        await store.working.delete(HERE, one.id, NOW)
    with pytest.raises(Busy):
        await store.working.mark(HERE, one.id, ConsolidationMark.NONE, NOW)
    with pytest.raises(Busy):
        await store.working.clear(HERE, NOW)
    assert await store.working.items(HERE, NOW) == [one]
    assert await store.working.delete(HERE, one.id, SOON) == one
