"""What every backend keeps of working memory. Numbers are rows of the feature table."""

from dataclasses import replace
from datetime import timedelta

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Busy
from scrubjay.features.working_memory.models import Candidate, Desk, Mark, Tally, WorkingItem
from tests.contracts.samples import NOW
from tests.contracts.working_items import ELSEWHERE, HERE, LATER, SOON, item

MANY = 1_000


async def put(store: Store, *items: WorkingItem) -> None:
    for one in items:
        assert await store.working.put(one, MANY) == []


async def test_046_an_item_comes_back_as_it_was_put_also_to_another_process(store: Store, other: Store) -> None:
    whole = item(
        "half a thought 🚂",
        context={"file": "a.py", "lines": [1, 2], "deep": {"é": None}},
        importance=0.7,
        source="user",
        tool_name="grep",
        client="stdio:7",
        access_count=3,
        mark=Mark.CALLER,
        memory_id="mem_x",
    )
    bare = item("another", desk=Desk(None, "s1"))
    await put(store, whole, bare)
    assert await other.working.items(HERE, NOW) == [whole]
    assert await other.working.items(Desk(None, "s1"), NOW) == [bare]


async def test_046_nobody_reads_or_changes_what_lies_on_another_desk(store: Store) -> None:
    mine = item("mine", mark=Mark.CALLER)
    await put(store, mine)
    for desk in ELSEWHERE:
        assert await store.working.items(desk, NOW) == []
        assert await store.working.access(desk, [mine.id], NOW) == []
        assert await store.working.mark(desk, mine.id, Mark.NONE, NOW) is None
        assert await store.working.delete(desk, mine.id, NOW) is None
        assert await store.working.clear(desk, NOW) == []
        assert await store.working.clear_expired(desk, LATER, [mine.id]) == 0
        assert await store.working.candidates(desk, MANY) == []
        assert (await store.working.tally(desk, NOW)).items == 0
    assert await store.working.items(HERE, NOW) == [mine]


async def test_046_what_has_expired_is_nowhere_to_be_seen(store: Store) -> None:
    short, long = item("short", expires_at=SOON), item("long")
    await put(store, short, long)
    moment = SOON - timedelta(microseconds=1)
    assert await store.working.items(HERE, moment) == [long, short]
    assert await store.working.items(HERE, SOON) == [long]
    assert await store.working.access(HERE, [short.id], SOON) == []
    assert await store.working.mark(HERE, short.id, Mark.CALLER, SOON) is None
    assert await store.working.delete(HERE, short.id, SOON) is None


async def test_046_reading_is_counted_and_keeps_the_order_asked_for(store: Store) -> None:
    first, second = item("first"), item("second")
    await put(store, first, second)
    seen = replace(second, accessed_at=SOON - timedelta(seconds=1), access_count=1)
    read = await store.working.access(HERE, [second.id, "wrk_none", first.id], seen.accessed_at)
    assert read == [seen, replace(first, accessed_at=seen.accessed_at, access_count=1)]
    assert await store.working.access(HERE, [second.id], SOON) == [replace(second, accessed_at=SOON, access_count=2)]
    assert await store.working.access(HERE, [], SOON) == []


async def test_046_the_latest_comes_first_and_a_limit_holds(store: Store) -> None:
    items = [item(f"number {number}") for number in range(5)]
    await put(store, *items)
    assert await store.working.items(HERE, NOW) == items[::-1]
    assert await store.working.items(HERE, NOW, 2) == [items[4], items[3]]


async def test_046_over_the_capacity_the_soonest_to_expire_gives_way(store: Store) -> None:
    late, soon, middle = item("late"), item("soon", expires_at=SOON), item("mid", expires_at=SOON + timedelta(1))
    await put(store, late, soon, item("elsewhere", desk=Desk("prj_b", "s1"), expires_at=SOON), middle)
    fresh = item("fresh", expires_at=NOW + timedelta(seconds=1))
    assert await store.working.put(fresh, 3) == [soon]
    assert await store.working.items(HERE, NOW) == [fresh, middle, late]
    assert len(await store.working.items(Desk("prj_b", "s1"), NOW)) == 1
    assert await store.working.put(item("alone"), 1) == [fresh, late, middle]


async def test_046_items_that_expired_take_no_room(store: Store) -> None:
    await put(store, item("gone", expires_at=SOON), item("there"))
    at = SOON + timedelta(seconds=1)
    assert await store.working.put(item("new", created_at=at), 2) == []


async def test_046_what_waits_to_become_a_memory_gives_way_last_and_is_not_lost(store: Store) -> None:
    marked = item("marked", mark=Mark.IMPORTANCE, expires_at=SOON)
    moved = item("moved", mark=Mark.CALLER, memory_id="mem_1", expires_at=SOON + timedelta(1))
    plain = item("plain", expires_at=SOON + timedelta(2))
    await put(store, marked, moved, plain)
    fresh = item("fresh", mark=Mark.CALLER, expires_at=LATER)
    assert await store.working.put(fresh, 1) == [moved, plain, marked]
    assert await store.working.items(HERE, NOW) == [fresh]
    evicted = replace(marked, expires_at=NOW)
    assert await store.working.candidates(HERE, MANY) == [Candidate(item=evicted), Candidate(item=fresh)]


async def test_046_an_item_is_marked_unmarked_and_erased(store: Store, other: Store) -> None:
    one = item("one")
    await put(store, one)
    marked = replace(one, mark=Mark.CALLER)
    assert await store.working.mark(HERE, one.id, Mark.CALLER, NOW) == marked
    assert await other.working.candidates(HERE, MANY) == [Candidate(item=marked)]
    assert await other.working.mark(HERE, one.id, Mark.NONE, NOW) == one
    assert await store.working.candidates(HERE, MANY) == []
    assert await store.working.delete(HERE, one.id, NOW) == one
    assert await other.working.items(HERE, NOW) == []
    assert await store.working.delete(HERE, one.id, NOW) is None


async def test_046_a_desk_is_cleared_wholly_and_others_are_left(store: Store) -> None:
    mine, expired = item("mine"), item("old", expires_at=SOON, mark=Mark.CALLER)
    await put(store, mine, expired, item("theirs", desk=ELSEWHERE[1]))
    cleared = await store.working.clear(HERE, SOON)
    assert sorted(cleared, key=lambda one: one.content) == [mine, expired]
    assert await store.working.items(HERE, NOW) == []
    assert len(await store.working.items(ELSEWHERE[1], NOW)) == 1


async def test_046_what_has_expired_is_erased_once_and_what_still_waits_is_not(store: Store, other: Store) -> None:
    plain = item("plain", expires_at=SOON)
    moved = item("moved", expires_at=SOON, mark=Mark.CALLER, memory_id="mem_1")
    waiting = item("waiting", expires_at=SOON, mark=Mark.CALLER)
    hopeless = item("hopeless", expires_at=SOON, mark=Mark.IMPORTANCE)
    theirs, alive = item("theirs", expires_at=SOON, desk=ELSEWHERE[0]), item("alive", mark=Mark.CALLER)
    await put(store, plain, moved, waiting, hopeless, theirs, alive)
    assert await store.working.clear_expired(HERE, NOW, [hopeless.id, alive.id]) == 0
    assert await store.working.clear_expired(HERE, SOON, [hopeless.id, alive.id]) == 3
    assert await other.working.clear_expired(None, SOON) == 1
    assert await other.working.clear_expired(None, SOON) == 0
    left = await store.working.candidates(None, MANY)
    assert left == [Candidate(item=waiting), Candidate(item=alive)]


async def test_046_a_tally_counts_what_lies_there(store: Store) -> None:
    assert await store.working.tally(HERE, NOW) == Tally(
        items=0, tokens=0, waiting=0, consolidated=0, soonest_expiry=None, expired_waiting=0
    )
    await put(
        store,
        item("12345"),
        item("éééé", mark=Mark.IMPORTANCE, expires_at=LATER + timedelta(1)),
        item("x", mark=Mark.CALLER, memory_id="mem_1"),
        item("expired", expires_at=SOON, mark=Mark.CALLER),
        item("expired too", expires_at=SOON),
        item("theirs", desk=ELSEWHERE[0]),
    )
    assert await store.working.tally(HERE, SOON) == Tally(
        items=3, tokens=4, waiting=1, consolidated=1, soonest_expiry=LATER, expired_waiting=1
    )


async def test_047_candidates_come_from_every_desk_soonest_to_expire_first(store: Store) -> None:
    late = item("late", mark=Mark.IMPORTANCE)
    soon = item("soon", mark=Mark.CALLER, expires_at=SOON, desk=Desk(None, "s9"))
    await put(store, late, soon, item("plain"), item("moved", mark=Mark.CALLER, memory_id="mem_1"))
    assert await store.working.candidates(None, MANY) == [Candidate(item=soon), Candidate(item=late)]
    assert await store.working.candidates(None, 1) == [Candidate(item=soon)]
    assert await store.working.candidates(HERE, MANY) == [Candidate(item=late)]


async def test_047_a_move_is_begun_by_one_alone_until_its_time_is_over(store: Store, other: Store) -> None:
    one, two = item("one", mark=Mark.CALLER), item("two", mark=Mark.CALLER)
    await put(store, one, two)
    until = NOW + timedelta(seconds=60)
    assert await store.working.begin_moves({"mov_1": [one.id, two.id]}, NOW, until) == {"mov_1": [one.id, two.id]}
    assert await other.working.candidates(None, MANY) == [
        Candidate(item=one, move_id="mov_1", moving_until=until),
        Candidate(item=two, move_id="mov_1", moving_until=until),
    ]
    just_before = until - timedelta(microseconds=1)
    assert await other.working.begin_moves({"mov_1": [one.id, two.id]}, just_before, LATER) == {}
    assert await other.working.begin_moves({"mov_2": [one.id]}, until, LATER) == {}
    assert await other.working.begin_moves({"mov_1": [one.id, two.id]}, until, LATER) == {"mov_1": [one.id, two.id]}
    await other.working.finish_move("mov_1", "mem_1")
    assert await store.working.candidates(None, MANY) == []
    assert await store.working.items(HERE, NOW) == [replace(two, memory_id="mem_1"), replace(one, memory_id="mem_1")]
    assert await store.working.begin_moves({"mov_1": [one.id]}, LATER, LATER) == {}


async def test_047_a_move_is_begun_with_all_of_its_items_or_not_at_all(store: Store) -> None:
    one, two, plain = item("one", mark=Mark.CALLER), item("two", mark=Mark.CALLER), item("plain")
    await put(store, one, two, plain)
    moves = {"mov_1": [one.id, "wrk_gone"], "mov_2": [one.id, plain.id], "mov_3": [two.id], "mov_4": [two.id, one.id]}
    assert await store.working.begin_moves(moves, NOW, SOON) == {"mov_3": [two.id]}
    assert await store.working.candidates(None, MANY) == [
        Candidate(item=one),
        Candidate(item=two, move_id="mov_3", moving_until=SOON),
    ]
    assert await store.working.begin_moves({}, NOW, SOON) == {}


async def test_047_a_move_that_was_released_can_be_gone_on_with_at_once_but_not_taken_apart(store: Store) -> None:
    one, two = item("one", mark=Mark.CALLER), item("two", mark=Mark.CALLER, expires_at=LATER + timedelta(1))
    await put(store, one, two)
    await store.working.begin_moves({"mov_1": [one.id, two.id]}, NOW, SOON)
    await store.working.release_move("mov_1")
    whole = [Candidate(item=one, move_id="mov_1"), Candidate(item=two, move_id="mov_1")]
    assert await store.working.candidates(None, 1) == whole
    assert await store.working.begin_moves({"mov_2": [one.id, two.id]}, NOW, SOON) == {}
    assert await store.working.begin_moves({"mov_1": [one.id, two.id]}, NOW, SOON) == {"mov_1": [one.id, two.id]}


async def test_047_what_is_just_being_moved_is_neither_marked_nor_erased(store: Store) -> None:
    one = item("one", mark=Mark.CALLER)
    await put(store, one)
    await store.working.begin_moves({"mov_1": [one.id]}, NOW, SOON)
    with pytest.raises(Busy):
        await store.working.delete(HERE, one.id, NOW)
    with pytest.raises(Busy):
        await store.working.mark(HERE, one.id, Mark.NONE, NOW)
    with pytest.raises(Busy):
        await store.working.clear(HERE, NOW)
    assert await store.working.items(HERE, NOW) == [one]
    assert await store.working.delete(HERE, one.id, SOON) == one
