"""What is put right, and what stays as it was."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import NotFound
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.memory.corrections import Corrections
from scrubjay.features.memory.models import Kind, MemoryFilter
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.static_model import StaticEmbedder

EVERYBODY = Visibility()


@pytest.fixture
async def memories(tmp_path: Path) -> AsyncGenerator[MemoryService]:
    store = await SqliteStore.open(tmp_path / "home")
    models = ModelsInUse(store.embeddings, EmbeddingChoice(), lambda _: StaticEmbedder())
    yield MemoryService(store.memories, models)
    await store.close()


async def keep(memories: MemoryService, *contents: str, **fields: object) -> list[str]:
    drafts = [Draft(content=content, **fields) for content in contents]  # pyright: ignore[reportArgumentType]
    return [outcome.memory.id for outcome in await memories.remember(drafts, None)]


async def contents(memories: MemoryService, *kinds: Kind) -> list[str]:
    page = await memories.page(EVERYBODY, MemoryFilter(kinds=kinds), newest_first=False, limit=100, offset=0)
    return [memory.content for memory in page.memories]


async def correct(memories: MemoryService, wrong: str, right: str, memory_id: str | None = None) -> list[str]:
    made = await Corrections(memories).correct(
        wrong=wrong, right=right, memory_id=memory_id, draft=Draft(content=right), project_id=None
    )
    return [memory.id for memory in made.corrected]


async def test_every_memory_with_the_wrong_words_is_put_right_and_no_other(memories: MemoryService) -> None:
    ids = await keep(memories, "The port is 8080.", "Use port 8080, always", "port 80801", "the port of Hamburg")
    assert sorted(await correct(memories, "PORT  is 8080", "port is 4000")) == ids[:1]
    assert await contents(memories, Kind.GENERAL) == [
        "The port is 4000.",
        "Use port 8080, always",
        "port 80801",
        "the port of Hamburg",
    ]
    assert sorted(await correct(memories, "8080", "4000")) == [ids[1]]
    assert (await contents(memories, Kind.CORRECTION)) == [
        "port is 4000 (and not: PORT  is 8080)",
        "4000 (and not: 8080)",
    ]


async def test_one_memory_can_be_named_and_is_replaced_whole_when_it_has_other_words(memories: MemoryService) -> None:
    first, second = await keep(memories, "Tea at four", "Tea at four")
    assert await correct(memories, "Tea at four", "Tea at five", memory_id=second) == [second]
    assert await contents(memories, Kind.GENERAL) == ["Tea at four", "Tea at five"]
    assert await correct(memories, "something", "Coffee", memory_id=first) == [first]
    assert await contents(memories, Kind.GENERAL) == ["Coffee", "Tea at five"]


async def test_what_was_wrong_stays_in_the_history_with_who_put_it_right(memories: MemoryService) -> None:
    (kept,) = await keep(memories, "Ada likes tea")
    await correct(memories, "tea", "coffee")
    before, now = await memories.history(EVERYBODY, memory_id=kept)
    assert (before.content, now.content) == ("Ada likes tea", "Ada likes coffee")
    assert now.provenance == {"correction": {"what_was_wrong": "tea", "what_is_right": "coffee"}}
    assert before.valid_until == now.valid_from


async def test_nothing_is_kept_of_a_correction_of_nothing(memories: MemoryService) -> None:
    await keep(memories, "Ada likes tea")
    with pytest.raises(NotFound, match="no memory here has the words"):
        await correct(memories, "likes milk", "likes water")
    with pytest.raises(NotFound, match="there is no memory"):
        await correct(memories, "tea", "water", memory_id="mem_none")
    assert await contents(memories) == ["Ada likes tea"]


async def test_another_projects_memories_stay_as_they_are(memories: MemoryService) -> None:
    await memories.remember([Draft(content="the port is 8080", scope=Scope.PROJECT)], "prj_other")
    with pytest.raises(NotFound):
        await correct(memories, "8080", "4000")
