"""The working memory of one session, tested at the service (feature 46)."""

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
from scrubjay.features.working_memory.models import ConsolidationMark, WorkingItem
from scrubjay.features.working_memory.service import NewItem, WorkingMemory
from tests.contracts.samples import NOW, ManualClock
from tests.contracts.working_items import ELSEWHERE, HERE
from tests.features.working_memory.services import ConsolidationServices


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[ConsolidationServices]:
    clock = ManualClock()
    store = await SqliteStore.open(tmp_path, clock=clock)
    yield ConsolidationServices(store, clock)
    await store.close()


def working_memory(services: ConsolidationServices, **settings: Any) -> WorkingMemory:
    return WorkingMemory(services.store.working, services.consolidator, clock=services.clock, **settings)


@pytest.fixture
def working(services: ConsolidationServices) -> WorkingMemory:
    return working_memory(services)


async def put(working: WorkingMemory, content: str, **fields: Any) -> WorkingItem:
    return (await working.put(HERE, NewItem(content=content, **fields))).item


async def test_046_an_item_expires_after_five_minutes_by_default(
    services: ConsolidationServices, working: WorkingMemory
) -> None:
    usual, long = await put(working, "usual"), await put(working, "long", ttl_seconds=301)
    assert usual == WorkingItem(
        id=usual.id,
        scope=HERE,
        content="usual",
        created_at=NOW,
        expires_at=NOW + timedelta(seconds=300),
        accessed_at=NOW,
        mark=ConsolidationMark.IMPORTANCE,
    )
    assert (usual.tokens, replace(usual, content="12345678").tokens, usual.source) == (2, 2, "unknown")
    services.clock.advance(300)
    assert await working.recent(HERE, 10) == [long]
    with pytest.raises(NotFound, match="no item"):
        await working.get(HERE, usual.id)


@pytest.mark.parametrize(
    ("importance", "candidate", "mark"),
    [
        (0.3, None, ConsolidationMark.IMPORTANCE),
        (0.29, None, ConsolidationMark.NONE),
        (0.0, True, ConsolidationMark.CALLER),
        (1.0, False, ConsolidationMark.NONE),
    ],
)
async def test_047_an_item_is_marked_by_its_importance_unless_the_caller_decides(
    working: WorkingMemory, importance: float, candidate: bool | None, mark: ConsolidationMark
) -> None:
    assert (await put(working, "x", importance=importance, candidate=candidate)).mark is mark


async def test_046_a_full_session_reports_evicted_items_and_stores_marked_ones_as_memories(
    services: ConsolidationServices,
) -> None:
    working = working_memory(services, capacity=2)
    plain = await put(working, "plain", importance=0.1, ttl_seconds=400)
    marked = await put(working, "marked", ttl_seconds=200)
    third = await working.put(HERE, NewItem(content="third"))
    assert third.evicted == [plain]
    fourth = await working.put(HERE, NewItem(content="fourth"))
    (memory,) = await services.memories()
    assert memory.content == "marked"
    assert fourth.evicted == [replace(marked, memory_id=memory.id)]
    assert await working.recent(HERE, 10) == [fourth.item, third.item]


async def test_046_an_evicted_item_with_a_low_score_is_reported_as_lost(services: ConsolidationServices) -> None:
    working = working_memory(services, capacity=1)
    dull = await put(working, "x " * 50, importance=0.3)
    assert (await working.put(HERE, NewItem(content="new"))).evicted == [replace(dull, mark=ConsolidationMark.NONE)]
    assert await services.memories() == []


async def test_047_an_item_that_expires_before_the_next_sweep_becomes_a_memory_immediately(
    services: ConsolidationServices, working: WorkingMemory
) -> None:
    short = await put(working, "short", ttl_seconds=10)
    dull = await put(working, "x " * 50, importance=0.3, ttl_seconds=10)
    await put(working, "long", ttl_seconds=100)
    (memory,) = await services.memories()
    assert (memory.content, short.memory_id) == ("short", memory.id)
    assert (dull.memory_id, dull.mark) == (None, ConsolidationMark.IMPORTANCE)
    assert (await working.get(HERE, short.id)).memory_id == memory.id


async def test_046_reads_are_counted_in_the_item(services: ConsolidationServices, working: WorkingMemory) -> None:
    item = await put(working, "read me")
    services.clock.advance(5)
    read = replace(item, accessed_at=services.clock.now, access_count=1)
    assert await working.get(HERE, item.id) == read
    (match,) = await working.search(HERE, "read", 10)
    assert match.item == replace(read, access_count=2)
    assert await working.recent(HERE, 10) == [match.item]


async def test_046_a_search_ranks_rare_words_above_common_ones(working: WorkingMemory) -> None:
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


async def test_046_047_long_texts_are_searched_and_deduplicated_too(
    services: ConsolidationServices, working: WorkingMemory
) -> None:
    long = " ".join(f"word{number}" for number in range(INLINE_CHARACTERS // 8))
    await put(working, long)
    await put(working, long.upper())
    assert [match.score for match in await working.search(HERE, "word7", 10)] == [1.0, 1.0]
    (move,) = (await services.consolidator.consolidate(HERE, force=True)).moves
    assert len(move.items) == 2


async def test_046_a_search_finds_word_prefixes_and_literal_punctuation(working: WorkingMemory) -> None:
    sql = await put(working, "We use PostgreSQL 17.")
    sign = await put(working, "error: E_CONN (-5) ?!")
    await put(working, "Another algorithm.")
    assert [match.item.id for match in await working.search(HERE, "postgre", 10)] == [sql.id]
    assert [(match.item.id, match.score) for match in await working.search(HERE, "(-5) ?!", 10)] == [(sign.id, 1.0)]
    for query in ("mysql", "?? !!", " ", "go on"):
        assert await working.search(HERE, query, 10) == []


async def test_046_an_item_is_visible_only_in_its_session_and_project(working: WorkingMemory) -> None:
    item = await put(working, "mine alone")
    for scope in ELSEWHERE:
        assert (await working.recent(scope, 10), await working.search(scope, "mine", 10)) == ([], [])
        for request in (working.get(scope, item.id), working.delete(scope, item.id)):
            with pytest.raises(NotFound):
                await request
        with pytest.raises(NotFound):
            await working.mark(scope, item.id, candidate=False)
        assert await working.clear(scope) == []


async def test_047_a_marked_item_becomes_a_memory_and_an_unmarked_one_does_not(
    services: ConsolidationServices, working: WorkingMemory
) -> None:
    marked, unmarked = await put(working, "x " * 50, importance=0.0), await put(working, "unmarked", importance=1.0)
    assert (await working.mark(HERE, marked.id, candidate=True)).mark is ConsolidationMark.CALLER
    assert (await working.mark(HERE, unmarked.id, candidate=False)).mark is ConsolidationMark.NONE
    services.clock.advance(300)
    assert await working.clear_expired(HERE) == 2
    assert [memory.content for memory in await services.memories()] == [marked.content]


async def test_046_deleting_an_item_keeps_its_memory(services: ConsolidationServices, working: WorkingMemory) -> None:
    item = await put(working, "to go")
    await services.consolidator.consolidate(HERE, force=True)
    assert (await working.delete(HERE, item.id)).memory_id == (await services.memories())[0].id
    with pytest.raises(NotFound):
        await working.delete(HERE, item.id)
    await put(working, "one")
    await put(working, "two")
    assert len(await working.clear(HERE)) == 2
    assert (await working.usage(HERE)).items == 0
    assert len(await services.memories()) == 1


async def test_046_items_survive_a_restart(services: ConsolidationServices, tmp_path: Path) -> None:
    item = await put(working_memory(services), "survives")
    second = await SqliteStore.open(tmp_path, clock=services.clock)
    assert await working_memory(ConsolidationServices(second, services.clock)).recent(HERE, 10) == [item]
    await second.close()


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


async def test_046_secrets_are_masked_before_an_item_is_stored(
    services: ConsolidationServices, working: WorkingMemory
) -> None:
    put = await working.put(HERE, NewItem(content=f"The token is {TOKEN}.", context={"password": "hunter2"}))
    assert put.masked
    (item,) = await working.recent(HERE, 1)
    assert TOKEN not in item.content
    assert "hunter2" not in str(item.context)


async def test_046_the_secrets_policy_applies_to_items(services: ConsolidationServices) -> None:
    new = NewItem(content=f"The token is {TOKEN}.")
    with pytest.raises(InvalidRequest):
        await working_memory(services, secrets=SecretsPolicy.REFUSE).put(HERE, new)
    keeping = working_memory(services, secrets=SecretsPolicy.KEEP)
    assert await keeping.recent(HERE, 1) == []
    assert (await keeping.put(HERE, new)).item.content == new.content
