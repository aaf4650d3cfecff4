"""Forgetting a memory also erases the facts and summaries derived from it."""

from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.core.progress import SilentReporter
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.facts.fact_sources import DerivedFactFinder
from scrubjay.features.memory import erasure as erasing
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.erasure import ErasedMemory, Eraser
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.summaries.service import Summariser
from scrubjay.features.summaries.summary_sources import DerivedSummaryFinder
from tests.features.facts.test_service import HERE, FactServices

QUIET = SilentReporter()


class ErasureServices(FactServices):
    """Adds a summariser and an eraser to the services of facts."""

    def __init__(self, store: SqliteStore) -> None:
        super().__init__(store)
        self.summariser = Summariser(
            store.summaries, store.memories, self.memories, facts=self.extractor, clock=self.clock
        )
        self.eraser = Eraser(
            self.memories, store.memories, [DerivedFactFinder(store.memories), DerivedSummaryFinder(store.memories)]
        )

    async def roll_up(self) -> list[str]:
        """Summarise all finished sessions and periods, and return the keys of all summaries."""
        await self.summariser.summarise_all(HERE, {"tool": "summarize_sessions"}, QUIET)
        return await self.summaries()

    async def summaries(self, visibility: Visibility = HERE) -> list[str]:
        return sorted(
            memory.key or "" for memory in await self.page(visibility, MemoryFilter(kinds=(MemoryKind.SUMMARY,)))
        )

    async def page(self, visibility: Visibility, only: MemoryFilter) -> Sequence[Memory]:
        return (await self.memories.page(visibility, only, newest_first=False, limit=100, offset=0)).memories

    async def forget(self, memory_id: str, visibility: Visibility = HERE) -> ErasedMemory:
        return await self.eraser.forget(memory_id, visibility)


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[ErasureServices]:
    store = await SqliteStore.open(tmp_path)
    yield ErasureServices(store)
    await store.close()


def files_containing(home: Path, word: str) -> list[str]:
    """Return the names of the files of the store that contain this word."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return [path.name for path in files if word.encode() in path.read_bytes()]


SUMMARY_KEYS = ["summary-day:2026-05-06", "summary-week:2026-W19", "summary:s1", "summary:s2"]


async def add_two_sessions(services: ErasureServices) -> str:
    """Add two sessions of one day, summarise them up to their week, and return the turn about axolotls."""
    turn = await services.turn(
        "I prefer axolotls over dogs. Please build the aquarium.", "I built the axolotl aquarium."
    )
    await services.turn("Add plants to it.", "I added plants. Done.")
    await services.turn("Fix the pump of the pond.", "I fixed the pump.", session="s2")
    services.clock.now += timedelta(days=7)
    assert await services.roll_up() == SUMMARY_KEYS
    return turn


async def test_a_forgotten_turn_is_in_no_summary_fact_or_file(services: ErasureServices, tmp_path: Path) -> None:
    turn = await add_two_sessions(services)
    (fact,) = await services.facts()
    assert files_containing(tmp_path, "axolotl") != []
    done = await services.forget(turn)
    assert (done.memory.id, len(done.derived), fact.id in done.derived) == (turn, 4, True)
    assert await services.summaries() == ["summary:s2"]
    assert files_containing(tmp_path, "axolotl") == []
    assert await services.roll_up() == SUMMARY_KEYS
    assert (await services.facts(), files_containing(tmp_path, "axolotl")) == ([], [])


async def test_forgetting_a_memory_stored_after_the_summary_keeps_the_summary(services: ErasureServices) -> None:
    await add_two_sessions(services)
    late = await services.turn("One more thing.", "Done.")
    assert (await services.forget(late)).derived == []
    assert await services.summaries() == SUMMARY_KEYS


async def test_forgetting_a_fact_erases_summaries_only_if_it_is_of_their_session(services: ErasureServices) -> None:
    inside = Draft(content="The aquarium has 300 litres.", session_id="s1", key="litres")
    outside = Draft(content="The pond has 9000 litres.")
    _, pond = [outcome.memory.id for outcome in await services.memories.remember([inside, outside], "prj_here")]
    await add_two_sessions(services)
    assert (await services.forget(pond)).derived == []
    assert len((await services.eraser.forget_key("litres", HERE, None)).derived) == 3
    assert await services.summaries() == ["summary:s2"]


async def test_forgetting_a_summary_erases_summaries_derived_from_it(services: ErasureServices) -> None:
    await add_two_sessions(services)
    assert len((await services.eraser.forget_key("summary:s2", HERE, None)).derived) == 2
    assert await services.summaries() == ["summary:s1"]
    await services.roll_up()
    assert len((await services.eraser.forget_key("summary-day:2026-05-06", HERE, None)).derived) == 1
    await services.roll_up()
    assert (await services.eraser.forget_key("summary-week:2026-W19", HERE, None)).derived == []
    assert await services.summaries() == [key for key in SUMMARY_KEYS if "week" not in key]


async def test_a_day_summary_of_an_earlier_session_state_is_erased_too(
    services: ErasureServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "PAGE_SIZE", 1)
    turn = await services.turn("Please build the axolotl aquarium.", "I built it.")
    services.clock.now += timedelta(days=1)
    await services.roll_up()
    await services.turn("Go on with it.", "I went on.")
    services.clock.now += timedelta(days=1)
    assert await services.roll_up() == ["summary-day:2026-05-06", "summary-day:2026-05-07", "summary:s1"]
    await services.forget(turn)
    assert await services.summaries() == []


async def test_memories_of_other_scopes_stay(services: ErasureServices) -> None:
    private = await services.turn("I prefer axolotls over dogs.", "Fine.", scope=Scope.SESSION)
    await services.turn("Please build the pond.", "I built it.")
    here = Visibility("prj_here", "s1")
    await services.summariser.summarise_all(here, {"tool": "summarize_sessions"}, QUIET)
    assert await services.summaries(here) == ["summary:s1", "summary:s1"]
    with pytest.raises(NotFound):
        await services.forget(private)
    assert len((await services.forget(private, here)).derived) == 2
    assert await services.summaries(here) == ["summary:s1"] == await services.summaries()


async def test_a_fact_with_other_turns_as_sources_stays(services: ErasureServices) -> None:
    first = await services.turn("I prefer axolotls over dogs.")
    second = await services.turn("I prefer axolotls over dogs.", session="s2")
    await services.extract("s1")
    await services.extract("s2")
    assert (await services.forget(first)).derived == []
    (fact,) = await services.facts()
    assert (fact.provenance["from"], fact.session_id) == ([second], "s2")
    assert (await services.forget(second)).derived == [fact.id]
    assert await services.facts() == []


async def test_a_superseded_fact_is_erased_with_its_turn(services: ErasureServices, tmp_path: Path) -> None:
    first = await services.turn("We use axolotls for tests.")
    await services.turn("We use mice for tests.")
    await services.extract()
    assert len((await services.forget(first)).derived) == 1
    assert await services.contents() == ["We use mice for tests."]
    assert files_containing(tmp_path, "axolotl") == []


async def test_only_the_earlier_version_of_a_corrected_fact_is_erased(services: ErasureServices) -> None:
    turn = await services.turn("We use axolotls for tests.")
    (outcome,) = (await services.extract()).stored
    correction = Draft(content="We use rats for tests.", kind=MemoryKind.CORRECTION)
    await services.memories.revise(
        [outcome.memory], ["We use rats for tests."], {"tool": "correct"}, additional=correction, project_id="prj_here"
    )
    (before, _) = await services.memories.history(HERE, memory_id=outcome.memory.id)
    assert (await services.forget(turn)).derived == [before.id]
    assert [version.content for version in await services.memories.history(HERE, memory_id=outcome.memory.id)] == [
        "We use rats for tests."
    ]


async def test_an_unknown_or_ambiguous_memory_is_not_forgotten(services: ErasureServices) -> None:
    with pytest.raises(NotFound):
        await services.forget("mem_nothing")
    with pytest.raises(NotFound):
        await services.eraser.forget_key("nothing", HERE, None)
    twice = [Draft(content="a", key="k"), Draft(content="b", key="k", scope=Scope.GLOBAL)]
    await services.memories.remember(twice, "prj_here")
    with pytest.raises(InvalidRequest):
        await services.eraser.forget_key("k", HERE, None)
    assert (await services.eraser.forget_key("k", HERE, Scope.GLOBAL)).memory.content == "b"
