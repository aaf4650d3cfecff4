"""What an agent has in mind in one session, below the tools (feature 46)."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.core.policies import SecretsPolicy
from scrubjay.features.memory.service import INLINE_CHARACTERS
from scrubjay.features.working_memory.models import Mark, WorkingItem
from scrubjay.features.working_memory.service import NewItem, WorkingMemory
from tests.contracts.samples import NOW, ManualClock
from tests.contracts.working_items import ELSEWHERE, HERE
from tests.features.memory.house import House


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    clock = ManualClock()
    store = await SqliteStore.open(tmp_path, clock=clock)
    yield House(store, clock)
    await store.close()


def working_memory(house: House, **settings: Any) -> WorkingMemory:
    return WorkingMemory(house.store.working, house.consolidator, clock=house.clock, **settings)


@pytest.fixture
def working(house: House) -> WorkingMemory:
    return working_memory(house)


async def put(working: WorkingMemory, content: str, **fields: Any) -> WorkingItem:
    return (await working.put(HERE, NewItem(content=content, **fields))).item


async def test_046_an_item_lives_five_minutes_unless_it_says_otherwise(house: House, working: WorkingMemory) -> None:
    usual, long = await put(working, "usual"), await put(working, "long", ttl_seconds=301)
    assert usual == WorkingItem(
        id=usual.id,
        desk=HERE,
        content="usual",
        created_at=NOW,
        expires_at=NOW + timedelta(seconds=300),
        accessed_at=NOW,
        mark=Mark.IMPORTANCE,
    )
    assert (usual.tokens, replace(usual, content="12345678").tokens, usual.source) == (2, 2, "unknown")
    house.clock.advance(300)
    assert await working.recent(HERE, 10) == [long]
    with pytest.raises(NotFound, match="no item"):
        await working.get(HERE, usual.id)


@pytest.mark.parametrize(
    ("importance", "candidate", "mark"),
    [
        (0.3, None, Mark.IMPORTANCE),
        (0.29, None, Mark.NONE),
        (0.0, True, Mark.CALLER),
        (1.0, False, Mark.NONE),
    ],
)
async def test_047_its_importance_marks_an_item_unless_the_caller_decides(
    working: WorkingMemory, importance: float, candidate: bool | None, mark: Mark
) -> None:
    assert (await put(working, "x", importance=importance, candidate=candidate)).mark is mark


async def test_046_a_full_session_says_what_gave_way_and_loses_nothing_that_was_marked(house: House) -> None:
    working = working_memory(house, capacity=2)
    plain = await put(working, "plain", importance=0.1, ttl_seconds=400)
    marked = await put(working, "marked", ttl_seconds=200)
    third = await working.put(HERE, NewItem(content="third"))
    assert third.evicted == [plain]
    fourth = await working.put(HERE, NewItem(content="fourth"))
    (memory,) = await house.memories()
    assert memory.content == "marked"
    assert fourth.evicted == [replace(marked, memory_id=memory.id)]
    assert await working.recent(HERE, 10) == [fourth.item, third.item]


async def test_046_what_gives_way_and_is_not_worth_a_memory_is_said_to_be_gone(house: House) -> None:
    working = working_memory(house, capacity=1)
    dull = await put(working, "x " * 50, importance=0.3)
    assert (await working.put(HERE, NewItem(content="new"))).evicted == [replace(dull, mark=Mark.NONE)]
    assert await house.memories() == []


async def test_047_what_would_not_live_until_the_next_look_becomes_a_memory_at_once(
    house: House, working: WorkingMemory
) -> None:
    short = await put(working, "short", ttl_seconds=10)
    dull = await put(working, "x " * 50, importance=0.3, ttl_seconds=10)
    await put(working, "long", ttl_seconds=100)
    (memory,) = await house.memories()
    assert (memory.content, short.memory_id) == ("short", memory.id)
    assert (dull.memory_id, dull.mark) == (None, Mark.IMPORTANCE)
    assert (await working.get(HERE, short.id)).memory_id == memory.id


async def test_046_reading_counts_and_makes_an_item_more_worth_keeping(house: House, working: WorkingMemory) -> None:
    item = await put(working, "read me")
    house.clock.advance(5)
    read = replace(item, accessed_at=house.clock.now, access_count=1)
    assert await working.get(HERE, item.id) == read
    (match,) = await working.search(HERE, "read", 10)
    assert match.item == replace(read, access_count=2)
    assert await working.recent(HERE, 10) == [match.item]


async def test_046_a_search_ranks_by_what_the_words_tell(working: WorkingMemory) -> None:
    both = await put(working, "The parser fails on unicode names.")
    common = await put(working, "The parser is written by hand.")
    await put(working, "The parser has no tests.")
    rare = await put(working, "Unicode tables are large.")
    found = await working.search(HERE, "unicode parsers", 10)
    assert [match.item.id for match in found][:2] == [both.id, rare.id]
    assert [match.words for match in found][:2] == [["parser", "unicod"], ["unicod"]]
    assert found[0].score == 1.0
    assert 1 > found[1].score > 0.5 > found[2].score > 0
    assert found[2].score == found[3].score
    assert found[3].item.id == common.id
    assert len(await working.search(HERE, "unicode parsers", 2)) == 2


async def test_046_047_long_texts_are_searched_and_compared_alike(house: House, working: WorkingMemory) -> None:
    long = " ".join(f"word{number}" for number in range(INLINE_CHARACTERS // 8))
    await put(working, long)
    await put(working, long.upper())
    assert [match.score for match in await working.search(HERE, "word7", 10)] == [1.0, 1.0]
    (move,) = (await house.consolidator.consolidate(HERE, force=True)).moves
    assert len(move.items) == 2


async def test_046_a_search_finds_parts_of_words_and_texts_as_they_stand(working: WorkingMemory) -> None:
    sql = await put(working, "We use PostgreSQL 17.")
    sign = await put(working, "error: E_CONN (-5) ?!")
    await put(working, "Another algorithm.")
    assert [match.item.id for match in await working.search(HERE, "postgre", 10)] == [sql.id]
    assert [(match.item.id, match.score) for match in await working.search(HERE, "(-5) ?!", 10)] == [(sign.id, 1.0)]
    for nothing in ("mysql", "?? !!", " ", "go on"):
        assert await working.search(HERE, nothing, 10) == []


async def test_046_only_its_own_session_of_its_own_project_sees_an_item(working: WorkingMemory) -> None:
    item = await put(working, "mine alone")
    for desk in ELSEWHERE:
        assert (await working.recent(desk, 10), await working.search(desk, "mine", 10)) == ([], [])
        for attempt in (working.get(desk, item.id), working.delete(desk, item.id)):
            with pytest.raises(NotFound):
                await attempt
        with pytest.raises(NotFound):
            await working.mark(desk, item.id, candidate=False)
        assert await working.clear(desk) == []


async def test_047_a_mark_makes_an_item_a_memory_and_taking_it_away_does_not(
    house: House, working: WorkingMemory
) -> None:
    kept, left = await put(working, "x " * 50, importance=0.0), await put(working, "left", importance=1.0)
    assert (await working.mark(HERE, kept.id, candidate=True)).mark is Mark.CALLER
    assert (await working.mark(HERE, left.id, candidate=False)).mark is Mark.NONE
    house.clock.advance(300)
    assert await working.clear_expired(HERE) == 2
    assert [memory.content for memory in await house.memories()] == [kept.content]


async def test_046_an_item_is_deleted_and_its_memory_stays(house: House, working: WorkingMemory) -> None:
    item = await put(working, "to go")
    await house.consolidator.consolidate(HERE, force=True)
    assert (await working.delete(HERE, item.id)).memory_id == (await house.memories())[0].id
    with pytest.raises(NotFound):
        await working.delete(HERE, item.id)
    await put(working, "one")
    await put(working, "two")
    assert len(await working.clear(HERE)) == 2
    assert (await working.tally(HERE)).items == 0
    assert len(await house.memories()) == 1


async def test_046_what_was_put_is_there_for_the_next_process(house: House, tmp_path: Path) -> None:
    item = await put(working_memory(house), "survives")
    second = await SqliteStore.open(tmp_path, clock=house.clock)
    assert await working_memory(House(second, house.clock)).recent(HERE, 10) == [item]
    await second.close()


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


async def test_046_secrets_are_masked_before_anything_is_kept(house: House, working: WorkingMemory) -> None:
    put = await working.put(HERE, NewItem(content=f"The token is {TOKEN}.", context={"password": "hunter2"}))
    assert put.masked
    (item,) = await working.recent(HERE, 1)
    assert TOKEN not in item.content
    assert "hunter2" not in str(item.context)


async def test_046_secrets_are_refused_or_kept_as_the_operator_says(house: House) -> None:
    new = NewItem(content=f"The token is {TOKEN}.")
    with pytest.raises(InvalidRequest):
        await working_memory(house, secrets=SecretsPolicy.REFUSE).put(HERE, new)
    keeping = working_memory(house, secrets=SecretsPolicy.KEEP)
    assert await keeping.recent(HERE, 1) == []
    assert (await keeping.put(HERE, new)).item.content == new.content
