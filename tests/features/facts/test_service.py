"""Facts that turns state become memories: once, with their turns, by rules or by a language model."""

import json
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Cancelled, NotFound, QuotaExceeded
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.progress import SilentReporter
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.facts import service as extraction
from scrubjay.features.facts.llm_facts import FactReader
from scrubjay.features.facts.service import FACT_KINDS, Extraction, FactExtractor
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter, Written
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.recall import Wish
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.features.summaries.models import Method
from scrubjay.features.summaries.service import Summariser
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.static_model import StaticEmbedder
from tests.features.facts.test_llm_facts import FakeModel

HERE = Visibility("prj_here")
FROM = {"tool": "extract_facts", "client": "ada"}
START = datetime(2026, 5, 6, 9, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class House:
    """A store with turns, and what takes facts out of them."""

    def __init__(self, store: SqliteStore, **options: Any) -> None:
        self.store = store
        models = ModelsInUse(store.embeddings, EmbeddingChoice(), lambda choice: StaticEmbedder())
        self.clock = Clock()
        self.memories = MemoryService(store.memories, models, clock=self.clock, **options)
        self.extractor = self.with_model(None)

    def with_model(self, model: FakeModel | None) -> FactExtractor:
        reader = FactReader(model) if model else None
        return FactExtractor(self.store.summaries, self.store.memories, self.memories, reader)

    async def turn(self, prompt: str, response: str = "Done.", session: str = "s1", **fields: Any) -> str:
        draft = Draft(
            content=f"User Prompt: {prompt}\nAgent Thought: \nAgent Response: {response}",
            session_id=session,
            kind=Kind.TURN,
            details={"prompt": prompt, "thought": "I prefer cats over dogs.", "response": response},
            **fields,
        )
        (outcome,) = await self.memories.remember([draft], "prj_here")
        return outcome.memory.id

    async def extract(self, session: str = "s1", extractor: FactExtractor | None = None) -> Extraction:
        visibility = Visibility("prj_here", session)
        return await (extractor or self.extractor).extract_session(session, visibility, FROM, go_on)

    async def facts(self, visibility: Visibility = HERE) -> Sequence[Memory]:
        only = MemoryFilter(kinds=FACT_KINDS)
        return (await self.memories.page(visibility, only, newest_first=False, limit=100, offset=0)).memories

    async def contents(self) -> list[str]:
        return [fact.content for fact in await self.facts()]


async def go_on(read: int, turns: int) -> None:
    return None


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path)
    yield store
    await store.close()


@pytest.fixture
def house(store: SqliteStore) -> House:
    return House(store)


async def test_057_what_a_turn_states_becomes_a_memory_that_names_its_turn(house: House) -> None:
    turn = await house.turn("I prefer tabs over spaces. Can you fix the login?")
    done = await house.extract()
    assert (done.turns, done.noted, done.dropped, done.method, done.problem) == (1, [], 0, Method.EXTRACTIVE, None)
    (fact,) = await house.facts()
    assert [outcome.memory.id for outcome in done.stored] == [fact.id]
    assert (fact.content, fact.kind, fact.category, fact.subject, fact.speaker) == (
        "I prefer tabs over spaces.",
        Kind.PREFERENCE,
        "preferences",
        "user: spaces or tabs",
        "user",
    )
    assert (fact.confidence, fact.importance, fact.scope, fact.session_id) == (0.9, 0.6, Scope.PROJECT, "s1")
    assert fact.provenance == {**FROM, "method": "extractive", "from": [turn]}
    said = await house.memories.get(turn, HERE)
    assert (fact.occurred_at, said.details["factsTaken"]) == (said.recorded_at, "extractive")
    found = await house.memories.recall(
        "which indentation does the user prefer?", HERE, MemoryFilter(), Wish(threshold=0.05)
    )
    assert fact.id in [hit.memory.id for hit in found.hits]


async def test_057_a_second_run_stores_nothing_twice_and_reads_only_what_is_new(house: House) -> None:
    await house.turn("I prefer tabs over spaces.")
    await house.extract()
    again = await house.extract()
    assert (again.turns, again.stored, again.noted) == (0, [], [])
    later = await house.turn("My name is Ada.")
    done = await house.extract()
    assert (done.turns, [outcome.memory.provenance["from"] for outcome in done.stored]) == (1, [[later]])
    assert await house.contents() == ["I prefer tabs over spaces.", "My name is Ada."]


async def test_057_a_fact_that_was_forgotten_does_not_come_back(house: House) -> None:
    await house.turn("I prefer tabs over spaces.")
    (outcome,) = (await house.extract()).stored
    await house.memories.forget(outcome.memory.id, HERE)
    await house.turn("My name is Ada.")
    await house.extract()
    assert await house.contents() == ["My name is Ada."]


async def test_057_a_fact_that_is_stated_again_is_noted_and_not_kept_twice(house: House) -> None:
    first = await house.turn("I prefer tabs over spaces.")
    second = await house.turn("As I said. I prefer tabs over spaces!")
    (kept,) = (await house.extract()).stored
    assert kept.memory.provenance["from"] == [first, second]
    third = await house.turn("I prefer tabs over spaces", session="s2")
    done = await house.extract("s2")
    assert (done.stored, done.noted) == ([], [kept.memory.id])
    (fact,) = await house.facts()
    assert (fact.provenance["from"], fact.content) == ([first, second, third], "I prefer tabs over spaces.")
    assert await house.memories.history(HERE, memory_id=fact.id) == [fact]


async def test_057_what_somebody_remembered_by_hand_is_known_and_left_as_it_is(house: House) -> None:
    await house.memories.remember([Draft(content="I prefer tabs over spaces.", kind=Kind.PREFERENCE)], "prj_here")
    before = await house.facts()
    await house.turn("I prefer tabs over spaces.")
    done = await house.extract()
    assert (done.stored, done.noted, await house.facts()) == ([], [], before)


async def test_057_what_is_said_later_takes_the_place_of_what_was_said_before(house: House) -> None:
    await house.turn("We use MySQL for the shop's data.")
    (old,) = (await house.extract()).stored
    await house.turn("We decided to use PostgreSQL for the shop's data.")
    (new,) = (await house.extract()).stored
    assert new.superseded == (old.memory.id,)
    assert await house.contents() == ["We decided to use PostgreSQL for the shop's data."]
    history = await house.memories.history(HERE, memory_id=new.memory.id)
    assert [(one.id, one.superseded_by) for one in history] == [
        (old.memory.id, new.memory.id),
        (new.memory.id, None),
    ]


async def test_057_who_changes_their_mind_twice_is_where_they_began(house: House) -> None:
    for text in ("I prefer tabs over spaces.", "I prefer spaces over tabs.", "I prefer tabs over spaces."):
        await house.turn(text)
    assert len((await house.extract()).stored) == 3
    assert await house.contents() == ["I prefer tabs over spaces."]
    for text in ("I prefer spaces over tabs.", "I prefer tabs over spaces."):
        await house.turn(text)
    await house.extract()
    (fact,) = await house.facts()
    assert (fact.content, len(await house.memories.history(HERE, memory_id=fact.id))) == (
        "I prefer tabs over spaces.",
        5,
    )


async def test_057_what_an_agent_claims_does_not_take_the_place_of_what_a_person_said(house: House) -> None:
    await house.turn("We decided to use MySQL for the shop.")
    await house.turn("Go on.", "We decided to use Oracle for the shop.")
    stored = (await house.extract()).stored
    assert stored[1].conflicts == (stored[0].memory.id,)
    assert len(await house.facts()) == 2


async def test_057_facts_are_seen_by_those_who_see_their_turns(house: House) -> None:
    await house.turn("I prefer tabs over spaces.", scope=Scope.SESSION)
    await house.turn("My name is Ada.", scope=Scope.GLOBAL)
    done = await house.extract()
    assert {(one.memory.content, one.memory.scope) for one in done.stored} == {
        ("I prefer tabs over spaces.", Scope.SESSION),
        ("My name is Ada.", Scope.GLOBAL),
    }
    assert await house.contents() == ["My name is Ada."]
    assert [fact.content for fact in await house.facts(Visibility("prj_other"))] == ["My name is Ada."]
    with pytest.raises(NotFound):
        await house.extractor.extract_session("s2", HERE, FROM, go_on)


async def test_057_turns_of_conversations_without_prompts_are_read_by_who_speaks(house: House) -> None:
    said = [("Ada", "I prefer tabs."), ("assistant", "I prefer spaces."), (None, "I prefer neither.")]
    drafts = [Draft(content=text, speaker=who, session_id="s1", kind=Kind.TURN) for who, text in said]
    await house.memories.remember(drafts, "prj_here")
    await house.extract()
    assert [(fact.content, fact.speaker) for fact in await house.facts()] == [("I prefer tabs.", "Ada")]


async def test_057_whoever_died_before_the_turns_were_marked_leaves_nothing_twice(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.turn("I prefer tabs over spaces.")

    async def killed(writes: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(house.store.memories, "put", killed)
        with pytest.raises(KeyboardInterrupt):
            await house.extract()
    assert await house.contents() == ["I prefer tabs over spaces."]
    await house.turn("My name is Ada.")
    done = await house.extract()
    assert (done.turns, await house.contents()) == (2, ["I prefer tabs over spaces.", "My name is Ada."])


async def test_057_two_that_read_the_same_turns_at_once_keep_their_facts_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.turn("I prefer tabs over spaces.")
    await house.turn("My name is Ada.")
    (session,) = await house.store.summaries.session(HERE, "s1")
    done: list[Extraction] = []
    remember_once = house.memories.remember_once

    async def after_another(*arguments: Any, **options: Any) -> Written:
        """Write when somebody else has done so first, who found the same turns unread and the same facts unknown."""
        monkeypatch.undo()
        done.append(await house.extractor.extract(session, {**FROM, "job": "job_2"}, go_on))
        return await remember_once(*arguments, **options)

    monkeypatch.setattr(house.memories, "remember_once", after_another)
    done.append(await house.extractor.extract(session, {**FROM, "job": "job_1"}, go_on))
    assert [len(each.stored) for each in done] == [2, 0]
    assert await house.contents() == ["I prefer tabs over spaces.", "My name is Ada."]


async def test_057_what_an_agent_asks_its_helper_is_nobodys_own_word(house: House) -> None:
    await house.turn("I prefer tabs over spaces.", speaker="agent")
    await house.turn("I prefer cats over dogs.", speaker="Ada")
    await house.extract()
    assert await house.contents() == ["I prefer cats over dogs."]


async def test_057_many_turns_are_read_step_by_step_and_can_be_stopped(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "TURNS_AT_ONCE", 2)
    for number in range(5):
        await house.turn(f"The budget for part {number} is {number}000 EUR.")
    steps: list[tuple[int, int]] = []

    async def stop_at_last(read: int, turns: int) -> None:
        steps.append((read, turns))
        if read == 4:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        await house.extractor.extract_session("s1", HERE, FROM, stop_at_last)
    assert steps == [(0, 5), (2, 5), (4, 5)]
    assert len(await house.contents()) == 4
    assert (await house.extract()).turns == 1
    assert len(await house.contents()) == 5


async def test_057_a_turn_that_is_marked_is_found_as_before(house: House) -> None:
    turn = await house.turn("Why does the checkout time out?", "The orders table has no index.")
    asked = "checkout orders index"
    before = await house.memories.recall(asked, HERE, MemoryFilter(), Wish(threshold=0.05))
    await house.extract()
    after = await house.memories.recall(asked, HERE, MemoryFilter(), Wish(threshold=0.05))
    assert [hit.memory.id for hit in after.hits] == [turn]
    assert [hit.score for hit in after.hits] == [hit.score for hit in before.hits]
    assert (await house.store.check()).problems == []


# -- with a language model -------------------------------------------------------------------------


def answer(**changed: Any) -> str:
    fact = {
        "content": "The user prefers tabs over spaces.",
        "kind": "preference",
        "category": "preferences",
        "subject": "indentation of the user",
        "turn": 1,
        "quote": "I prefer tabs over spaces",
        "confidence": 0.8,
    }
    return json.dumps({"facts": [fact | changed]})


async def test_057_a_language_model_finds_facts_and_they_say_so(house: House) -> None:
    turn = await house.turn("For what it's worth I prefer tabs over spaces.")
    invented = json.loads(answer(content="The user hates spaces."))["facts"]
    both = json.dumps({"facts": [*json.loads(answer())["facts"], *invented]})
    done = await house.extract(extractor=house.with_model(FakeModel(both)))
    assert (done.method, done.dropped, done.problem) == (Method.LLM, 1, None)
    (fact,) = await house.facts()
    assert (fact.content, fact.confidence) == ("The user prefers tabs over spaces.", 0.8)
    assert fact.provenance == {**FROM, "method": "llm", "model": "fake-1", "from": [turn]}
    assert (await house.memories.get(turn, HERE)).details["factsTaken"] == "llm"


async def test_057_without_an_answer_of_the_model_the_rules_read_and_the_problem_is_told(house: House) -> None:
    await house.turn("I prefer tabs over spaces.")
    done = await house.extract(extractor=house.with_model(FakeModel("No.", "No!")))
    assert (done.method, done.problem and done.problem.message) == (
        Method.EXTRACTIVE,
        "fake does not answer with facts",
    )
    assert await house.contents() == ["I prefer tabs over spaces."]


# -- as every write --------------------------------------------------------------------------------


async def test_057_what_may_not_be_kept_is_dropped_and_stops_no_other(store: SqliteStore) -> None:
    token = "sk-live-" + "a1B2" * 8
    open_house = House(store, secrets=SecretsPolicy.KEEP)
    await open_house.turn(f"We use {token} for payments. My name is Ada.")
    refusing = House(store, secrets=SecretsPolicy.REFUSE)
    done = await refusing.extract()
    assert (len(done.stored), done.dropped) == (1, 1)
    assert await refusing.contents() == ["My name is Ada."]


async def test_057_secrets_are_masked(store: SqliteStore) -> None:
    token = "sk-live-" + "a1B2" * 8
    await House(store, secrets=SecretsPolicy.KEEP).turn(f"We use {token} for payments.")
    masking = House(store)
    await masking.extract()
    (fact,) = await masking.facts()
    assert token not in fact.content
    assert fact.provenance["masked"] != []


async def test_057_the_quota_of_whoever_asks_holds(store: SqliteStore) -> None:
    house = House(store, quota=Quota(memories_per_client=1))
    await house.turn("My name is Ada. I prefer tabs over spaces.", provenance={"client": "bob"})
    with pytest.raises(QuotaExceeded):
        await house.extract()
    assert await house.contents() == []
    assert (await House(store).extract()).turns == 1


# -- when a session is summarised ------------------------------------------------------------------


async def test_057_a_session_that_is_summarised_gives_its_facts_and_its_summary_does_not_speak_twice(
    house: House,
) -> None:
    await house.turn("I prefer tabs over spaces. Please fix the indentation of src/auth.py.", "I fixed src/auth.py.")
    summariser = Summariser(
        house.store.summaries, house.store.memories, house.memories, facts=house.extractor, clock=house.clock
    )
    quiet = SilentReporter()
    made = await summariser.summarise_session("s1", HERE, {"tool": "summarize_sessions"}, quiet)
    (summary,) = made.sessions
    assert (made.facts, await house.contents()) == (1, ["I prefer tabs over spaces."])
    again = await summariser.summarise_session("s1", HERE, {"tool": "summarize_sessions"}, quiet)
    assert (again.facts, again.sessions[0].details) == (0, summary.details)
    assert (summary.details["memoryCount"], summary.details["evidence"]["facts"]) == (1, 0)
