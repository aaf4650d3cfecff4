"""What a client is told when it begins (feature 94)."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Kind
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.briefing import Briefing, KnownSession, Recap, shortened
from scrubjay.features.sessions.models import ClientCall, SessionStatus, ToolCall
from scrubjay.features.sessions.service import SessionService
from scrubjay.features.tasks.models import Goal, Task
from tests.contracts.samples import NOW, ManualClock, write

NOTHING = Recap(sessions=(), last_activity=None, tasks=[], goals=[], text="")


@dataclass
class House:
    store: SqliteStore
    sessions: SessionService
    briefing: Briefing
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
        await self.store.sessions.keep([ClientCall(client, call)] * times, project.id)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    clock = ManualClock()
    store = await SqliteStore.open(tmp_path / "home", clock=clock)

    async def write_noted() -> None:
        pass

    sessions = SessionService(store.sessions, write_noted)
    apollo = await store.projects.ensure("/code/apollo", None)
    gemini = await store.projects.ensure("/code/gemini", None)
    briefing = Briefing(sessions, store.memories, store.tasks, store.goals, clock=clock)
    yield House(store, sessions, briefing, clock, apollo, gemini)
    await store.close()


async def test_094_in_a_new_project_nothing_is_told_but_where_it_is(house: House) -> None:
    session, _ = await house.sessions.start(house.apollo, "ada", None)
    brief = await house.briefing.brief(house.apollo, session, 1000)
    assert (brief.recap, brief.preferences, brief.memories) == (NOTHING, [], [])
    assert brief.text == "Project: apollo (/code/apollo)"
    assert (brief.tokens, brief.left_out) == (8, 0)
    assert await house.briefing.recap(house.apollo, "ada", 1000) == NOTHING
    assert await house.briefing.recap(None, "ada", 1000) == NOTHING


async def test_094_a_recap_tells_three_tasks_and_three_goals_as_far_as_they_fit(house: House) -> None:
    for number in range(4):
        made: dict[str, Any] = {"project_id": house.apollo.id, "created_at": NOW, "updated_at": NOW}
        await house.store.tasks.add(Task(id=f"task_{number}", title=f"Task\n{number}", **made))
        await house.store.goals.add(Goal(id=f"goal_{number}", title=f"Goal {number}", given_progress=5, **made))
    recap = await house.briefing.recap(house.apollo, "ada", 1000)
    assert recap.text.splitlines() == [
        "Pending tasks:",
        *(f"- Task {number} (medium, pending, task_{number})" for number in range(3)),
        "Active goals:",
        *(f"- Goal {number} (medium, planning, 5 %, goal_{number})" for number in range(3)),
    ]
    assert [task.id for task in recap.tasks] == ["task_0", "task_1", "task_2"]
    assert [goal.id for goal in recap.goals] == ["goal_0", "goal_1", "goal_2"]
    assert await house.briefing.recap(house.gemini, "ada", 1000) == NOTHING
    assert await house.briefing.recap(house.apollo, "ada", 1000, with_plans=False) == NOTHING
    brief = await house.briefing.recap(house.apollo, "ada", 30)
    assert (len(brief.tasks), len(brief.goals)) == (2, 0)


async def test_094_a_brief_tells_sessions_preferences_and_memories_of_this_project_alone(house: House) -> None:
    for client, session_id, tools in (
        ("bob", "oldest", {"recall": 1}),
        ("bob", "old", {"recall": 1}),
        ("ada", "summed-up", {"remember": 1}),
        ("bob", "counted", {"recall": 7, "remember": 3, "forget": 2, "health_check": 1}),
    ):
        await house.sessions.start(house.apollo, client, session_id)
        for tool, times in tools.items():
            await house.call(tool, times, client=client, project=house.apollo)
        house.clock.advance(3600)
    await house.sessions.start(house.gemini, "carl", "elsewhere")
    await house.call("remember", client="carl", project=house.gemini)
    await house.remember(
        "We moved login\nto tokens.", house.apollo, kind=Kind.SUMMARY, key="summary:summed-up", session_id="summed-up"
    )
    await house.remember("Elsewhere it was cold.", house.gemini, kind=Kind.SUMMARY, key="summary:counted")
    private: dict[str, Any] = {"scope": Scope.SESSION, "session_id": "old", "key": "summary:old"}
    await house.remember("It was private.", house.apollo, kind=Kind.SUMMARY, **private)
    tabs = await house.remember("Use tabs.", house.apollo, kind=Kind.PREFERENCE, category="style")
    short = await house.remember("Answer briefly.", kind=Kind.PREFERENCE)
    await house.remember("Use spaces.", house.gemini, kind=Kind.PREFERENCE)
    facts = [await house.remember(f"Fact {number}.", house.apollo) for number in range(5)]
    long = await house.remember("A long decision " * 20, house.apollo, kind=Kind.DECISION, category="decision")
    await house.remember("Hello? Yes.", house.apollo, kind=Kind.TURN)
    await house.remember("A secret of the other project.", house.gemini)
    house.clock.advance(86_400)
    session, _ = await house.sessions.start(house.apollo, "ada", "now")

    brief = await house.briefing.brief(house.apollo, session, 1000)

    known = {known.session.id: known for known in brief.recap.sessions}
    assert list(known) == ["counted", "summed-up", "old"]
    summed_up = await house.sessions.get(house.apollo.id, "summed-up", None)
    assert (await house.briefing.known(known["old"].session)).summary == "It was private."
    assert known["summed-up"] == KnownSession(summed_up, SessionStatus.CLOSED, "We moved login\nto tokens.")
    assert [memory.id for memory in brief.preferences] == [short, tabs]
    assert [memory.id for memory in brief.memories] == [long, *reversed(facts[1:])]
    assert brief.recap.last_activity == NOW + timedelta(hours=3)
    assert brief.text.splitlines() == [
        "Project: apollo (/code/apollo)",
        "Welcome back to apollo. The last session here was active 1 day ago.",
        "Recent sessions:",
        "- counted, 2026-03-01 15:30 UTC: 13 tool calls (recall 7, remember 3, forget 2)",
        "- summed-up, 2026-03-01 14:30 UTC: We moved login to tokens.",
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
    assert brief.recap.text.splitlines() == brief.text.splitlines()[1:6]
    assert brief.left_out == 0
    assert brief.tokens == sum(-(-len(line) // 4) for line in brief.text.splitlines())
    assert await house.briefing.recap(house.apollo, "ada", 1000) == brief.recap


async def test_094_a_brief_keeps_to_its_budget_and_says_what_it_left_out(house: House) -> None:
    await house.remember("One " * 40, house.apollo, kind=Kind.PREFERENCE)
    short = await house.remember("Two.", house.apollo, kind=Kind.PREFERENCE)
    await house.remember("Three " * 40, house.apollo, kind=Kind.PREFERENCE)
    session, _ = await house.sessions.start(house.apollo, "ada", None)
    brief = await house.briefing.brief(house.apollo, session, 50)
    assert [memory.id for memory in brief.preferences] == [short]
    assert brief.text.splitlines() == ["Project: apollo (/code/apollo)", "Preferences:", "- Two."]
    assert brief.left_out == 2
    assert brief.tokens <= 50
    assert len((await house.briefing.brief(house.apollo, session, 500)).preferences) == 3


async def test_094_what_is_private_to_another_session_and_what_is_true_no_more_is_not_told(house: House) -> None:
    await house.remember("Private.", house.apollo, scope=Scope.SESSION, session_id="other")
    own = await house.remember("My own.", house.apollo, scope=Scope.SESSION, session_id="mine")
    await house.remember("Was true.", house.apollo, superseded_by=own)
    session, _ = await house.sessions.start(house.apollo, "ada", "mine")
    brief = await house.briefing.brief(house.apollo, session, 1000)
    assert [memory.id for memory in brief.memories] == [own]


async def test_094_a_session_of_which_nothing_is_known_is_told_without_a_note(house: House) -> None:
    await house.sessions.start(house.apollo, "bob", "silent")
    recap = await house.briefing.recap(house.apollo, "ada", 1000)
    assert [known.note for known in recap.sessions] == [None]
    assert recap.text.splitlines() == [
        "Welcome back to apollo. The last session here was active just now.",
        "Recent sessions:",
        "- silent, 2026-03-01 12:30 UTC",
    ]


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=400), "400 days ago"),
    ],
)
async def test_094_how_long_ago_is_said_in_words(house: House, passed: timedelta, said: str) -> None:
    await house.sessions.start(house.apollo, "bob", "silent")
    house.clock.now += passed
    assert f"active {said}." in (await house.briefing.recap(house.apollo, "ada", 1000)).text


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\n b\t c", "a b c"), ("ö" * 10, "ö" * 10), ("ö" * 11, "ö" * 9 + "…"), ("ab cd ef gh ij", "ab cd ef…")],
)
def test_a_text_is_shortened_to_a_line(text: str, line: str) -> None:
    assert shortened(text, 10) == line
