"""The briefing of a session and the recap of a project (feature 94)."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.briefing import BriefingService, Recap, SessionOverview
from scrubjay.features.sessions.models import ClientCall, SessionStatus, ToolCall
from scrubjay.features.sessions.service import SessionService
from scrubjay.features.summaries.endings import shorten
from scrubjay.features.tasks.models import Goal, Task
from tests.contracts.samples import NOW, ManualClock, write

NOTHING = Recap(sessions=(), last_activity=None, tasks=[], goals=[], text="")


@dataclass
class BriefingFixture:
    store: SqliteStore
    sessions: SessionService
    briefing: BriefingService
    clock: ManualClock
    apollo: Project
    gemini: Project

    async def remember(self, content: str, project: Project | None = None, **fields: Any) -> str:
        where: dict[str, Any] = {"scope": Scope.PROJECT, "project_id": project.id} if project else {}
        memory = write(content, **(where | fields))
        await self.store.memories.put([memory])
        return memory.memory.id

    async def call(self, tool: str, times: int = 1, *, client: str, project: Project) -> None:
        call = ToolCall(tool=tool, arguments={}, result="", success=True, milliseconds=0, called_at=self.clock.now)
        await self.store.sessions.add_calls([ClientCall(client, call)] * times, project.id)


@pytest.fixture
async def fixture(tmp_path: Path) -> AsyncGenerator[BriefingFixture]:
    clock = ManualClock()
    store = await SqliteStore.open(tmp_path / "home", clock=clock)

    async def flush() -> None:
        pass

    sessions = SessionService(store.sessions, flush)
    apollo = await store.projects.ensure("/code/apollo", None)
    gemini = await store.projects.ensure("/code/gemini", None)
    briefing = BriefingService(sessions, store.memories, store.tasks, store.goals, store.summaries, clock=clock)
    yield BriefingFixture(store, sessions, briefing, clock, apollo, gemini)
    await store.close()


async def test_094_the_briefing_of_a_new_project_has_only_its_name_and_path(fixture: BriefingFixture) -> None:
    session, _ = await fixture.sessions.start(fixture.apollo, "ada", None)
    brief = await fixture.briefing.create(fixture.apollo, session, 1000)
    assert (brief.recap, brief.preferences, brief.memories) == (NOTHING, [], [])
    assert brief.text == "Project: apollo (/code/apollo)"
    assert (brief.tokens, brief.left_out) == (8, 0)
    assert await fixture.briefing.recap(fixture.apollo, "ada", 1000) == NOTHING
    assert await fixture.briefing.recap(None, "ada", 1000) == NOTHING


async def test_094_a_recap_has_at_most_three_tasks_and_three_goals_that_fit(fixture: BriefingFixture) -> None:
    for number in range(4):
        fields: dict[str, Any] = {"project_id": fixture.apollo.id, "created_at": NOW, "updated_at": NOW}
        await fixture.store.tasks.add(Task(id=f"task_{number}", title=f"Task\n{number}", **fields))
        await fixture.store.goals.add(Goal(id=f"goal_{number}", title=f"Goal {number}", given_progress=5, **fields))
    recap = await fixture.briefing.recap(fixture.apollo, "ada", 1000)
    assert recap.text.splitlines() == [
        "Pending tasks:",
        *(f"- Task {number} (medium, pending, task_{number})" for number in range(3)),
        "Active goals:",
        *(f"- Goal {number} (medium, planning, 5 %, goal_{number})" for number in range(3)),
    ]
    assert [task.id for task in recap.tasks] == ["task_0", "task_1", "task_2"]
    assert [goal.id for goal in recap.goals] == ["goal_0", "goal_1", "goal_2"]
    assert await fixture.briefing.recap(fixture.gemini, "ada", 1000) == NOTHING
    assert await fixture.briefing.recap(fixture.apollo, "ada", 1000, with_plans=False) == NOTHING
    brief = await fixture.briefing.recap(fixture.apollo, "ada", 30)
    assert (len(brief.tasks), len(brief.goals)) == (2, 0)


async def test_094_a_briefing_has_sessions_preferences_and_memories_of_its_project_only(
    fixture: BriefingFixture,
) -> None:
    for client, session_id, tools in (
        ("bob", "oldest", {"recall": 1}),
        ("bob", "old", {"recall": 1}),
        ("ada", "summed-up", {"remember": 1}),
        ("bob", "counted", {"recall": 7, "remember": 3, "forget": 2, "health_check": 1}),
    ):
        await fixture.sessions.start(fixture.apollo, client, session_id)
        for tool, times in tools.items():
            await fixture.call(tool, times, client=client, project=fixture.apollo)
        fixture.clock.advance(3600)
    await fixture.sessions.start(fixture.gemini, "carl", "elsewhere")
    await fixture.call("remember", client="carl", project=fixture.gemini)
    await fixture.remember(
        "We moved login\nto tokens.",
        fixture.apollo,
        kind=MemoryKind.SUMMARY,
        key="summary:summed-up",
        session_id="summed-up",
    )
    await fixture.remember("Elsewhere it was cold.", fixture.gemini, kind=MemoryKind.SUMMARY, key="summary:counted")
    private: dict[str, Any] = {"scope": Scope.SESSION, "session_id": "old", "key": "summary:old"}
    await fixture.remember("It was private.", fixture.apollo, kind=MemoryKind.SUMMARY, **private)
    tabs = await fixture.remember("Use tabs.", fixture.apollo, kind=MemoryKind.PREFERENCE, category="style")
    short = await fixture.remember("Answer briefly.", kind=MemoryKind.PREFERENCE)
    await fixture.remember("Use spaces.", fixture.gemini, kind=MemoryKind.PREFERENCE)
    facts = [await fixture.remember(f"Fact {number}.", fixture.apollo) for number in range(5)]
    long = await fixture.remember(
        "A long decision " * 20, fixture.apollo, kind=MemoryKind.DECISION, category="decision"
    )
    await fixture.remember("Hello? Yes.", fixture.apollo, kind=MemoryKind.TURN)
    await fixture.remember("A secret of the other project.", fixture.gemini)
    fixture.clock.advance(86_400)
    session, _ = await fixture.sessions.start(fixture.apollo, "ada", "now")

    brief = await fixture.briefing.create(fixture.apollo, session, 1000)

    overviews = {overview.session.id: overview for overview in brief.recap.sessions}
    assert list(overviews) == ["counted", "summed-up", "old"]
    summed_up = await fixture.sessions.get(fixture.apollo.id, "summed-up", None)
    assert (await fixture.briefing.describe(overviews["old"].session)).summary == "It was private."
    assert overviews["summed-up"] == SessionOverview(summed_up, SessionStatus.CLOSED, "We moved login\nto tokens.")
    assert [memory.id for memory in brief.preferences] == [short, tabs]
    assert [memory.id for memory in brief.memories] == [long, *reversed(facts[1:])]
    assert brief.recap.last_activity == NOW + timedelta(hours=3)
    assert brief.text.splitlines() == [
        "Project: apollo (/code/apollo)",
        "Welcome back to apollo. The last session here was active 1 day ago.",
        "Last work (summed-up, 2026-03-01 14:30 UTC): We moved login to tokens.",
        "Recent sessions:",
        "- counted, 2026-03-01 15:30 UTC: 13 tool calls (recall 7, remember 3, forget 2)",
        "- summed-up, 2026-03-01 14:30 UTC",
        "- old, 2026-03-01 13:30 UTC: 1 tool call (recall 1)",
        "Preferences:",
        "- Answer briefly.",
        "- [style] Use tabs.",
        "Recent memories:",
        "- [decision] A long decision A long decision A long decision A long decision A long decision…",
        "- Fact 4.",
        "- Fact 3.",
        "- Fact 2.",
        "- Fact 1.",
    ]
    assert brief.recap.text.splitlines() == brief.text.splitlines()[1:7]
    assert brief.left_out == 0
    assert brief.tokens == sum(-(-len(line) // 4) for line in brief.text.splitlines())
    assert await fixture.briefing.recap(fixture.apollo, "ada", 1000) == brief.recap


async def test_094_a_briefing_keeps_to_its_budget_and_counts_omitted_entries(fixture: BriefingFixture) -> None:
    await fixture.remember("One " * 40, fixture.apollo, kind=MemoryKind.PREFERENCE)
    short = await fixture.remember("Two.", fixture.apollo, kind=MemoryKind.PREFERENCE)
    await fixture.remember("Three " * 40, fixture.apollo, kind=MemoryKind.PREFERENCE)
    session, _ = await fixture.sessions.start(fixture.apollo, "ada", None)
    brief = await fixture.briefing.create(fixture.apollo, session, 50)
    assert [memory.id for memory in brief.preferences] == [short]
    assert brief.text.splitlines() == ["Project: apollo (/code/apollo)", "Preferences:", "- Two."]
    assert brief.left_out == 2
    assert brief.tokens <= 50
    assert len((await fixture.briefing.create(fixture.apollo, session, 500)).preferences) == 3


async def test_094_private_memories_of_other_sessions_and_superseded_ones_are_left_out(
    fixture: BriefingFixture,
) -> None:
    await fixture.remember("Private.", fixture.apollo, scope=Scope.SESSION, session_id="other")
    own = await fixture.remember("My own.", fixture.apollo, scope=Scope.SESSION, session_id="mine")
    await fixture.remember("Was true.", fixture.apollo, superseded_by=own)
    session, _ = await fixture.sessions.start(fixture.apollo, "ada", "mine")
    brief = await fixture.briefing.create(fixture.apollo, session, 1000)
    assert [memory.id for memory in brief.memories] == [own]


async def test_094_a_session_without_calls_and_summary_has_no_note(fixture: BriefingFixture) -> None:
    await fixture.sessions.start(fixture.apollo, "bob", "silent")
    recap = await fixture.briefing.recap(fixture.apollo, "ada", 1000)
    assert [overview.note for overview in recap.sessions] == [None]
    assert recap.text.splitlines() == [
        "Welcome back to apollo. The last session here was active just now.",
        "Recent sessions:",
        "- silent, 2026-03-01 12:30 UTC",
    ]


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=400), "400 days ago"),
    ],
)
async def test_094_the_time_of_the_last_activity_is_given_in_words(
    fixture: BriefingFixture, passed: timedelta, expected: str
) -> None:
    await fixture.sessions.start(fixture.apollo, "bob", "silent")
    fixture.clock.now += passed
    assert f"active {expected}." in (await fixture.briefing.recap(fixture.apollo, "ada", 1000)).text


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\n b\t c", "a b c"), ("ö" * 10, "ö" * 10), ("ö" * 11, "ö" * 9 + "…"), ("ab cd ef gh ij", "ab cd ef…")],
)
def test_a_text_is_shortened_to_a_line(text: str, line: str) -> None:
    assert shorten(text, 10) == line
