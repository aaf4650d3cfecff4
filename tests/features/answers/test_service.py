"""One question to all stores, in the time that there is (features 61, 64 and 66)."""

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
from scrubjay.features.answers.service import SECONDARY_LIMIT, Answer, Asker, Role, Status
from scrubjay.features.answers.synthesis import NOTHING_FITS, Method
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.knowledge.mentions import Mentions
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.features.working_memory.consolidation import Consolidator
from scrubjay.features.working_memory.models import Desk
from scrubjay.features.working_memory.service import NewItem, WorkingMemory
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.completion import Completer
from scrubjay.models.embedding import Embedder
from scrubjay.models.failures import Reason, unavailable
from scrubjay.models.static_model import StaticEmbedder
from tests.contracts.samples import NOW, ManualClock
from tests.features.answers.model import SpokenModel

DESK = Desk(None, "s1")
UNSURE = "When did we last decide on the relationship between the gateway and the session service?"


class HungEmbedder(StaticEmbedder):
    """Never comes back."""

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        await anyio.sleep_forever()
        raise AssertionError


@dataclass
class Mind:
    """All that one session can ask."""

    memory: MemoryService
    working: WorkingMemory
    clock: ManualClock
    store: SqliteStore
    completer: Completer | None = None

    async def remember(self, *contents: str, **fields: Any) -> list[str]:
        outcomes = await self.memory.remember([Draft(content=content, **fields) for content in contents], None)
        return [outcome.memory.id for outcome in outcomes]

    async def have_in_mind(self, content: str, **fields: Any) -> str:
        return (await self.working.put(DESK, NewItem(content=content, **fields))).item.id

    async def ask(self, query: str, *, desk: Desk | None = DESK, timeout: float = 30) -> Answer:
        asker = Asker(self.memory, self.working, Mentions(self.store.knowledge), self.completer)
        with anyio.fail_after(60):
            return await asker.ask(query, Visibility(None, "s1"), desk, timeout=timeout)


MakeMind = Callable[..., Mind]


@pytest.fixture
async def make_mind(tmp_path: Path) -> AsyncGenerator[MakeMind]:
    clock = ManualClock()
    store = await SqliteStore.open(tmp_path, clock=clock)

    def make(*, completer: Completer | None = None, embedder: Embedder | None = None) -> Mind:
        models = ModelsInUse(store.embeddings, EmbeddingChoice(), lambda choice: embedder or StaticEmbedder())
        memory = MemoryService(store.memories, models, clock=clock)

        async def get() -> MemoryService:
            return memory

        working = WorkingMemory(store.working, Consolidator(store.working, get, clock=clock), clock=clock)
        return Mind(memory, working, clock, store, completer)

    yield make
    await store.close()


@pytest.fixture
def mind(make_mind: MakeMind) -> Mind:
    return make_mind()


def roles(answer: Answer) -> dict[StoreName, tuple[Role | None, Status, int]]:
    return {one.store: (one.role, one.status, one.found) for one in answer.consultations}


def told(answer: Answer) -> list[str]:
    """The ids of what the answer cites."""
    return [citation.source.id for citation in answer.synthesis.citations]


# -- which stores are asked ------------------------------------------------------------------------


async def test_061_a_general_question_asks_episodic_memory_and_what_is_in_mind(mind: Mind) -> None:
    chosen, _ = await mind.remember("We chose PostgreSQL because the team knows it.", "We deploy on Thursdays.")
    answer = await mind.ask("Which database did we choose?")
    assert roles(answer) == {
        StoreName.WORKING: (Role.JOINED, Status.ANSWERED, 0),
        StoreName.EPISODIC: (Role.PRIMARY, Status.ANSWERED, 1),
        StoreName.SEMANTIC: (None, Status.NOT_ASKED, 0),
        StoreName.PROCEDURAL: (None, Status.NOT_ASKED, 0),
    }
    assert (told(answer), answer.synthesis.text) == ([chosen], "We chose PostgreSQL because the team knows it. [1]")
    assert (answer.synthesis.method, answer.synthesis.notes) == (Method.EXTRACTIVE, ())


async def test_061_a_store_that_is_not_built_is_unavailable_and_episodic_memory_answers_instead(mind: Mind) -> None:
    fixed, *_ = await mind.remember("To fix the bug in the parser, the code must compile twice.")
    answer = await mind.ask("fix the bug in the parser code")
    assert roles(answer) == {
        StoreName.WORKING: (Role.JOINED, Status.ANSWERED, 0),
        StoreName.EPISODIC: (Role.FALLBACK, Status.ANSWERED, 1),
        StoreName.SEMANTIC: (None, Status.NOT_ASKED, 0),
        StoreName.PROCEDURAL: (Role.PRIMARY, Status.UNAVAILABLE, 0),
    }
    assert told(answer) == [fixed]
    assert answer.synthesis.notes == ("procedural memory: this server has no store of procedures yet",)


async def test_061_the_primary_store_brings_more_than_a_secondary_one(mind: Mind) -> None:
    await mind.remember(*[f"Fact {number}: the gateway depends on service {number}." for number in range(20)])
    primary = await mind.ask("gateway service")
    secondary = await mind.ask("What depends on the gateway service?")
    assert roles(primary)[StoreName.EPISODIC] == (Role.PRIMARY, Status.ANSWERED, 10)
    assert roles(secondary)[StoreName.EPISODIC] == (Role.SECONDARY, Status.ANSWERED, SECONDARY_LIMIT)


@pytest.mark.parametrize("query", ["What is in my working memory?", "What did I note just now?"])
async def test_061_a_question_that_names_working_memory_gets_what_is_in_it(mind: Mind, query: str) -> None:
    await mind.remember("I noted that the working memory of mice is small.")
    first = await mind.have_in_mind("The failing test is test_login.")
    mind.clock.advance(1)
    second = await mind.have_in_mind("Build number 4711")
    answer = await mind.ask(query)
    assert roles(answer)[StoreName.WORKING] == (Role.PRIMARY, Status.ANSWERED, 2)
    assert told(answer) == [second, first]


async def test_061_what_is_in_mind_answers_only_what_it_is_about(mind: Mind) -> None:
    build = await mind.have_in_mind("Build number 4711")
    await mind.have_in_mind("The failing test is test_login.")
    assert told(await mind.ask("Which build did I see just now?")) == [build]
    nothing = await mind.ask("What did the minister say about France just now?")
    assert (nothing.synthesis.text, nothing.synthesis.notes) == (None, (NOTHING_FITS,))


async def test_061_nobody_elses_session_is_asked(mind: Mind) -> None:
    await mind.have_in_mind("Build number 4711")
    await mind.remember("The build number is 4711.", scope=Scope.SESSION, session_id="s2")
    elsewhere = await mind.ask("What is the build number?", desk=Desk(None, "s2"))
    other_project = await mind.ask("What is the build number?", desk=Desk("prj_b", "s1"))
    assert [elsewhere.synthesis.text, other_project.synthesis.text] == [None, None]


async def test_061_without_a_session_working_memory_is_not_asked_and_unavailable_when_it_is_named(mind: Mind) -> None:
    await mind.remember("We deploy on Thursdays.")
    joined = await mind.ask("When do we deploy?", desk=None)
    named = await mind.ask("What did we deploy just now?", desk=None)
    assert (joined.working, roles(joined)[StoreName.WORKING]) == (None, (Role.JOINED, Status.NOT_ASKED, 0))
    assert (named.working, roles(named)[StoreName.WORKING]) == (None, (Role.PRIMARY, Status.UNAVAILABLE, 0))
    assert joined.synthesis.notes == ()
    assert named.synthesis.notes[-1] == "working memory: the session of this call is not known"


async def test_061_what_is_in_mind_and_remembered_too_is_told_once_by_its_better_score(mind: Mind) -> None:
    item = await mind.have_in_mind("The build runs on Otto.", importance=0.9, ttl_seconds=40)
    (found,) = (await mind.ask("Where does the build run?")).synthesis.citations
    kept = (await mind.working.get(DESK, item)).memory_id
    assert kept is not None  # it would not live until somebody looks after it, so it is a memory at once
    assert (found.source.id, found.source.store) == (kept, StoreName.WORKING)
    assert found.source.score == pytest.approx(1.0)


async def test_066_a_question_for_the_latest_prefers_what_is_new(mind: Mind) -> None:
    await mind.remember("The release notes are about speed, says the release team.")
    mind.clock.advance(timedelta(days=60).total_seconds())
    (new,) = await mind.remember("The release notes are now about safety.")
    answer = await mind.ask("What are the latest release notes about?")
    assert answer.episodic is not None
    assert answer.episodic.hits[0].memory.id == new
    assert answer.analysis.strategy == "recency_heavy"


async def test_064_a_timeline_is_told_in_the_order_of_time(mind: Mind) -> None:
    ids: list[str] = []
    for days, content in (
        (3, "The release was planned."),
        (9, "The release shipped."),
        (1, "The release was an idea."),
    ):
        ids += await mind.remember(content, occurred_at=NOW + timedelta(days=days))
    mind.clock.advance(timedelta(days=30).total_seconds())
    answer = await mind.ask("Give me a timeline of the release")
    assert told(answer) == [ids[2], ids[0], ids[1]]


# -- what the time allows --------------------------------------------------------------------------


async def test_061_a_store_that_hangs_is_left_out_when_its_time_is_up(make_mind: MakeMind) -> None:
    mind = make_mind(embedder=HungEmbedder())
    item = await mind.have_in_mind("Build number 4711", importance=0.1)
    answer = await mind.ask("What is the build number?", timeout=0.2)
    assert roles(answer)[StoreName.EPISODIC] == (Role.PRIMARY, Status.TIMED_OUT, 0)
    assert (answer.episodic, told(answer)) == (None, [item])
    assert answer.synthesis.notes == ("episodic memory: it did not answer in time",)


@pytest.mark.parametrize("in_mind", ["", "The number of birds in the garden"])
async def test_061_silence_is_not_told_as_knowing_nothing(make_mind: MakeMind, in_mind: str) -> None:
    mind = make_mind(embedder=HungEmbedder())
    if in_mind:  # is only related
        await mind.have_in_mind(in_mind, importance=0.1)
    with pytest.raises(Unavailable) as caught:
        await mind.ask("What is the build number?", timeout=0.2)
    assert caught.value.message == "episodic memory did not answer within 0.2 s"
    assert caught.value.details == {"reason": "timeout", "timeout_ms": 200}


async def test_061_a_store_that_fails_is_told_and_hides_nothing_that_others_found(mind: Mind) -> None:
    class Broken(MemoryService):
        async def recall(self, *_: Any, **__: Any) -> Any:
            raise Unavailable("the disk is gone", hint="plug it in")

    item = await mind.have_in_mind("Build number 4711")
    mind.memory.__class__ = Broken
    answer = await mind.ask("What is the build number?")
    failed = next(one for one in answer.consultations if one.store is StoreName.EPISODIC)
    assert (failed.status, failed.reason, failed.hint) == (Status.UNAVAILABLE, "the disk is gone", "plug it in")
    assert (told(answer), answer.synthesis.notes) == ([item], ("episodic memory: the disk is gone",))
    with pytest.raises(Unavailable, match="the disk is gone"):
        await mind.ask("Who is the minister?")


async def test_a_bug_in_a_store_is_seen_as_itself(mind: Mind) -> None:
    class Broken(MemoryService):
        async def recall(self, *_: Any, **__: Any) -> Any:
            raise ZeroDivisionError

    mind.memory.__class__ = Broken
    with pytest.raises(ZeroDivisionError):
        await mind.ask("What is the build number?")


# -- with a language model -------------------------------------------------------------------------


async def test_064_a_language_model_answers_out_of_what_was_found(make_mind: MakeMind) -> None:
    model = SpokenModel(["PostgreSQL [1]."])
    mind = make_mind(completer=model)
    (chosen,) = await mind.remember("We chose PostgreSQL because the team knows it.")
    answer = await mind.ask("Which database did we choose?")
    assert (answer.synthesis.text, answer.synthesis.method, told(answer)) == ("PostgreSQL [1].", Method.LLM, [chosen])
    (asked,) = model.asked  # the rules were sure
    assert asked.timeout is not None
    assert 0 < asked.timeout <= 30


async def test_064_nothing_found_is_no_answer_with_a_language_model_either(make_mind: MakeMind) -> None:
    model = SpokenModel([])
    answer = await make_mind(completer=model).ask("Who is the minister?")
    assert (answer.synthesis.text, answer.synthesis.notes, model.asked) == (None, (NOTHING_FITS,), [])


async def test_062_a_language_model_decides_what_the_rules_are_not_sure_of(make_mind: MakeMind) -> None:
    model = SpokenModel(["Episodic, of course."])
    answer = await make_mind(completer=model).ask(UNSURE, timeout=20)
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
    assert model.asked[0].timeout == 5  # a quarter of the time


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("I cannot say.", "routed by rules alone: the language model named no store"),
        ("episodic or semantic", "routed by rules alone: the language model named no store"),
        (unavailable(Reason.TIMEOUT, "it sleeps", hint="wake it"), "routed by rules alone: it sleeps"),
    ],
)
async def test_062_without_its_word_the_rules_stand(make_mind: MakeMind, said: str | Exception, note: str) -> None:
    answer = await make_mind(completer=SpokenModel([said])).ask(UNSURE)
    assert (answer.decision.primary, answer.decision.decided_by) == (StoreName.SEMANTIC, "rules")
    assert answer.synthesis.notes == (NOTHING_FITS, note)


async def test_064_a_language_model_is_not_waited_for_when_the_time_is_up(make_mind: MakeMind) -> None:
    mind = make_mind(completer=SpokenModel([]), embedder=HungEmbedder())
    item = await mind.have_in_mind("Build number 4711", importance=0.1)
    answer = await mind.ask("What is the build number?", timeout=0.2)
    assert (told(answer), answer.synthesis.method) == ([item], Method.EXTRACTIVE)
    assert answer.synthesis.notes == (
        "written without the language model: no time was left for it",
        "episodic memory: it did not answer in time",
    )
