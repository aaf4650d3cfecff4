"""Extraction of stated facts from turns, by rules or by a language model: sources, duplicates, conflicts, limits."""

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
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.facts import service as extraction
from scrubjay.features.facts.llm_facts import LlmFactExtractor
from scrubjay.features.facts.service import FACT_KINDS, FactExtraction, FactExtractor
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.recall import RecallOptions
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.writes import IdempotentOutcome
from scrubjay.features.summaries.models import GenerationMethod
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


class FactServices:
    """A store with its memory service and its fact extractors."""

    def __init__(self, store: SqliteStore, **options: Any) -> None:
        self.store = store
        models = ModelRegistry(store.embeddings, EmbeddingChoice(), lambda choice: StaticEmbedder())
        self.clock = Clock()
        self.memories = MemoryService(store.memories, models, clock=self.clock, **options)
        self.extractor = self.with_model(None)

    def with_model(self, model: FakeModel | None) -> FactExtractor:
        reader = LlmFactExtractor(model) if model else None
        return FactExtractor(self.store.summaries, self.store.memories, self.memories, reader)

    async def turn(self, prompt: str, response: str = "Done.", session: str = "s1", **fields: Any) -> str:
        draft = Draft(
            content=f"User Prompt: {prompt}\nAgent Thought: \nAgent Response: {response}",
            session_id=session,
            kind=MemoryKind.TURN,
            details={"prompt": prompt, "thought": "I prefer cats over dogs.", "response": response},
            **fields,
        )
        (outcome,) = await self.memories.remember([draft], "prj_here")
        return outcome.memory.id

    async def extract(self, session: str = "s1", extractor: FactExtractor | None = None) -> FactExtraction:
        visibility = Visibility("prj_here", session)
        return await (extractor or self.extractor).extract_session(session, visibility, FROM, ignore_progress)

    async def facts(self, visibility: Visibility = HERE) -> Sequence[Memory]:
        only = MemoryFilter(kinds=FACT_KINDS)
        return (await self.memories.page(visibility, only, newest_first=False, limit=100, offset=0)).memories

    async def contents(self) -> list[str]:
        return [fact.content for fact in await self.facts()]


async def ignore_progress(read: int, turns: int) -> None:
    return None


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path)
    yield store
    await store.close()


@pytest.fixture
def services(store: SqliteStore) -> FactServices:
    return FactServices(store)


async def test_057_a_stated_fact_becomes_a_memory_with_its_turn_as_source(services: FactServices) -> None:
    turn = await services.turn("I prefer tabs over spaces. Can you fix the login?")
    done = await services.extract()
    assert (done.turns, done.restated, done.dropped, done.method, done.problem) == (
        1,
        [],
        0,
        GenerationMethod.EXTRACTIVE,
        None,
    )
    (fact,) = await services.facts()
    assert [outcome.memory.id for outcome in done.stored] == [fact.id]
    assert (fact.content, fact.kind, fact.category, fact.subject, fact.speaker) == (
        "I prefer tabs over spaces.",
        MemoryKind.PREFERENCE,
        "preferences",
        "user: spaces or tabs",
        "user",
    )
    assert (fact.confidence, fact.importance, fact.scope, fact.session_id) == (0.9, 0.6, Scope.PROJECT, "s1")
    assert fact.provenance == {**FROM, "method": "extractive", "from": [turn]}
    read_turn = await services.memories.get(turn, HERE)
    assert (fact.occurred_at, read_turn.details["factsTaken"]) == (read_turn.recorded_at, "extractive")
    found = await services.memories.recall(
        "which indentation does the user prefer?", HERE, MemoryFilter(), RecallOptions(threshold=0.05)
    )
    assert fact.id in [hit.memory.id for hit in found.hits]


async def test_057_a_second_run_stores_no_duplicates_and_reads_only_new_turns(services: FactServices) -> None:
    await services.turn("I prefer tabs over spaces.")
    await services.extract()
    again = await services.extract()
    assert (again.turns, again.stored, again.restated) == (0, [], [])
    later = await services.turn("My name is Ada.")
    done = await services.extract()
    assert (done.turns, [outcome.memory.provenance["from"] for outcome in done.stored]) == (1, [[later]])
    assert await services.contents() == ["I prefer tabs over spaces.", "My name is Ada."]


async def test_057_a_forgotten_fact_is_not_extracted_again(services: FactServices) -> None:
    await services.turn("I prefer tabs over spaces.")
    (outcome,) = (await services.extract()).stored
    await services.memories.forget(outcome.memory.id, HERE)
    await services.turn("My name is Ada.")
    await services.extract()
    assert await services.contents() == ["My name is Ada."]


async def test_057_a_restated_fact_gets_another_source_and_is_not_stored_twice(services: FactServices) -> None:
    first = await services.turn("I prefer tabs over spaces.")
    second = await services.turn("As I said. I prefer tabs over spaces!")
    (fact,) = (await services.extract()).stored
    assert fact.memory.provenance["from"] == [first, second]
    third = await services.turn("I prefer tabs over spaces", session="s2")
    done = await services.extract("s2")
    assert (done.stored, done.restated) == ([], [fact.memory.id])
    (fact,) = await services.facts()
    assert (fact.provenance["from"], fact.content) == ([first, second, third], "I prefer tabs over spaces.")
    assert await services.memories.history(HERE, memory_id=fact.id) == [fact]


async def test_057_a_manually_stored_memory_counts_as_known_and_is_unchanged(services: FactServices) -> None:
    await services.memories.remember(
        [Draft(content="I prefer tabs over spaces.", kind=MemoryKind.PREFERENCE)], "prj_here"
    )
    before = await services.facts()
    await services.turn("I prefer tabs over spaces.")
    done = await services.extract()
    assert (done.stored, done.restated, await services.facts()) == ([], [], before)


async def test_057_a_later_statement_supersedes_an_earlier_one(services: FactServices) -> None:
    await services.turn("We use MySQL for the shop's data.")
    (old,) = (await services.extract()).stored
    await services.turn("We decided to use PostgreSQL for the shop's data.")
    (new,) = (await services.extract()).stored
    assert new.superseded == (old.memory.id,)
    assert await services.contents() == ["We decided to use PostgreSQL for the shop's data."]
    history = await services.memories.history(HERE, memory_id=new.memory.id)
    assert [(one.id, one.superseded_by) for one in history] == [
        (old.memory.id, new.memory.id),
        (new.memory.id, None),
    ]


async def test_057_the_last_of_several_statements_on_a_subject_counts(services: FactServices) -> None:
    for text in ("I prefer tabs over spaces.", "I prefer spaces over tabs.", "I prefer tabs over spaces."):
        await services.turn(text)
    assert len((await services.extract()).stored) == 3
    assert await services.contents() == ["I prefer tabs over spaces."]
    for text in ("I prefer spaces over tabs.", "I prefer tabs over spaces."):
        await services.turn(text)
    await services.extract()
    (fact,) = await services.facts()
    assert (fact.content, len(await services.memories.history(HERE, memory_id=fact.id))) == (
        "I prefer tabs over spaces.",
        5,
    )


async def test_057_an_agents_claim_does_not_supersede_a_persons_statement(services: FactServices) -> None:
    await services.turn("We decided to use MySQL for the shop.")
    await services.turn("Go on.", "We decided to use Oracle for the shop.")
    stored = (await services.extract()).stored
    assert stored[1].conflicts == (stored[0].memory.id,)
    assert len(await services.facts()) == 2


async def test_057_facts_have_the_visibility_of_their_turns(services: FactServices) -> None:
    await services.turn("I prefer tabs over spaces.", scope=Scope.SESSION)
    await services.turn("My name is Ada.", scope=Scope.GLOBAL)
    done = await services.extract()
    assert {(one.memory.content, one.memory.scope) for one in done.stored} == {
        ("I prefer tabs over spaces.", Scope.SESSION),
        ("My name is Ada.", Scope.GLOBAL),
    }
    assert await services.contents() == ["My name is Ada."]
    assert [fact.content for fact in await services.facts(Visibility("prj_other"))] == ["My name is Ada."]
    with pytest.raises(NotFound):
        await services.extractor.extract_session("s2", HERE, FROM, ignore_progress)


async def test_057_turns_without_a_prompt_are_read_by_speaker(services: FactServices) -> None:
    messages = [("Ada", "I prefer tabs."), ("assistant", "I prefer spaces."), (None, "I prefer neither.")]
    drafts = [Draft(content=text, speaker=speaker, session_id="s1", kind=MemoryKind.TURN) for speaker, text in messages]
    await services.memories.remember(drafts, "prj_here")
    await services.extract()
    assert [(fact.content, fact.speaker) for fact in await services.facts()] == [("I prefer tabs.", "Ada")]


async def test_057_a_crash_before_marking_the_turns_causes_no_duplicates(
    services: FactServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    await services.turn("I prefer tabs over spaces.")

    async def fail_to_mark(writes: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(services.store.memories, "put", fail_to_mark)
        with pytest.raises(KeyboardInterrupt):
            await services.extract()
    assert await services.contents() == ["I prefer tabs over spaces."]
    await services.turn("My name is Ada.")
    done = await services.extract()
    assert (done.turns, await services.contents()) == (2, ["I prefer tabs over spaces.", "My name is Ada."])


async def test_057_concurrent_extractions_store_each_fact_once(
    services: FactServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    await services.turn("I prefer tabs over spaces.")
    await services.turn("My name is Ada.")
    (session,) = await services.store.summaries.session(HERE, "s1")
    done: list[FactExtraction] = []
    remember_once = services.memories.remember_once

    async def run_another_first(*arguments: Any, **options: Any) -> IdempotentOutcome:
        """Let another extraction, which found the same unread turns and unknown facts, write first."""
        monkeypatch.undo()
        done.append(await services.extractor.extract(session, {**FROM, "job": "job_2"}, ignore_progress))
        return await remember_once(*arguments, **options)

    monkeypatch.setattr(services.memories, "remember_once", run_another_first)
    done.append(await services.extractor.extract(session, {**FROM, "job": "job_1"}, ignore_progress))
    assert [len(extraction.stored) for extraction in done] == [2, 0]
    assert await services.contents() == ["I prefer tabs over spaces.", "My name is Ada."]


async def test_057_a_prompt_from_an_agent_to_a_subagent_is_no_statement(services: FactServices) -> None:
    await services.turn("I prefer tabs over spaces.", speaker="agent")
    await services.turn("I prefer cats over dogs.", speaker="Ada")
    await services.extract()
    assert await services.contents() == ["I prefer cats over dogs."]


async def test_057_many_turns_are_read_in_batches_and_can_be_cancelled(
    services: FactServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "BATCH_TURNS", 2)
    for number in range(5):
        await services.turn(f"The budget for part {number} is {number}000 EUR.")
    steps: list[tuple[int, int]] = []

    async def stop_at_last(read: int, turns: int) -> None:
        steps.append((read, turns))
        if read == 4:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        await services.extractor.extract_session("s1", HERE, FROM, stop_at_last)
    assert steps == [(0, 5), (2, 5), (4, 5)]
    assert len(await services.contents()) == 4
    assert (await services.extract()).turns == 1
    assert len(await services.contents()) == 5


async def test_057_a_marked_turn_is_recalled_with_the_same_score(services: FactServices) -> None:
    turn = await services.turn("Why does the checkout time out?", "The orders table has no index.")
    query = "checkout orders index"
    before = await services.memories.recall(query, HERE, MemoryFilter(), RecallOptions(threshold=0.05))
    await services.extract()
    after = await services.memories.recall(query, HERE, MemoryFilter(), RecallOptions(threshold=0.05))
    assert [hit.memory.id for hit in after.hits] == [turn]
    assert [hit.score for hit in after.hits] == [hit.score for hit in before.hits]
    assert (await services.store.check()).problems == []


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


async def test_057_facts_of_a_language_model_record_their_method(services: FactServices) -> None:
    turn = await services.turn("For what it's worth I prefer tabs over spaces.")
    invented = json.loads(answer(content="The user hates spaces."))["facts"]
    both = json.dumps({"facts": [*json.loads(answer())["facts"], *invented]})
    done = await services.extract(extractor=services.with_model(FakeModel(both)))
    assert (done.method, done.dropped, done.problem) == (GenerationMethod.LLM, 1, None)
    (fact,) = await services.facts()
    assert (fact.content, fact.confidence) == ("The user prefers tabs over spaces.", 0.8)
    assert fact.provenance == {**FROM, "method": "llm", "model": "fake-1", "from": [turn]}
    assert (await services.memories.get(turn, HERE)).details["factsTaken"] == "llm"


async def test_057_if_the_model_fails_rules_are_used_and_the_problem_is_reported(services: FactServices) -> None:
    await services.turn("I prefer tabs over spaces.")
    done = await services.extract(extractor=services.with_model(FakeModel("No.", "No!")))
    assert (done.method, done.problem and done.problem.message) == (
        GenerationMethod.EXTRACTIVE,
        "fake did not return facts as JSON",
    )
    assert await services.contents() == ["I prefer tabs over spaces."]


# -- secrets and quotas ----------------------------------------------------------------------------


async def test_057_a_refused_fact_is_dropped_and_does_not_stop_others(store: SqliteStore) -> None:
    token = "sk-live-" + "a1B2" * 8
    permissive = FactServices(store, secrets=SecretsPolicy.KEEP)
    await permissive.turn(f"We use {token} for payments. My name is Ada.")
    refusing = FactServices(store, secrets=SecretsPolicy.REFUSE)
    done = await refusing.extract()
    assert (len(done.stored), done.dropped) == (1, 1)
    assert await refusing.contents() == ["My name is Ada."]


async def test_057_secrets_are_masked(store: SqliteStore) -> None:
    token = "sk-live-" + "a1B2" * 8
    await FactServices(store, secrets=SecretsPolicy.KEEP).turn(f"We use {token} for payments.")
    masking = FactServices(store)
    await masking.extract()
    (fact,) = await masking.facts()
    assert token not in fact.content
    assert fact.provenance["masked"] != []


async def test_057_the_quota_of_the_caller_applies(store: SqliteStore) -> None:
    services = FactServices(store, quota=Quota(memories_per_client=1))
    await services.turn("My name is Ada. I prefer tabs over spaces.", provenance={"client": "bob"})
    with pytest.raises(QuotaExceeded):
        await services.extract()
    assert await services.contents() == []
    assert (await FactServices(store).extract()).turns == 1


# -- when a session is summarised ------------------------------------------------------------------


async def test_057_summarising_a_session_extracts_its_facts_without_repeating_them(
    services: FactServices,
) -> None:
    await services.turn("I prefer tabs over spaces. Please fix the indentation of src/auth.py.", "I fixed src/auth.py.")
    summariser = Summariser(
        services.store.summaries,
        services.store.memories,
        services.memories,
        facts=services.extractor,
        clock=services.clock,
    )
    quiet = SilentReporter()
    result = await summariser.summarise_session("s1", HERE, {"tool": "summarize_sessions"}, quiet)
    (summary,) = result.sessions
    assert (result.facts, await services.contents()) == (1, ["I prefer tabs over spaces."])
    again = await summariser.summarise_session("s1", HERE, {"tool": "summarize_sessions"}, quiet)
    assert (again.facts, again.sessions[0].details) == (0, summary.details)
    assert (summary.details["memoryCount"], summary.details["evidence"]["facts"]) == (1, 0)
