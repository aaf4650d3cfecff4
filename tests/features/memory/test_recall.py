"""Options of recall: presets, duplicates, diversity, budgets, order and exact wording."""

import math
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.scopes import Visibility
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import MemoryFilter
from scrubjay.features.memory.ranking.exact_match import required_wordings
from scrubjay.features.memory.ranking.presets import WEIGHTS, Preset
from scrubjay.features.memory.recall import DEFAULT_LIMIT, Order, RecallOptions, estimate_tokens
from scrubjay.features.memory.service import MemoryService, RecallOutcome
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.static_model import StaticEmbedder

QUESTION = "When do we deploy?"


class Clock:
    now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def memory(tmp_path: Path, clock: Clock) -> AsyncGenerator[MemoryService]:
    store = await SqliteStore.open(tmp_path)
    models = ModelRegistry(store.embeddings, EmbeddingChoice(), lambda choice: StaticEmbedder())
    yield MemoryService(store.memories, models, clock=clock)
    await store.close()


async def remember(memory: MemoryService, *drafts: Draft | str) -> list[str]:
    all_drafts = [draft if isinstance(draft, Draft) else Draft(content=draft) for draft in drafts]
    return [outcome.memory.id for outcome in await memory.remember(all_drafts, None)]


async def ask(
    memory: MemoryService, question: str = QUESTION, *, containing: str | None = None, **options: Any
) -> RecallOutcome:
    only = MemoryFilter(containing=required_wordings(containing) if containing else ())
    all_options: dict[str, Any] = {"limit": 10, "threshold": 0.05, **options}
    return await memory.recall(question, Visibility(), only, RecallOptions(**all_options))


def contents(found: RecallOutcome) -> list[str]:
    return [hit.memory.content for hit in found.hits]


# -- presets -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", Preset)
def test_060_the_weights_of_each_preset_add_up_to_one(preset: Preset) -> None:
    assert sum(WEIGHTS[preset].values()) == pytest.approx(1)


async def test_060_each_preset_promotes_its_own_signal(memory: MemoryService, clock: Clock) -> None:
    now = clock.now
    clock.now = now - timedelta(days=60)
    plain, used, important = await remember(
        memory,
        "We deploy on Thursdays.",
        "We deploy with a script of Ada.",
        Draft(content="We deploy only what was reviewed by somebody.", importance=1.0),
    )
    clock.now = now
    (recent,) = await remember(memory, "We deploy to the new cluster since the move.")
    memory.uses.count([used] * 10)
    clock.now = now - timedelta(days=40)
    await memory.uses.flush()
    clock.now = now

    async def first(preset: Preset) -> str:
        return (await ask(memory, "Do we deploy on a Thursday?", preset=preset)).hits[0].memory.id

    assert {preset: await first(preset) for preset in Preset} == {
        Preset.RELEVANT: plain,
        Preset.SEMANTIC: plain,
        Preset.BALANCED: recent,
        Preset.RECENT: recent,
        Preset.IMPORTANT: important,
        Preset.POPULAR: used,
    }


async def test_060_no_preset_promotes_irrelevant_memories(memory: MemoryService) -> None:
    await remember(
        memory,
        Draft(content="Cats sleep for most of the day.", importance=1.0),
        Draft(content="We deploy on Thursdays.", importance=0.0, confidence=0.0),
    )
    for preset in Preset:
        found = await ask(memory, preset=preset, threshold=0.3, near_misses=3)
        assert contents(found) == ["We deploy on Thursdays."]
        (miss,) = found.near_misses
        assert miss.relevance < 0.3


@pytest.mark.parametrize("preset", Preset)
async def test_066_the_contributions_add_up_to_the_score_under_every_preset(
    memory: MemoryService, preset: Preset
) -> None:
    await remember(memory, Draft(content="We deploy on Thursdays, Ada says.", importance=0.7, confidence=0.4))
    memory.uses.count([(await ask(memory)).hits[0].memory.id] * 2)
    await memory.uses.flush()
    (hit,) = (await ask(memory, "What is deployed?", preset=preset)).hits
    signals = {signal.name: signal for signal in hit.explain().signals}
    assert sum(signal.contribution for signal in signals.values()) == pytest.approx(hit.score, abs=1e-6)
    shown = {name: signals[name].value for name in WEIGHTS[preset] if name != "relevance"}
    expected = {"recency": 1.0, "use": 0.578, "importance": 0.7, "confidence": 0.4}
    assert shown == (pytest.approx(expected, abs=1e-3) if preset is not Preset.RELEVANT else {})
    assert {name: signals[name].weight for name in shown} == {name: WEIGHTS[preset][name] for name in shown}


async def test_060_recency_counts_from_the_last_use_else_from_storage(memory: MemoryService, clock: Clock) -> None:
    now = clock.now
    clock.now = now - timedelta(days=20)
    long_ago = datetime(2001, 1, 1, tzinfo=UTC)
    used, _ = await remember(
        memory,
        Draft(content="We deploy on Thursdays.", occurred_at=long_ago),
        Draft(content="Ada watches what we deploy.", occurred_at=long_ago),
    )
    clock.now = now - timedelta(days=3)
    memory.uses.count([used])
    await memory.uses.flush()
    clock.now = now
    recency = {
        hit.memory.content: signal.value
        for hit in (await ask(memory, preset=Preset.RECENT)).hits
        for signal in hit.explain().signals
        if signal.name == "recency"
    }
    assert recency == pytest.approx(
        {"We deploy on Thursdays.": math.exp(-0.3), "Ada watches what we deploy.": math.exp(-2)}
    )


# -- uses --------------------------------------------------------------------------------------------


async def test_065_hits_are_counted_as_uses_and_near_misses_are_not(memory: MemoryService) -> None:
    await remember(memory, "We deploy on Thursdays.", "Cats sleep for most of the day.")
    for _ in range(2):
        await ask(memory, threshold=0.3, near_misses=3)
    await memory.uses.flush()
    found = await ask(memory, threshold=0.0, near_misses=3, preset=Preset.POPULAR)
    use = {
        hit.memory.content: {signal.name: signal.value for signal in hit.explain().signals}["use"]
        for hit in (*found.hits, *found.near_misses)
    }
    assert use == pytest.approx({"We deploy on Thursdays.": 0.458, "Cats sleep for most of the day.": 0.0}, abs=1e-3)


# -- duplicates and diversity ------------------------------------------------------------------------


async def test_060_duplicates_are_returned_once_and_do_not_use_the_limit(memory: MemoryService) -> None:
    ids = await remember(
        memory,
        "We deploy on Thursdays.",
        "We deploy on Thursday",
        "We deploy on Thursdays!",
        "We never deploy on Thursdays.",
        "We deploy with a script.",
    )
    found = await ask(memory, limit=3)
    assert {frozenset([hit.memory.id, *hit.duplicates]) for hit in found.hits} == {
        frozenset(ids[:3]),
        frozenset([ids[3]]),
        frozenset([ids[4]]),
    }


async def test_060_diversity_ranks_different_memories_first(memory: MemoryService) -> None:
    await remember(
        memory, "We deploy on Thursday evening.", "We deploy on Thursday afternoon.", "A deploy is watched by Bob."
    )
    assert (await ask(memory, limit=2)).hits[1].memory.content.startswith("We deploy on Thursday")
    assert contents(await ask(memory, limit=2, diversity=0.8))[1] == "A deploy is watched by Bob."


# -- budget ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_060_a_token_is_estimated_as_four_characters(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


async def test_060_a_budget_is_filled_with_the_best_that_fit(memory: MemoryService) -> None:
    best = "When do we deploy? We deploy on Thursdays, when everybody is there who can help."
    short, other = "We deploy on Thursdays.", "Deploy notes."
    await remember(memory, best, short, other)
    everything = await ask(memory)
    assert contents(everything)[0] == best
    assert (everything.tokens, everything.over_budget) == (sum(map(estimate_tokens, (best, short, other))), 0)
    small = await ask(memory, token_budget=estimate_tokens(short) + estimate_tokens(other))
    assert sorted(contents(small)) == sorted([short, other])
    assert (small.tokens, small.over_budget) == (estimate_tokens(short) + estimate_tokens(other), 1)
    nothing = await ask(memory, token_budget=1)
    assert (contents(nothing), nothing.tokens, nothing.over_budget) == ([], 0, 3)


async def test_060_a_skipped_memory_makes_room_for_one_beyond_the_limit(memory: MemoryService) -> None:
    long = [f"We deploy on Thursdays number {number}, when everybody is there who can help." for number in range(3)]
    await remember(memory, *long, "Deploy notes.")
    found = await ask(memory, limit=2, token_budget=estimate_tokens(long[0]) + 4)
    assert len(found.hits) == 2
    assert contents(found)[1] == "Deploy notes."
    assert found.over_budget == 2


async def test_060_a_memory_over_the_budget_is_replaced_by_the_next(memory: MemoryService) -> None:
    await remember(
        memory, "When do we deploy? We deploy on Thursdays, when everybody can help.", "Deploy notes of Ada."
    )
    assert contents(await ask(memory, limit=1)) == [
        "When do we deploy? We deploy on Thursdays, when everybody can help."
    ]
    assert contents(await ask(memory, limit=1, token_budget=6)) == ["Deploy notes of Ada."]


# -- order -------------------------------------------------------------------------------------------


async def remember_garden_history(memory: MemoryService) -> list[str]:
    """Store thirteen events in a garden, the latest first, and return them."""
    garden = ["The garden fence was painted.", *(f"We planted garden bed number {number}." for number in range(12))]
    days = range(len(garden), 0, -1)
    drafts = [
        Draft(content=text, occurred_at=datetime(2025, 5, day, tzinfo=UTC), session_id=f"s{day % 4}")
        for text, day in zip(garden, days, strict=True)
    ]
    await remember(memory, *drafts, "The cat sleeps.")
    return garden


async def test_060_a_question_about_order_returns_its_whole_topic_by_time(
    memory: MemoryService,
) -> None:
    garden = await remember_garden_history(memory)
    found = await ask(memory, "How did the garden develop over time?", limit=None, threshold=0.2)
    assert (found.order, contents(found)) == (Order.TIME, garden[::-1])
    plain = await ask(memory, "What about the garden?", limit=None, threshold=0.2)
    assert (plain.order, len(plain.hits)) == (Order.SCORE, DEFAULT_LIMIT)
    summary = await ask(memory, "Summarise what was done in the garden", limit=None, threshold=0.2)
    assert (summary.order, sorted(contents(summary))) == (Order.SCORE, sorted(garden))


async def test_060_a_requested_order_is_used(memory: MemoryService) -> None:
    await remember_garden_history(memory)

    async def days(question: str, order: Order) -> list[int]:
        found = await ask(memory, question, order=order, limit=4)
        return [hit.memory.occurred_at.day for hit in found.hits if hit.memory.occurred_at]

    by_time = await days("garden fence", Order.TIME)
    assert by_time == sorted(by_time)
    assert by_time == sorted(await days("garden fence", Order.SCORE))
    assert (by_time[-1], (await days("Show a timeline of the garden fence", Order.SCORE))[0]) == (13, 13)


async def test_060_a_timeline_keeps_repeated_events(memory: MemoryService) -> None:
    await remember(
        memory,
        Draft(content="We painted the fence.", occurred_at=datetime(2025, 5, 1, tzinfo=UTC)),
        Draft(content="We painted the fence.", occurred_at=datetime(2024, 5, 1, tzinfo=UTC)),
    )
    assert len((await ask(memory, "Who painted the fence?")).hits) == 1
    found = await ask(memory, "Give me a timeline of the fence", limit=None)
    assert [hit.memory.occurred_at and hit.memory.occurred_at.year for hit in found.hits] == [2024, 2025]
    assert (await ask(memory, "Give me a timeline of the fence", limit=5)).order is Order.SCORE


# -- exact wording -----------------------------------------------------------------------------------

BLUE_FIRST, GREEN_FIRST = "The deployment is blue and green.", "We deploy green and blue."
MIGRATION = "One migration was deployed."


@pytest.mark.parametrize(
    ("containing", "expected"),
    [
        ("deploy*", {MIGRATION, BLUE_FIRST, GREEN_FIRST}),
        ("deployed", {MIGRATION, BLUE_FIRST, GREEN_FIRST}),
        ('deplo* "blue green"', {BLUE_FIRST}),
        ("migrations*", {MIGRATION}),
        ("green migration", set[str]()),
    ],
)
async def test_065_only_memories_with_the_required_wording_are_returned(
    memory: MemoryService, containing: str, expected: set[str]
) -> None:
    await remember(memory, BLUE_FIRST, GREEN_FIRST, MIGRATION)
    assert set(contents(await ask(memory, "deploy migration", containing=containing, threshold=0.0))) == expected
