"""Answers combined from all stores within a time limit (features 61, 64 and 66)."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Unavailable
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.answers.routing import StoreName
from scrubjay.features.answers.service import SECONDARY_LIMIT, AnswerService, CombinedAnswer, Role, Status
from scrubjay.features.answers.synthesis import NO_MATCH, AnswerMethod
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.knowledge.mentions import MentionFinder
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.working_memory.consolidation import Consolidator
from scrubjay.features.working_memory.models import WorkingScope
from scrubjay.features.working_memory.service import NewItem, WorkingMemory
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.completion import Completer
from scrubjay.models.embedding import Embedder
from scrubjay.models.failures import FailureReason, unavailable
from scrubjay.models.static_model import StaticEmbedder
from tests.contracts.samples import NOW, ManualClock
from tests.features.answers.model import ScriptedModel

SCOPE = WorkingScope(None, "s1")
AMBIGUOUS = "When did we last decide on the relationship between the gateway and the session service?"


class HungEmbedder(StaticEmbedder):
    """An embedder that never returns."""

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        await anyio.sleep_forever()
        raise AssertionError


@dataclass
class AnswerFixture:
    """The services that answer the questions of one session."""

    memory: MemoryService
    working: WorkingMemory
    clock: ManualClock
    store: SqliteStore
    completer: Completer | None = None

    async def remember(self, *contents: str, **fields: Any) -> list[str]:
        outcomes = await self.memory.remember([Draft(content=content, **fields) for content in contents], None)
        return [outcome.memory.id for outcome in outcomes]

    async def put(self, content: str, **fields: Any) -> str:
        return (await self.working.put(SCOPE, NewItem(content=content, **fields))).item.id

    async def ask(self, query: str, *, scope: WorkingScope | None = SCOPE, timeout: float = 30) -> CombinedAnswer:
        answers = AnswerService(self.memory, self.working, MentionFinder(self.store.knowledge), self.completer)
        with anyio.fail_after(60):
            return await answers.ask(query, Visibility(None, "s1"), scope, timeout=timeout)


MakeFixture = Callable[..., AnswerFixture]


@pytest.fixture
async def make_fixture(tmp_path: Path) -> AsyncGenerator[MakeFixture]:
    clock = ManualClock()
    store = await SqliteStore.open(tmp_path, clock=clock)

    def make(*, completer: Completer | None = None, embedder: Embedder | None = None) -> AnswerFixture:
        models = ModelRegistry(store.embeddings, EmbeddingChoice(), lambda choice: embedder or StaticEmbedder())
        memory = MemoryService(store.memories, models, clock=clock)

        async def get() -> MemoryService:
            return memory

        working = WorkingMemory(store.working, Consolidator(store.working, get, clock=clock), clock=clock)
        return AnswerFixture(memory, working, clock, store, completer)

    yield make
    await store.close()


@pytest.fixture
def fixture(make_fixture: MakeFixture) -> AnswerFixture:
    return make_fixture()


def roles(answer: CombinedAnswer) -> dict[StoreName, tuple[Role | None, Status, int]]:
    return {one.store: (one.role, one.status, one.found) for one in answer.outcomes}


def cited_ids(answer: CombinedAnswer) -> list[str]:
    """Return the ids of the cited sources."""
    return [citation.source.id for citation in answer.synthesis.citations]


# -- choice of stores --------------------------------------------------------------------------------


async def test_061_a_general_question_queries_episodic_and_working_memory(fixture: AnswerFixture) -> None:
    chosen, _ = await fixture.remember("We chose PostgreSQL because the team knows it.", "We deploy on Thursdays.")
    answer = await fixture.ask("Which database did we choose?")
    assert roles(answer) == {
        StoreName.WORKING: (Role.JOINED, Status.ANSWERED, 0),
        StoreName.EPISODIC: (Role.PRIMARY, Status.ANSWERED, 1),
        StoreName.SEMANTIC: (None, Status.NOT_ASKED, 0),
        StoreName.PROCEDURAL: (None, Status.NOT_ASKED, 0),
    }
    assert (cited_ids(answer), answer.synthesis.text) == (
        [chosen],
        "We chose PostgreSQL because the team knows it. [1]",
    )
    assert (answer.synthesis.method, answer.synthesis.notes) == (AnswerMethod.EXTRACTIVE, ())


async def test_061_a_store_that_does_not_exist_is_unavailable_and_episodic_memory_answers_instead(
    fixture: AnswerFixture,
) -> None:
    memory_id, *_ = await fixture.remember("To fix the bug in the parser, the code must compile twice.")
    answer = await fixture.ask("fix the bug in the parser code")
    assert roles(answer) == {
        StoreName.WORKING: (Role.JOINED, Status.ANSWERED, 0),
        StoreName.EPISODIC: (Role.FALLBACK, Status.ANSWERED, 1),
        StoreName.SEMANTIC: (None, Status.NOT_ASKED, 0),
        StoreName.PROCEDURAL: (Role.PRIMARY, Status.UNAVAILABLE, 0),
    }
    assert cited_ids(answer) == [memory_id]
    assert answer.synthesis.notes == ("procedural memory: this server has no procedural memory yet",)


async def test_061_the_primary_store_returns_more_results_than_a_secondary_one(fixture: AnswerFixture) -> None:
    await fixture.remember(*[f"Fact {number}: the gateway depends on service {number}." for number in range(20)])
    primary = await fixture.ask("gateway service")
    secondary = await fixture.ask("What depends on the gateway service?")
    assert roles(primary)[StoreName.EPISODIC] == (Role.PRIMARY, Status.ANSWERED, 10)
    assert roles(secondary)[StoreName.EPISODIC] == (Role.SECONDARY, Status.ANSWERED, SECONDARY_LIMIT)


@pytest.mark.parametrize("query", ["What is in my working memory?", "What did I note just now?"])
async def test_061_a_question_that_names_working_memory_gets_its_items(fixture: AnswerFixture, query: str) -> None:
    await fixture.remember("I noted that the working memory of mice is small.")
    first = await fixture.put("The failing test is test_login.")
    fixture.clock.advance(1)
    second = await fixture.put("Build number 4711")
    answer = await fixture.ask(query)
    assert roles(answer)[StoreName.WORKING] == (Role.PRIMARY, Status.ANSWERED, 2)
    assert cited_ids(answer) == [second, first]


async def test_061_working_memory_items_answer_only_questions_about_their_topic(fixture: AnswerFixture) -> None:
    build = await fixture.put("Build number 4711")
    await fixture.put("The failing test is test_login.")
    assert cited_ids(await fixture.ask("Which build did I see just now?")) == [build]
    nothing = await fixture.ask("What did the minister say about France just now?")
    assert (nothing.synthesis.text, nothing.synthesis.notes) == (None, (NO_MATCH,))


async def test_061_working_memory_of_other_sessions_is_not_queried(fixture: AnswerFixture) -> None:
    await fixture.put("Build number 4711")
    await fixture.remember("The build number is 4711.", scope=Scope.SESSION, session_id="s2")
    elsewhere = await fixture.ask("What is the build number?", scope=WorkingScope(None, "s2"))
    other_project = await fixture.ask("What is the build number?", scope=WorkingScope("prj_b", "s1"))
    assert [elsewhere.synthesis.text, other_project.synthesis.text] == [None, None]


async def test_061_without_a_session_working_memory_is_not_queried_and_is_unavailable_if_the_question_names_it(
    fixture: AnswerFixture,
) -> None:
    await fixture.remember("We deploy on Thursdays.")
    general = await fixture.ask("When do we deploy?", scope=None)
    named = await fixture.ask("What did we deploy just now?", scope=None)
    assert (general.working, roles(general)[StoreName.WORKING]) == (None, (Role.JOINED, Status.NOT_ASKED, 0))
    assert (named.working, roles(named)[StoreName.WORKING]) == (None, (Role.PRIMARY, Status.UNAVAILABLE, 0))
    assert general.synthesis.notes == ()
    assert named.synthesis.notes[-1] == "working memory: the call belongs to no session"


async def test_061_an_item_that_is_also_a_memory_is_cited_once_with_its_higher_score(fixture: AnswerFixture) -> None:
    item = await fixture.put("The build runs on Otto.", importance=0.9, ttl_seconds=40)
    (citation,) = (await fixture.ask("Where does the build run?")).synthesis.citations
    memory_id = (await fixture.working.get(SCOPE, item)).memory_id
    assert memory_id is not None  # it expires before the next consolidation, so it is stored as a memory immediately
    assert (citation.source.id, citation.source.store) == (memory_id, StoreName.WORKING)
    assert citation.source.score == pytest.approx(1.0)


async def test_066_a_question_for_the_latest_memories_prefers_recent_ones(fixture: AnswerFixture) -> None:
    await fixture.remember("The release notes are about speed, says the release team.")
    fixture.clock.advance(timedelta(days=60).total_seconds())
    (new,) = await fixture.remember("The release notes are now about safety.")
    answer = await fixture.ask("What are the latest release notes about?")
    assert answer.episodic is not None
    assert answer.episodic.hits[0].memory.id == new
    assert answer.analysis.strategy == "recency_heavy"


async def test_064_a_timeline_is_in_chronological_order(fixture: AnswerFixture) -> None:
    ids: list[str] = []
    for days, content in (
        (3, "The release was planned."),
        (9, "The release shipped."),
        (1, "The release was an idea."),
    ):
        ids += await fixture.remember(content, occurred_at=NOW + timedelta(days=days))
    fixture.clock.advance(timedelta(days=30).total_seconds())
    answer = await fixture.ask("Give me a timeline of the release")
    assert cited_ids(answer) == [ids[2], ids[0], ids[1]]


# -- time limits and failures ----------------------------------------------------------------------


async def test_061_a_store_that_hangs_is_left_out_after_the_time_limit(make_fixture: MakeFixture) -> None:
    fixture = make_fixture(embedder=HungEmbedder())
    item = await fixture.put("Build number 4711", importance=0.1)
    answer = await fixture.ask("What is the build number?", timeout=0.2)
    assert roles(answer)[StoreName.EPISODIC] == (Role.PRIMARY, Status.TIMED_OUT, 0)
    assert (answer.episodic, cited_ids(answer)) == (None, [item])
    assert answer.synthesis.notes == ("episodic memory: the time limit was reached",)


@pytest.mark.parametrize("related", ["", "The number of birds in the garden"])
async def test_061_a_timeout_without_an_answer_is_an_error_and_not_an_empty_answer(
    make_fixture: MakeFixture, related: str
) -> None:
    fixture = make_fixture(embedder=HungEmbedder())
    if related:
        await fixture.put(related, importance=0.1)
    with pytest.raises(Unavailable) as caught:
        await fixture.ask("What is the build number?", timeout=0.2)
    assert caught.value.message == "episodic memory did not answer within 0.2 s"
    assert caught.value.details == {"reason": "timeout", "timeout_ms": 200}


async def test_061_a_failing_store_is_reported_and_does_not_hide_the_results_of_others(fixture: AnswerFixture) -> None:
    class Broken(MemoryService):
        async def recall(self, *_: Any, **__: Any) -> Any:
            raise Unavailable("the disk is gone", hint="plug it in")

    item = await fixture.put("Build number 4711")
    fixture.memory.__class__ = Broken
    answer = await fixture.ask("What is the build number?")
    failed = next(one for one in answer.outcomes if one.store is StoreName.EPISODIC)
    assert (failed.status, failed.reason, failed.hint) == (Status.UNAVAILABLE, "the disk is gone", "plug it in")
    assert (cited_ids(answer), answer.synthesis.notes) == ([item], ("episodic memory: the disk is gone",))
    with pytest.raises(Unavailable, match="the disk is gone"):
        await fixture.ask("Who is the minister?")


async def test_an_unexpected_exception_in_a_store_is_raised_unchanged(fixture: AnswerFixture) -> None:
    class Broken(MemoryService):
        async def recall(self, *_: Any, **__: Any) -> Any:
            raise ZeroDivisionError

    fixture.memory.__class__ = Broken
    with pytest.raises(ZeroDivisionError):
        await fixture.ask("What is the build number?")


# -- with a language model -------------------------------------------------------------------------


async def test_064_a_language_model_answers_from_the_results(make_fixture: MakeFixture) -> None:
    model = ScriptedModel(["PostgreSQL [1]."])
    fixture = make_fixture(completer=model)
    (chosen,) = await fixture.remember("We chose PostgreSQL because the team knows it.")
    answer = await fixture.ask("Which database did we choose?")
    assert (answer.synthesis.text, answer.synthesis.method, cited_ids(answer)) == (
        "PostgreSQL [1].",
        AnswerMethod.LLM,
        [chosen],
    )
    (call,) = model.calls  # none for routing: the rules were sure
    assert call.timeout is not None
    assert 0 < call.timeout <= 30


async def test_064_without_results_a_language_model_gives_no_answer_either(make_fixture: MakeFixture) -> None:
    model = ScriptedModel([])
    answer = await make_fixture(completer=model).ask("Who is the minister?")
    assert (answer.synthesis.text, answer.synthesis.notes, model.calls) == (None, (NO_MATCH,), [])


async def test_062_a_language_model_routes_a_question_that_the_rules_are_unsure_about(
    make_fixture: MakeFixture,
) -> None:
    model = ScriptedModel(["Episodic, of course."])
    answer = await make_fixture(completer=model).ask(AMBIGUOUS, timeout=20)
    decision = answer.decision
    assert (decision.primary, decision.secondary, decision.confidence, decision.decided_by) == (
        StoreName.EPISODIC,
        (StoreName.SEMANTIC,),
        0.85,
        "model-1",
    )
    assert decision.reasoning == (
        "Episodic store selected by model-1; the rules were not sure: "
        "Semantic store selected; keywords detected: relationship, between"
    )
    assert roles(answer)[StoreName.EPISODIC][0] is Role.PRIMARY
    assert model.calls[0].timeout == 5  # a quarter of the time limit


@pytest.mark.parametrize(
    ("response", "note"),
    [
        ("I cannot say.", "routed by rules only: the language model did not name one store"),
        ("episodic or semantic", "routed by rules only: the language model did not name one store"),
        (unavailable(FailureReason.TIMEOUT, "it sleeps", hint="wake it"), "routed by rules only: it sleeps"),
    ],
)
async def test_062_without_a_usable_response_of_the_model_the_rules_decide(
    make_fixture: MakeFixture, response: str | Exception, note: str
) -> None:
    answer = await make_fixture(completer=ScriptedModel([response])).ask(AMBIGUOUS)
    assert (answer.decision.primary, answer.decision.decided_by) == (StoreName.SEMANTIC, "rules")
    assert answer.synthesis.notes == (NO_MATCH, note)


async def test_064_a_language_model_is_not_called_after_the_time_limit(make_fixture: MakeFixture) -> None:
    fixture = make_fixture(completer=ScriptedModel([]), embedder=HungEmbedder())
    item = await fixture.put("Build number 4711", importance=0.1)
    answer = await fixture.ask("What is the build number?", timeout=0.2)
    assert (cited_ids(answer), answer.synthesis.method) == ([item], AnswerMethod.EXTRACTIVE)
    assert answer.synthesis.notes == (
        "written without the language model: the time limit was reached",
        "episodic memory: the time limit was reached",
    )
