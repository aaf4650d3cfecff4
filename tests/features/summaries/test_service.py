"""Sessions, days and weeks are summarised: with a language model, without one, and when it fails."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Cancelled, InvalidRequest, NotFound, ScrubjayError
from scrubjay.core.progress import SilentReporter
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter
from scrubjay.features.memory.recall import Wish
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.features.summaries.llm_summaries import Composer
from scrubjay.features.summaries.models import Level, SummaryCategory
from scrubjay.features.summaries.service import FIRST_TURNS, LAST_TURNS, Summariser
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.completion import Completion, Message, Usage
from scrubjay.models.failures import Reason, unavailable
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
    """A language model that says what it was told to say; a failure is raised."""

    says: Callable[[str], str | ScrubjayError] = lambda told: answer()
    asked: list[Sequence[Message]] = field(default_factory=list[Sequence[Message]])
    model: str = "fake"

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int,
        timeout: float | None = None,
    ) -> Completion:
        assert json_schema is not None
        self.asked.append(messages)
        said = self.says(messages[-1].content)
        if isinstance(said, ScrubjayError):
            raise said
        return Completion(text=said, model="fake-1", usage=Usage())

    async def close(self) -> None:
        return None


class House:
    """A store, its memories, and a summariser without a language model and one with it."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.clock = Clock()
        models = ModelsInUse(store.embeddings, EmbeddingChoice(), lambda choice: StaticEmbedder())
        self.memories = MemoryService(store.memories, models, clock=self.clock)
        self.model = FakeModel()
        self.plain = self.summariser(None)
        self.modern = self.summariser(Composer(self.model))

    def summariser(self, composer: Composer | None) -> Summariser:
        return Summariser(self.store.summaries, self.store.memories, self.memories, composer, clock=self.clock)

    async def turn(self, session: str, prompt: str, response: str, **fields: Any) -> Memory:
        draft = Draft(
            content=f"User Prompt: {prompt}\nAgent Thought: \nAgent Response: {response}",
            session_id=session,
            kind=Kind.TURN,
            details={"prompt": prompt, "thought": "", "response": response},
            **fields,
        )
        (outcome,) = await self.memories.remember([draft], "prj_here")
        return outcome.memory

    async def all(self, level: Level = Level.SESSION, visibility: Visibility = HERE) -> Sequence[Memory]:
        return (await self.plain.page(visibility, level, None, 100, 0))[1]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    store = await SqliteStore.open(tmp_path)
    yield House(store)
    await store.close()


async def login_session(house: House, session: str = "s1", **fields: Any) -> Memory:
    await house.turn(
        session,
        "Can you please fix the login bug? It fails with a colon in the password.",
        "The root cause is that src/auth.py splits the header at every colon. I fixed it. All tests pass.",
        **fields,
    )
    return await house.turn(
        session, "Add a test for it.", "I added tests/test_auth.py with three cases. Done.", **fields
    )


async def test_098_without_a_language_model_a_summary_consists_of_what_was_said(house: House) -> None:
    last = await login_session(house)
    await house.memories.remember(
        [Draft(content="We decided to split once because RFC 7617 allows colons.", session_id="s1", importance=0.9)],
        "prj_here",
    )
    made = await house.plain.summarise_session("s1", HERE, FROM, QUIET)
    (memory,) = made.sessions
    assert (made.periods, made.failed) == ([], [])
    said = (
        "The root cause is that src/auth.py splits the header at every colon.",
        "We decided to split once because RFC 7617 allows colons.",
    )
    details = dict(memory.details)
    assert all(sentence in details["summary"] for sentence in said)
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
    }
    assert (memory.kind, memory.key, memory.category, memory.scope) == (
        Kind.SUMMARY,
        "summary:s1",
        SummaryCategory.BUGFIX,
        Scope.PROJECT,
    )
    assert (memory.session_id, memory.project_id, memory.occurred_at) == ("s1", "prj_here", last.recorded_at)
    assert memory.tags == ("summary-of-session", "Python")
    assert memory.provenance == FROM
    assert memory.content == f"Fix the login bug\n\n{details['summary']}"


async def test_098_with_a_language_model_it_writes_the_summary(house: House) -> None:
    await login_session(house)
    (memory,) = (await house.modern.summarise_session("s1", HERE, FROM, QUIET)).sessions
    told = house.model.asked[0][-1].content
    assert told.startswith("<material>\nAsked: Can you please fix the login bug?")
    assert "Answered: I added tests/test_auth.py" in told
    details = memory.details
    assert (details["title"], details["method"], details["model"]) == ("The login works again", "llm", "fake-1")
    assert (details["quality"], details["technologies"], details["byRule"], details["evidence"]) == (
        80,
        ["Python", "HTTP"],
        [],
        {},
    )
    assert memory.content == "The login works again\n\nThe header was split at every colon; now only once."


async def test_a_summary_is_found_by_recall_and_by_its_own_search(house: House) -> None:
    await login_session(house)
    await house.turn("s2", "Which colours does the logo have?", "The logo is green and white.")
    await house.plain.summarise_all(HERE, FROM, QUIET)
    found = await house.memories.recall(
        "why did the login fail?", HERE, MemoryFilter(kinds=(Kind.SUMMARY,)), Wish(limit=5, threshold=0.05)
    )
    assert found.hits[0].memory.key == "summary:s1"
    hits = await house.plain.find("why did the login fail?", HERE, Level.SESSION, None, 10)
    assert hits[0].memory.key == "summary:s1"
    assert all(hit.cosine is not None for hit in hits)
    only = await house.plain.find("login", HERE, Level.SESSION, SummaryCategory.ANALYSIS, 10)
    assert all(hit.memory.category == "analysis" for hit in only)


async def test_all_sessions_that_lack_a_summary_get_one_and_the_others_keep_theirs(house: House) -> None:
    await login_session(house, "s1")
    first = (await house.plain.summarise_all(HERE, FROM, QUIET)).sessions
    assert [memory.key for memory in first] == ["summary:s1"]
    assert (await house.plain.summarise_all(HERE, FROM, QUIET)).sessions == []
    await login_session(house, "s2")
    await house.turn("s1", "And the docs?", "I updated docs/login.md. Done.")
    again = (await house.plain.summarise_all(HERE, FROM, QUIET)).sessions
    assert [memory.key for memory in again] == ["summary:s2", "summary:s1"]
    assert again[1].id == first[0].id
    assert again[1].details["memoryCount"] == 3
    assert len(await house.all()) == 2


async def test_a_summary_made_again_takes_the_place_of_the_one_before(house: House) -> None:
    await login_session(house)
    (first,) = (await house.plain.summarise_session("s1", HERE, FROM, QUIET)).sessions
    (second,) = (await house.modern.summarise_session("s1", HERE, FROM, QUIET)).sessions
    assert second.id == first.id
    assert [memory.details["method"] for memory in await house.all()] == ["llm"]


async def test_one_session_that_fails_does_not_stop_the_others(house: House) -> None:
    for session in ("s1", "s2", "s3"):
        await login_session(house, session)
    await house.turn("s2", "poison", "poison")
    house.model.says = lambda told: InvalidRequest("too long") if "poison" in told else answer()
    made = await house.modern.summarise_all(HERE, FROM, QUIET)
    assert [(memory.key, memory.details["method"]) for memory in made.sessions] == [
        ("summary:s1", "llm"),
        ("summary:s3", "llm"),
        ("summary:s2", "extractive"),
    ]
    fallback = made.sessions[2].details
    assert (fallback["problem"], fallback["tryAgain"], fallback["model"]) == ("too long", 0, None)
    assert (await house.modern.summarise_all(HERE, FROM, QUIET)).sessions == []


async def test_what_cannot_be_kept_is_reported_and_the_others_go_on(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in ("s1", "s2"):
        await login_session(house, session)
    remember = house.memories.remember

    async def fail_for_one(drafts: Sequence[Draft], project_id: str | None, **options: Any) -> Any:
        if drafts[0].key == "summary:s1":
            raise InvalidRequest("it holds a secret", hint="mask it")
        return await remember(drafts, project_id, **options)

    monkeypatch.setattr(house.memories, "remember", fail_for_one)
    made = await house.plain.summarise_all(HERE, FROM, QUIET)
    assert [memory.key for memory in made.sessions] == ["summary:s2"]
    assert [(failed.name, failed.level, failed.error.message) for failed in made.failed] == [
        ("s1", Level.SESSION, "it holds a secret")
    ]
    with pytest.raises(InvalidRequest, match="it holds a secret"):
        await house.plain.summarise_session("s1", HERE, FROM, QUIET)


async def test_a_model_that_is_down_is_asked_again_the_next_time(house: House) -> None:
    await login_session(house)
    house.model.says = lambda told: unavailable(Reason.UNREACHABLE, "nobody there", hint="start it")
    (memory,) = (await house.modern.summarise_all(HERE, FROM, QUIET)).sessions
    assert (memory.details["method"], memory.details["problem"]) == ("extractive", "nobody there")
    assert (await house.plain.summarise_all(HERE, FROM, QUIET)).sessions == []
    house.model.says = lambda told: answer()
    (memory,) = (await house.modern.summarise_all(HERE, FROM, QUIET)).sessions
    assert memory.details["method"] == "llm"
    assert "problem" not in memory.details
    assert (await house.modern.summarise_all(HERE, FROM, QUIET)).sessions == []


async def test_an_unknown_session_is_not_found(house: House) -> None:
    await login_session(house)
    with pytest.raises(NotFound):
        await house.plain.summarise_session("s2", HERE, FROM, QUIET)
    with pytest.raises(NotFound):
        await house.plain.summarise_session("s1", Visibility("prj_other"), FROM, QUIET)


async def test_a_summary_is_seen_by_those_who_see_what_it_is_made_of(house: House) -> None:
    await login_session(house, "s1", scope=Scope.SESSION)
    await login_session(house, "s2")
    assert len((await house.plain.summarise_all(None, FROM, QUIET)).sessions) == 2
    assert [memory.key for memory in await house.all()] == ["summary:s2"]
    assert [memory.key for memory in await house.all(visibility=Visibility("prj_other", "s1"))] == []
    both = await house.all(visibility=Visibility("prj_here", "s1"))
    assert [(memory.key, memory.scope) for memory in both] == [
        ("summary:s2", Scope.PROJECT),
        ("summary:s1", Scope.SESSION),
    ]


async def test_cancelling_stops_between_two_sessions(house: House) -> None:
    for session in ("s1", "s2"):
        await login_session(house, session)

    class Impatient:
        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            if done == 1:
                raise Cancelled("stop")

    with pytest.raises(Cancelled):
        await house.plain.summarise_all(HERE, FROM, Impatient())
    assert [memory.key for memory in await house.all()] == ["summary:s1"]


async def test_a_session_that_goes_on_is_left_alone_when_nobody_asked(house: House) -> None:
    await login_session(house)
    assert (await house.plain.summarise_all(None, FROM, QUIET, only_settled=True)).sessions == []
    house.clock.now += timedelta(minutes=11)
    assert len((await house.plain.summarise_all(None, FROM, QUIET, only_settled=True)).sessions) == 1


async def test_of_a_very_long_session_the_beginning_and_the_end_are_read(house: House) -> None:
    count = FIRST_TURNS + LAST_TURNS + 10
    drafts = [
        Draft(
            content=f"turn {number}",
            session_id="long",
            kind=Kind.TURN,
            details={"prompt": f"Please do step {number} now.", "thought": "", "response": f"Step {number} is done."},
        )
        for number in range(count)
    ]
    await house.memories.remember(drafts, "prj_here")
    (memory,) = (await house.plain.summarise_session("long", HERE, FROM, QUIET)).sessions
    assert (memory.details["memoryCount"], memory.details["evidence"]["turns"]) == (count, FIRST_TURNS + LAST_TURNS)
    assert (await house.plain.summarise_all(HERE, FROM, QUIET)).sessions == []


async def test_turns_that_were_kept_as_plain_texts_are_read_by_their_speaker(house: House) -> None:
    await house.memories.remember(
        [
            Draft(content="Please rename the parser module.", session_id="s", kind=Kind.TURN, speaker="user"),
            Draft(content="I renamed it to reader.py.", session_id="s", kind=Kind.TURN, speaker="assistant"),
        ],
        "prj_here",
    )
    (memory,) = (await house.plain.summarise_session("s", HERE, FROM, QUIET)).sessions
    assert memory.details["title"] == "Rename the parser module"
    assert "I renamed it to reader.py." in memory.details["summary"]


async def test_a_session_of_code_alone_has_a_title_and_a_text(house: House) -> None:
    await house.turn("s", "", "")
    (memory,) = (await house.plain.summarise_session("s", HERE, FROM, QUIET)).sessions
    assert (memory.details["title"], memory.content) == ("Session s", "Session s")


# -- days and weeks --------------------------------------------------------------------------------


async def test_057_a_day_is_summarised_of_its_sessions_once_it_is_over_and_a_week_of_its_days(house: House) -> None:
    await login_session(house, "s1")
    await house.turn("s2", "Explain the cache.", "The cache keeps the last 100 answers in src/cache.ts.")
    today = await house.plain.summarise_all(HERE, FROM, QUIET)
    assert (len(today.sessions), today.periods) == (2, [])
    house.clock.now += timedelta(days=1)
    await login_session(house, "s3")
    tomorrow = await house.plain.summarise_all(HERE, FROM, QUIET)
    (day,) = tomorrow.periods
    assert len(tomorrow.sessions) == 1
    assert (day.key, day.session_id, day.tags[0]) == ("summary-day:2026-05-06", None, "summary-of-day")
    assert (day.details["level"], day.details["period"], day.details["memoryCount"]) == (2, "2026-05-06", 3)
    assert day.provenance == {**FROM, "from": [memory.id for memory in today.sessions]}
    assert day.occurred_at == datetime(2026, 5, 6, 23, 59, 59, tzinfo=UTC)
    assert "src/auth.py" in day.content
    assert "src/cache.ts" in day.content

    house.clock.now = datetime(2026, 5, 11, 8, tzinfo=UTC)  # Monday
    monday = await house.plain.summarise_all(HERE, FROM, QUIET)
    assert [memory.key for memory in monday.periods] == ["summary-day:2026-05-07", "summary-week:2026-W19"]
    week = monday.periods[1]
    assert (week.details["level"], week.details["memoryCount"]) == (3, 5)
    assert week.provenance["from"] == [day.id, monday.periods[0].id]
    # What they are made of stays.
    assert [len(await house.all(level)) for level in Level] == [3, 2, 1]
    turns = await house.memories.page(HERE, MemoryFilter(kinds=(Kind.TURN,)), newest_first=True, limit=1, offset=0)
    assert turns.total == 5
    assert (await house.plain.summarise_all(HERE, FROM, QUIET)).periods == []


async def test_a_day_is_made_anew_when_one_of_its_sessions_is(house: House) -> None:
    last = await login_session(house)
    await house.plain.summarise_all(HERE, FROM, QUIET)
    house.clock.now += timedelta(days=1)
    (day,) = (await house.plain.summarise_all(HERE, FROM, QUIET)).periods
    late = await house.turn("s1", "One more?", "I also fixed src/late.rs.", occurred_at=last.recorded_at)
    (again,) = (await house.plain.summarise_all(HERE, FROM, QUIET)).periods
    assert (again.id, again.details["memoryCount"]) == (day.id, 3)
    assert late.id in (await house.all())[0].details["through"]


async def test_a_day_by_a_language_model_is_told_its_sessions(house: House) -> None:
    await login_session(house)
    await house.modern.summarise_all(HERE, FROM, QUIET)
    house.clock.now += timedelta(days=1)
    (day,) = (await house.modern.summarise_all(HERE, FROM, QUIET)).periods
    assert day.details["method"] == "llm"
    assert "one day" in house.model.asked[-1][0].content
    assert "## The login works again\n(bugfix; 2 memories)" in house.model.asked[-1][-1].content


# -- erasing ---------------------------------------------------------------------------------------


async def test_100_deleting_all_summaries_leaves_the_turns_and_other_projects_alone(house: House) -> None:
    await login_session(house, "s1")
    await house.plain.summarise_all(HERE, FROM, QUIET)
    await house.turn("s1", "More?", "No more.")
    await house.plain.summarise_all(HERE, FROM, QUIET)  # an earlier version is kept beside it
    await house.memories.remember(
        [Draft(content="a turn", session_id="s9", kind=Kind.TURN, details={"prompt": "Build it."})], "prj_other"
    )
    await house.plain.summarise_all(None, FROM, QUIET)
    assert await house.plain.delete_all(HERE) == 1
    assert await house.all() == []
    assert len(await house.all(visibility=Visibility("prj_other"))) == 1
    assert await house.plain.delete_all(HERE) == 0
    turns = await house.memories.page(HERE, MemoryFilter(kinds=(Kind.TURN,)), newest_first=True, limit=9, offset=0)
    assert turns.total == 3
    kinds = [memory.kind for memory in await house.store.memories.scan(None, 100) if memory.project_id == "prj_here"]
    assert kinds == [Kind.TURN] * 3
