"""Remembering, recalling and forgetting, below the tools."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.domain.errors import InvalidRequest, NotFound
from recollect.domain.memories import MemoryFilter, Stored, Updated
from recollect.domain.scopes import Scope, Visibility
from recollect.inference.static_model import StaticEmbedder
from recollect.memory.service import Draft, MemoryService
from recollect.storage.sqlite.store import SqliteStore

EVERYBODY = Visibility()
ANYTHING = MemoryFilter()


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncGenerator[MemoryService]:
    store = await SqliteStore.open(tmp_path)
    yield MemoryService(store.memories, StaticEmbedder(), clock=Clock())
    await store.close()


async def contents(memory: MemoryService, query: str, threshold: float = 0.1) -> list[str]:
    found = await memory.recall(query, EVERYBODY, ANYTHING, limit=10, threshold=threshold)
    return [hit.memory.content for hit in found.hits]


async def test_without_a_project_a_memory_is_global(memory: MemoryService) -> None:
    (outcome,) = await memory.remember([Draft(content="Water boils at 100 degrees.")], None)
    assert isinstance(outcome, Stored)
    assert (outcome.memory.scope, outcome.memory.project_id) == (Scope.GLOBAL, None)


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (Draft(content="x", scope=Scope.PROJECT), "no project is active"),
        (Draft(content="x", scope=Scope.SESSION), "needs a session_id"),
    ],
)
async def test_a_scope_that_has_no_place_is_refused(memory: MemoryService, draft: Draft, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        await memory.remember([draft], None)


async def test_a_changed_memory_is_found_by_its_new_words_and_not_by_the_old(memory: MemoryService) -> None:
    draft = Draft(
        content="The office plant is a ficus.", key="plant", tags=("green",), given=frozenset({"key", "tags"})
    )
    (first,) = await memory.remember([draft], None)
    (second,) = await memory.remember(
        [Draft(content="We have a cactus now.", key="plant", given=frozenset({"key"}))], None
    )
    assert isinstance(second, Updated)
    assert second.memory.id == first.memory.id
    assert second.memory.recorded_at == first.memory.recorded_at
    assert second.memory.updated_at > first.memory.updated_at
    assert await contents(memory, "cactus") == ["We have a cactus now."]
    assert await contents(memory, "ficus", threshold=0.3) == []
    assert await contents(memory, "green") == ["We have a cactus now."]


async def test_one_key_twice_in_one_batch_keeps_the_later(memory: MemoryService) -> None:
    outcomes = await memory.remember([Draft(content="Plan A.", key="plan"), Draft(content="Plan B.", key="plan")], None)
    assert [type(outcome) for outcome in outcomes] == [Stored, Updated]
    assert await contents(memory, "plan") == ["Plan B."]


async def test_the_labels_of_a_memory_find_it(memory: MemoryService) -> None:
    await memory.remember([Draft(content="It was raining.", speaker="Ada", category="weather", tags=("london",))], None)
    for word in ("ada", "weather", "london"):
        assert await contents(memory, word) == ["It was raining."]


async def test_an_answer_counts_what_it_considered_and_left_out(memory: MemoryService) -> None:
    await memory.remember([Draft(content=f"Note {number} about gardening.") for number in range(5)], None)
    found = await memory.recall("gardening", EVERYBODY, ANYTHING, limit=2, threshold=0.0)
    assert (len(found.hits), found.considered, found.below_threshold) == (2, 5, 0)
    strict = await memory.recall("gardening in winter", EVERYBODY, ANYTHING, limit=2, threshold=1.0)
    assert (strict.hits, strict.considered, strict.below_threshold) == ([], 5, 5)


async def test_a_key_used_in_two_scopes_is_not_forgotten_by_guess(memory: MemoryService) -> None:
    drafts = [
        Draft(content="a", key="k", scope=Scope.GLOBAL),
        Draft(content="b", key="k", scope=Scope.SESSION, session_id="s"),
    ]
    await memory.remember(drafts, None)
    visibility = Visibility(session_id="s")
    with pytest.raises(InvalidRequest, match="several scopes"):
        await memory.forget_key("k", visibility, None)
    assert (await memory.forget_key("k", visibility, Scope.SESSION)).content == "b"
    assert (await memory.forget_key("k", visibility, None)).content == "a"


async def test_what_cannot_be_seen_cannot_be_forgotten(memory: MemoryService) -> None:
    (kept,) = await memory.remember([Draft(content="x", scope=Scope.SESSION, session_id="s")], None)
    with pytest.raises(NotFound):
        await memory.forget(kept.memory.id, EVERYBODY)
    assert (await memory.forget(kept.memory.id, Visibility(session_id="s"))).id == kept.memory.id
