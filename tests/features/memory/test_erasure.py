"""What is forgotten does not live on in what was made of it."""

from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.core.progress import SilentReporter
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.facts.fact_sources import FactSources
from scrubjay.features.memory import erasure as erasing
from scrubjay.features.memory.erasure import Eraser, Forgotten
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter
from scrubjay.features.memory.service import Draft
from scrubjay.features.summaries.service import Summariser
from scrubjay.features.summaries.summary_sources import SummarySources
from tests.features.facts.test_service import HERE, House

QUIET = SilentReporter()


class Office(House):
    """With what summarises and what erases."""

    def __init__(self, store: SqliteStore) -> None:
        super().__init__(store)
        self.summariser = Summariser(
            store.summaries, store.memories, self.memories, facts=self.extractor, clock=self.clock
        )
        self.eraser = Eraser(
            self.memories, store.memories, [FactSources(store.memories), SummarySources(store.memories)]
        )

    async def roll_up(self) -> list[str]:
        """Summarise all that is over; the keys of all summaries that there are."""
        await self.summariser.summarise_all(HERE, {"tool": "summarize_sessions"}, QUIET)
        return await self.summaries()

    async def summaries(self, visibility: Visibility = HERE) -> list[str]:
        return sorted(memory.key or "" for memory in await self.kept(visibility, MemoryFilter(kinds=(Kind.SUMMARY,))))

    async def kept(self, visibility: Visibility, only: MemoryFilter) -> Sequence[Memory]:
        return (await self.memories.page(visibility, only, newest_first=False, limit=100, offset=0)).memories

    async def forget(self, memory_id: str, visibility: Visibility = HERE) -> Forgotten:
        return await self.eraser.forget(memory_id, visibility)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[Office]:
    store = await SqliteStore.open(tmp_path)
    yield Office(store)
    await store.close()


def anywhere(home: Path, word: str) -> list[str]:
    """The files of the store that have this word."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return [path.name for path in files if word.encode() in path.read_bytes()]


ROLLED = ["summary-day:2026-05-06", "summary-week:2026-W19", "summary:s1", "summary:s2"]


async def two_sessions(house: Office) -> str:
    """Two sessions of one day, summed up to their week; the turn that tells of the axolotl."""
    turn = await house.turn("I prefer axolotls over dogs. Please build the aquarium.", "I built the axolotl aquarium.")
    await house.turn("Add plants to it.", "I added plants. Done.")
    await house.turn("Fix the pump of the pond.", "I fixed the pump.", session="s2")
    house.clock.now += timedelta(days=7)
    assert await house.roll_up() == ROLLED
    return turn


async def test_what_is_forgotten_is_in_no_summary_no_fact_and_no_file(house: Office, tmp_path: Path) -> None:
    turn = await two_sessions(house)
    (fact,) = await house.facts()
    assert anywhere(tmp_path, "axolotl") != []
    done = await house.forget(turn)
    assert (done.memory.id, len(done.also), fact.id in done.also) == (turn, 4, True)
    assert await house.summaries() == ["summary:s2"]
    assert anywhere(tmp_path, "axolotl") == []
    assert await house.roll_up() == ROLLED
    assert (await house.facts(), anywhere(tmp_path, "axolotl")) == ([], [])


async def test_what_was_kept_after_a_summary_was_made_is_not_in_it(house: Office) -> None:
    await two_sessions(house)
    late = await house.turn("One more thing.", "Done.")
    assert (await house.forget(late)).also == []
    assert await house.summaries() == ROLLED


async def test_a_fact_that_was_kept_in_a_session_is_in_its_summary_and_another_is_not(house: Office) -> None:
    inside = Draft(content="The aquarium has 300 litres.", session_id="s1", key="litres")
    outside = Draft(content="The pond has 9000 litres.")
    _, pond = [outcome.memory.id for outcome in await house.memories.remember([inside, outside], "prj_here")]
    await two_sessions(house)
    assert (await house.forget(pond)).also == []
    assert len((await house.eraser.forget_key("litres", HERE, None)).also) == 3
    assert await house.summaries() == ["summary:s2"]


async def test_with_a_summary_go_those_that_are_made_of_it(house: Office) -> None:
    await two_sessions(house)
    assert len((await house.eraser.forget_key("summary:s2", HERE, None)).also) == 2
    assert await house.summaries() == ["summary:s1"]
    await house.roll_up()
    assert len((await house.eraser.forget_key("summary-day:2026-05-06", HERE, None)).also) == 1
    await house.roll_up()
    assert (await house.eraser.forget_key("summary-week:2026-W19", HERE, None)).also == []
    assert await house.summaries() == [key for key in ROLLED if "week" not in key]


async def test_a_day_that_told_of_a_session_before_it_went_on_goes_too(
    house: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "AT_ONCE", 1)
    turn = await house.turn("Please build the axolotl aquarium.", "I built it.")
    house.clock.now += timedelta(days=1)
    await house.roll_up()
    await house.turn("Go on with it.", "I went on.")
    house.clock.now += timedelta(days=1)
    assert await house.roll_up() == ["summary-day:2026-05-06", "summary-day:2026-05-07", "summary:s1"]
    await house.forget(turn)
    assert await house.summaries() == []


async def test_what_others_see_stays(house: Office) -> None:
    private = await house.turn("I prefer axolotls over dogs.", "Fine.", scope=Scope.SESSION)
    await house.turn("Please build the pond.", "I built it.")
    here = Visibility("prj_here", "s1")
    await house.summariser.summarise_all(here, {"tool": "summarize_sessions"}, QUIET)
    assert await house.summaries(here) == ["summary:s1", "summary:s1"]
    with pytest.raises(NotFound):
        await house.forget(private)
    assert len((await house.forget(private, here)).also) == 2
    assert await house.summaries(here) == ["summary:s1"] == await house.summaries()


async def test_a_fact_that_others_state_too_stays_with_those(house: Office) -> None:
    first = await house.turn("I prefer axolotls over dogs.")
    second = await house.turn("I prefer axolotls over dogs.", session="s2")
    await house.extract("s1")
    await house.extract("s2")
    assert (await house.forget(first)).also == []
    (fact,) = await house.facts()
    assert (fact.provenance["from"], fact.session_id) == ([second], "s2")
    assert (await house.forget(second)).also == [fact.id]
    assert await house.facts() == []


async def test_a_fact_that_is_not_true_any_more_goes_with_its_turn(house: Office, tmp_path: Path) -> None:
    first = await house.turn("We use axolotls for tests.")
    await house.turn("We use mice for tests.")
    await house.extract()
    assert len((await house.forget(first)).also) == 1
    assert await house.contents() == ["We use mice for tests."]
    assert anywhere(tmp_path, "axolotl") == []


async def test_of_a_fact_that_somebody_put_right_only_what_it_said_before_goes(house: Office) -> None:
    turn = await house.turn("We use axolotls for tests.")
    (outcome,) = (await house.extract()).stored
    beside = Draft(content="We use rats for tests.", kind=Kind.CORRECTION)
    await house.memories.revise(
        [outcome.memory], ["We use rats for tests."], {"tool": "correct"}, beside=beside, project_id="prj_here"
    )
    (before, _) = await house.memories.history(HERE, memory_id=outcome.memory.id)
    assert (await house.forget(turn)).also == [before.id]
    assert [one.content for one in await house.memories.history(HERE, memory_id=outcome.memory.id)] == [
        "We use rats for tests."
    ]


async def test_what_is_not_there_or_not_one_is_not_forgotten(house: Office) -> None:
    with pytest.raises(NotFound):
        await house.forget("mem_nothing")
    with pytest.raises(NotFound):
        await house.eraser.forget_key("nothing", HERE, None)
    twice = [Draft(content="a", key="k"), Draft(content="b", key="k", scope=Scope.GLOBAL)]
    await house.memories.remember(twice, "prj_here")
    with pytest.raises(InvalidRequest):
        await house.eraser.forget_key("k", HERE, None)
    assert (await house.eraser.forget_key("k", HERE, Scope.GLOBAL)).memory.content == "b"
