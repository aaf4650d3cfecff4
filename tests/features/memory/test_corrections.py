"""Corrections of memories and their history."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import NotFound
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.memory.corrections import MemoryCorrector
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import MemoryFilter, MemoryKind
from scrubjay.features.memory.service import MemoryService
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.static_model import StaticEmbedder

GLOBAL = Visibility()


@pytest.fixture
async def memories(tmp_path: Path) -> AsyncGenerator[MemoryService]:
    store = await SqliteStore.open(tmp_path / "home")
    models = ModelRegistry(store.embeddings, EmbeddingChoice(), lambda _: StaticEmbedder())
    yield MemoryService(store.memories, models)
    await store.close()


async def remember(memories: MemoryService, *contents: str, **fields: object) -> list[str]:
    drafts = [Draft(content=content, **fields) for content in contents]  # pyright: ignore[reportArgumentType]
    return [outcome.memory.id for outcome in await memories.remember(drafts, None)]


async def contents(memories: MemoryService, *kinds: MemoryKind) -> list[str]:
    page = await memories.page(GLOBAL, MemoryFilter(kinds=kinds), newest_first=False, limit=100, offset=0)
    return [memory.content for memory in page.memories]


async def correct(memories: MemoryService, wrong: str, right: str, memory_id: str | None = None) -> list[str]:
    result = await MemoryCorrector(memories).correct(
        wrong=wrong, right=right, memory_id=memory_id, draft=Draft(content=right), project_id=None
    )
    return [memory.id for memory in result.corrected]


async def test_correct_changes_every_memory_with_the_wrong_words_and_no_other(memories: MemoryService) -> None:
    ids = await remember(memories, "The port is 8080.", "Use port 8080, always", "port 80801", "the port of Hamburg")
    assert sorted(await correct(memories, "PORT  is 8080", "port is 4000")) == ids[:1]
    assert await contents(memories, MemoryKind.GENERAL) == [
        "The port is 4000.",
        "Use port 8080, always",
        "port 80801",
        "the port of Hamburg",
    ]
    assert sorted(await correct(memories, "8080", "4000")) == [ids[1]]
    assert (await contents(memories, MemoryKind.CORRECTION)) == [
        "port is 4000 (and not: PORT  is 8080)",
        "4000 (and not: 8080)",
    ]


async def test_correct_by_id_replaces_the_whole_content_if_the_words_do_not_occur(memories: MemoryService) -> None:
    first, second = await remember(memories, "Tea at four", "Tea at four")
    assert await correct(memories, "Tea at four", "Tea at five", memory_id=second) == [second]
    assert await contents(memories, MemoryKind.GENERAL) == ["Tea at four", "Tea at five"]
    assert await correct(memories, "something", "Coffee", memory_id=first) == [first]
    assert await contents(memories, MemoryKind.GENERAL) == ["Coffee", "Tea at five"]


async def test_history_keeps_the_wrong_content_and_the_author_of_the_correction(memories: MemoryService) -> None:
    (memory_id,) = await remember(memories, "Ada likes tea")
    await correct(memories, "tea", "coffee")
    before, now = await memories.history(GLOBAL, memory_id=memory_id)
    assert (before.content, now.content) == ("Ada likes tea", "Ada likes coffee")
    assert now.provenance == {"correction": {"what_was_wrong": "tea", "what_is_right": "coffee"}}
    assert before.valid_until == now.valid_from


async def test_a_correction_without_a_match_stores_nothing(memories: MemoryService) -> None:
    await remember(memories, "Ada likes tea")
    with pytest.raises(NotFound, match="no visible memory contains these words"):
        await correct(memories, "likes milk", "likes water")
    with pytest.raises(NotFound, match="there is no memory"):
        await correct(memories, "tea", "water", memory_id="mem_none")
    assert await contents(memories) == ["Ada likes tea"]


async def test_correct_does_not_change_memories_of_another_project(memories: MemoryService) -> None:
    await memories.remember([Draft(content="the port is 8080", scope=Scope.PROJECT)], "prj_other")
    with pytest.raises(NotFound):
        await correct(memories, "8080", "4000")
