"""Summaries of sessions, days and weeks: with a language model, without one, and when it fails."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Cancelled, InvalidRequest, NotFound, ScrubjayError
from scrubjay.core.progress import SilentReporter
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.memory.recall import RecallOptions
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.summaries.llm_summaries import LlmSummariser
from scrubjay.features.summaries.models import Level, SummaryCategory
from scrubjay.features.summaries.service import FIRST_TURNS, LAST_TURNS, Summariser
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.completion import Completion, Prompt, PromptMessage, Usage
from scrubjay.models.failures import FailureReason, unavailable
from scrubjay.models.static_model import StaticEmbedder

QUIET = SilentReporter()
FROM = {"tool": "summarize_sessions"}
HERE = Visibility("prj_here")
# A Wednesday.
START = datetime(2026, 5, 6, 9, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def answer(**changed: Any) -> str:
    values: dict[str, Any] = {
        "title": "The login works again",
        "summary": "The header was split at every colon; now only once.",
        "category": "bugfix",
        "quality": 80,
        "productivity": 90,
        "impact": 70,
        "complexity": 30,
        "technologies": ["Python", "HTTP"],
    }
    return json.dumps({**values, **changed})


@dataclass
class FakeModel:
    """A language model that answers with the result of `respond`; a returned error is raised."""

    respond: Callable[[str], str | ScrubjayError] = lambda prompt: answer()
    requests: list[Sequence[PromptMessage]] = field(default_factory=list[Sequence[PromptMessage]])
    model: str = "fake"

    async def complete(self, prompt: Prompt) -> Completion:
        assert prompt.json_schema is not None
        self.requests.append(prompt.messages)
        response = self.respond(prompt.messages[-1].content)
        if isinstance(response, ScrubjayError):
            raise response
        return Completion(text=response, model="fake-1", usage=Usage())

    async def close(self) -> None:
        return None


class SummaryServices:
    """A store, its memories, and a summariser without a language model and one with it."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.clock = Clock()
        models = ModelRegistry(store.embeddings, EmbeddingChoice(), lambda choice: StaticEmbedder())
        self.memories = MemoryService(store.memories, models, clock=self.clock)
        self.model = FakeModel()
        self.extractive = self.summariser(None)
        self.llm = self.summariser(LlmSummariser(self.model))

    def summariser(self, composer: LlmSummariser | None) -> Summariser:
        return Summariser(self.store.summaries, self.store.memories, self.memories, composer, clock=self.clock)

    async def turn(self, session: str, prompt: str, response: str, **fields: Any) -> Memory:
        draft = Draft(
            content=f"User Prompt: {prompt}\nAgent Thought: \nAgent Response: {response}",
            session_id=session,
            kind=MemoryKind.TURN,
            details={"prompt": prompt, "thought": "", "response": response},
            **fields,
        )
        (outcome,) = await self.memories.remember([draft], "prj_here")
        return outcome.memory

    async def all(self, level: Level = Level.SESSION, visibility: Visibility = HERE) -> Sequence[Memory]:
        return (await self.extractive.page(visibility, level, None, 100, 0))[1]


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[SummaryServices]:
    store = await SqliteStore.open(tmp_path)
    yield SummaryServices(store)
    await store.close()


async def login_session(services: SummaryServices, session: str = "s1", **fields: Any) -> Memory:
    await services.turn(
        session,
        "Can you please fix the login bug? It fails with a colon in the password.",
        "The root cause is that src/auth.py splits the header at every colon. I fixed it. All tests pass.",
        **fields,
    )
    return await services.turn(
        session, "Add a test for it.", "I added tests/test_auth.py with three cases. Done.", **fields
    )


async def test_098_without_a_language_model_a_summary_quotes_the_session(services: SummaryServices) -> None:
    last = await login_session(services)
    await services.memories.remember(
        [Draft(content="We decided to split once because RFC 7617 allows colons.", session_id="s1", importance=0.9)],
        "prj_here",
    )
    result = await services.extractive.summarise_session("s1", HERE, FROM, QUIET)
    (memory,) = result.sessions
    assert (result.periods, result.failed) == ([], [])
    sentences = (
        "The root cause is that src/auth.py splits the header at every colon.",
        "We decided to split once because RFC 7617 allows colons.",
    )
    details = dict(memory.details)
    assert all(sentence in details["summary"] for sentence in sentences)
    evidence = details.pop("evidence")
    assert (evidence["turns"], evidence["facts"], evidence["done"], evidence["endsDone"]) == (2, 1, 2, 1.0)
    assert {name: details.pop(name) for name in ("quality", "productivity", "impact", "complexity")} == {
        "quality": 100,
        "productivity": 100,
        "impact": 22,
        "complexity": 11,
    }
    assert details == {
        "level": 1,
        "title": "Fix the login bug",
        "summary": details["summary"],
        "technologies": ["Python"],
        "method": "extractive",
        "model": None,
        "byRule": [],
        "sessionId": "s1",
        "memoryCount": 3,
        "turns": 2,
        "through": last.id,
        "outcome": {
            "request": ["Can you please fix the login bug?"],
            "decided": ["We decided to split once because RFC 7617 allows colons."],
            "ended": details["outcome"]["ended"],
            "open": [],
            "files": ["src/auth.py", "tests/test_auth.py"],
            "references": [],
        },
    }
    assert (memory.kind, memory.key, memory.category, memory.scope) == (
        MemoryKind.SUMMARY,
        "summary:s1",
        SummaryCategory.BUGFIX,
        Scope.PROJECT,
    )
    assert (memory.session_id, memory.project_id, memory.occurred_at) == ("s1", "prj_here", last.recorded_at)
    assert memory.tags == ("summary-of-session", "Python")
    assert memory.provenance == FROM
    assert memory.content == f"Fix the login bug\n\n{details['summary']}"


async def test_098_a_language_model_writes_the_summary(services: SummaryServices) -> None:
    await login_session(services)
    (memory,) = (await services.llm.summarise_session("s1", HERE, FROM, QUIET)).sessions
    prompt = services.model.requests[0][-1].content
    assert prompt.startswith("<material>\nAsked: Can you please fix the login bug?")
    assert "Answered: I added tests/test_auth.py" in prompt
    details = memory.details
    assert (details["title"], details["method"], details["model"]) == ("The login works again", "llm", "fake-1")
    assert (details["quality"], details["technologies"], details["byRule"], details["evidence"]) == (
        80,
        ["Python", "HTTP"],
        [],
        {},
    )
    assert memory.content == "The login works again\n\nThe header was split at every colon; now only once."


async def test_a_summary_is_found_by_recall_and_by_its_own_search(services: SummaryServices) -> None:
    await login_session(services)
    await services.turn("s2", "Which colours does the logo have?", "The logo is green and white.")
    await services.extractive.summarise_all(HERE, FROM, QUIET)
    found = await services.memories.recall(
        "why did the login fail?",
        HERE,
        MemoryFilter(kinds=(MemoryKind.SUMMARY,)),
        RecallOptions(limit=5, threshold=0.05),
    )
    assert found.hits[0].memory.key == "summary:s1"
    hits = await services.extractive.find("why did the login fail?", HERE, Level.SESSION, None, 10)
    assert hits[0].memory.key == "summary:s1"
    assert all(hit.cosine is not None for hit in hits)
    only = await services.extractive.find("login", HERE, Level.SESSION, SummaryCategory.ANALYSIS, 10)
    assert all(hit.memory.category == "analysis" for hit in only)


async def test_only_sessions_with_new_turns_are_summarised(services: SummaryServices) -> None:
    await login_session(services, "s1")
    first = (await services.extractive.summarise_all(HERE, FROM, QUIET)).sessions
    assert [memory.key for memory in first] == ["summary:s1"]
    assert (await services.extractive.summarise_all(HERE, FROM, QUIET)).sessions == []
    await login_session(services, "s2")
    await services.turn("s1", "And the docs?", "I updated docs/login.md. Done.")
    again = (await services.extractive.summarise_all(HERE, FROM, QUIET)).sessions
    assert [memory.key for memory in again] == ["summary:s2", "summary:s1"]
    assert again[1].id == first[0].id
    assert again[1].details["memoryCount"] == 3
    assert len(await services.all()) == 2


async def test_a_new_summary_replaces_the_previous_one(services: SummaryServices) -> None:
    await login_session(services)
    (first,) = (await services.extractive.summarise_session("s1", HERE, FROM, QUIET)).sessions
    (second,) = (await services.llm.summarise_session("s1", HERE, FROM, QUIET)).sessions
    assert second.id == first.id
    assert [memory.details["method"] for memory in await services.all()] == ["llm"]


async def test_a_failing_session_does_not_stop_the_others(services: SummaryServices) -> None:
    for session in ("s1", "s2", "s3"):
        await login_session(services, session)
    await services.turn("s2", "poison", "poison")
    services.model.respond = lambda prompt: InvalidRequest("too long") if "poison" in prompt else answer()
    result = await services.llm.summarise_all(HERE, FROM, QUIET)
    assert [(memory.key, memory.details["method"]) for memory in result.sessions] == [
        ("summary:s1", "llm"),
        ("summary:s3", "llm"),
        ("summary:s2", "extractive"),
    ]
    fallback = result.sessions[2].details
    assert (fallback["problem"], fallback["tryAgain"], fallback["model"]) == ("too long", 0, None)
    assert (await services.llm.summarise_all(HERE, FROM, QUIET)).sessions == []


async def test_a_summary_that_cannot_be_stored_is_reported_and_does_not_stop_others(
    services: SummaryServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in ("s1", "s2"):
        await login_session(services, session)
    remember = services.memories.remember

    async def fail_for_one(drafts: Sequence[Draft], project_id: str | None, **options: Any) -> Any:
        if drafts[0].key == "summary:s1":
            raise InvalidRequest("it holds a secret", hint="mask it")
        return await remember(drafts, project_id, **options)

    monkeypatch.setattr(services.memories, "remember", fail_for_one)
    result = await services.extractive.summarise_all(HERE, FROM, QUIET)
    assert [memory.key for memory in result.sessions] == ["summary:s2"]
    assert [(failed.name, failed.level, failed.error.message) for failed in result.failed] == [
        ("s1", Level.SESSION, "it holds a secret")
    ]
    with pytest.raises(InvalidRequest, match="it holds a secret"):
        await services.extractive.summarise_session("s1", HERE, FROM, QUIET)


async def test_an_unreachable_model_is_retried_on_the_next_run(services: SummaryServices) -> None:
    await login_session(services)
    services.model.respond = lambda prompt: unavailable(
        FailureReason.UNREACHABLE, "connection refused", hint="start it"
    )
    (memory,) = (await services.llm.summarise_all(HERE, FROM, QUIET)).sessions
    assert (memory.details["method"], memory.details["problem"]) == ("extractive", "connection refused")
    assert (await services.extractive.summarise_all(HERE, FROM, QUIET)).sessions == []
    services.model.respond = lambda prompt: answer()
    (memory,) = (await services.llm.summarise_all(HERE, FROM, QUIET)).sessions
    assert memory.details["method"] == "llm"
    assert "problem" not in memory.details
    assert (await services.llm.summarise_all(HERE, FROM, QUIET)).sessions == []


async def test_an_unknown_session_is_not_found(services: SummaryServices) -> None:
    await login_session(services)
    with pytest.raises(NotFound):
        await services.extractive.summarise_session("s2", HERE, FROM, QUIET)
    with pytest.raises(NotFound):
        await services.extractive.summarise_session("s1", Visibility("prj_other"), FROM, QUIET)


async def test_a_summary_has_the_visibility_of_its_turns(services: SummaryServices) -> None:
    await login_session(services, "s1", scope=Scope.SESSION)
    await login_session(services, "s2")
    assert len((await services.extractive.summarise_all(None, FROM, QUIET)).sessions) == 2
    assert [memory.key for memory in await services.all()] == ["summary:s2"]
    assert [memory.key for memory in await services.all(visibility=Visibility("prj_other", "s1"))] == []
    both = await services.all(visibility=Visibility("prj_here", "s1"))
    assert [(memory.key, memory.scope) for memory in both] == [
        ("summary:s2", Scope.PROJECT),
        ("summary:s1", Scope.SESSION),
    ]


async def test_cancelling_stops_between_two_sessions(services: SummaryServices) -> None:
    for session in ("s1", "s2"):
        await login_session(services, session)

    class CancelAfterFirst:
        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            if done == 1:
                raise Cancelled("stop")

    with pytest.raises(Cancelled):
        await services.extractive.summarise_all(HERE, FROM, CancelAfterFirst())
    assert [memory.key for memory in await services.all()] == ["summary:s1"]


async def test_automatic_runs_skip_sessions_that_are_still_active(services: SummaryServices) -> None:
    await login_session(services)
    assert (await services.extractive.summarise_all(None, FROM, QUIET, only_ended=True)).sessions == []
    services.clock.now += timedelta(minutes=11)
    assert len((await services.extractive.summarise_all(None, FROM, QUIET, only_ended=True)).sessions) == 1


async def test_only_the_first_and_last_turns_of_a_very_long_session_are_read(services: SummaryServices) -> None:
    count = FIRST_TURNS + LAST_TURNS + 10
    drafts = [
        Draft(
            content=f"turn {number}",
            session_id="long",
            kind=MemoryKind.TURN,
            details={"prompt": f"Please do step {number} now.", "thought": "", "response": f"Step {number} is done."},
        )
        for number in range(count)
    ]
    await services.memories.remember(drafts, "prj_here")
    (memory,) = (await services.extractive.summarise_session("long", HERE, FROM, QUIET)).sessions
    assert (memory.details["memoryCount"], memory.details["evidence"]["turns"]) == (count, FIRST_TURNS + LAST_TURNS)
    assert (await services.extractive.summarise_all(HERE, FROM, QUIET)).sessions == []


async def test_turns_stored_as_plain_text_are_read_by_speaker(services: SummaryServices) -> None:
    await services.memories.remember(
        [
            Draft(content="Please rename the parser module.", session_id="s", kind=MemoryKind.TURN, speaker="user"),
            Draft(content="I renamed it to reader.py.", session_id="s", kind=MemoryKind.TURN, speaker="assistant"),
        ],
        "prj_here",
    )
    (memory,) = (await services.extractive.summarise_session("s", HERE, FROM, QUIET)).sessions
    assert memory.details["title"] == "Rename the parser module"
    assert "I renamed it to reader.py." in memory.details["summary"]


async def test_a_session_without_prose_has_a_title_and_a_text(services: SummaryServices) -> None:
    await services.turn("s", "", "")
    (memory,) = (await services.extractive.summarise_session("s", HERE, FROM, QUIET)).sessions
    assert (memory.details["title"], memory.content) == ("Session s", "Session s")


# -- days and weeks --------------------------------------------------------------------------------


async def test_057_finished_days_are_summarised_from_sessions_and_weeks_from_days(services: SummaryServices) -> None:
    await login_session(services, "s1")
    await services.turn("s2", "Explain the cache.", "The cache keeps the last 100 answers in src/cache.ts.")
    today = await services.extractive.summarise_all(HERE, FROM, QUIET)
    assert (len(today.sessions), today.periods) == (2, [])
    services.clock.now += timedelta(days=1)
    await login_session(services, "s3")
    tomorrow = await services.extractive.summarise_all(HERE, FROM, QUIET)
    (day,) = tomorrow.periods
    assert len(tomorrow.sessions) == 1
    assert (day.key, day.session_id, day.tags[0]) == ("summary-day:2026-05-06", None, "summary-of-day")
    assert (day.details["level"], day.details["period"], day.details["memoryCount"]) == (2, "2026-05-06", 3)
    assert day.provenance == {**FROM, "from": [memory.id for memory in today.sessions]}
    assert day.occurred_at == datetime(2026, 5, 6, 23, 59, 59, tzinfo=UTC)
    assert "src/auth.py" in day.content
    assert "src/cache.ts" in day.content

    services.clock.now = datetime(2026, 5, 11, 8, tzinfo=UTC)  # Monday
    monday = await services.extractive.summarise_all(HERE, FROM, QUIET)
    assert [memory.key for memory in monday.periods] == ["summary-day:2026-05-07", "summary-week:2026-W19"]
    week = monday.periods[1]
    assert (week.details["level"], week.details["memoryCount"]) == (3, 5)
    assert week.provenance["from"] == [day.id, monday.periods[0].id]
    # The sources of the summaries are kept.
    assert [len(await services.all(level)) for level in Level] == [3, 2, 1]
    turns = await services.memories.page(
        HERE, MemoryFilter(kinds=(MemoryKind.TURN,)), newest_first=True, limit=1, offset=0
    )
    assert turns.total == 5
    assert (await services.extractive.summarise_all(HERE, FROM, QUIET)).periods == []


async def test_a_day_summary_is_updated_with_its_sessions(services: SummaryServices) -> None:
    last = await login_session(services)
    await services.extractive.summarise_all(HERE, FROM, QUIET)
    services.clock.now += timedelta(days=1)
    (day,) = (await services.extractive.summarise_all(HERE, FROM, QUIET)).periods
    late = await services.turn("s1", "One more?", "I also fixed src/late.rs.", occurred_at=last.recorded_at)
    (again,) = (await services.extractive.summarise_all(HERE, FROM, QUIET)).periods
    assert (again.id, again.details["memoryCount"]) == (day.id, 3)
    assert late.id in (await services.all())[0].details["through"]


async def test_the_prompt_of_a_day_summary_lists_its_sessions(services: SummaryServices) -> None:
    await login_session(services)
    await services.llm.summarise_all(HERE, FROM, QUIET)
    services.clock.now += timedelta(days=1)
    (day,) = (await services.llm.summarise_all(HERE, FROM, QUIET)).periods
    assert day.details["method"] == "llm"
    assert "one day" in services.model.requests[-1][0].content
    assert "## The login works again\n(bugfix; 2 memories)" in services.model.requests[-1][-1].content


# -- erasing ---------------------------------------------------------------------------------------


async def test_100_deleting_all_summaries_keeps_turns_and_other_projects(services: SummaryServices) -> None:
    await login_session(services, "s1")
    await services.extractive.summarise_all(HERE, FROM, QUIET)
    await services.turn("s1", "More?", "No more.")
    await services.extractive.summarise_all(HERE, FROM, QUIET)  # the earlier version is kept as history
    await services.memories.remember(
        [Draft(content="a turn", session_id="s9", kind=MemoryKind.TURN, details={"prompt": "Build it."})], "prj_other"
    )
    await services.extractive.summarise_all(None, FROM, QUIET)
    assert await services.extractive.delete_all(HERE) == 1
    assert await services.all() == []
    assert len(await services.all(visibility=Visibility("prj_other"))) == 1
    assert await services.extractive.delete_all(HERE) == 0
    turns = await services.memories.page(
        HERE, MemoryFilter(kinds=(MemoryKind.TURN,)), newest_first=True, limit=9, offset=0
    )
    assert turns.total == 3
    kinds = [memory.kind for memory in await services.store.memories.scan(None, 100) if memory.project_id == "prj_here"]
    assert kinds == [MemoryKind.TURN] * 3
