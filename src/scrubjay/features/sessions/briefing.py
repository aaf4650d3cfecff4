"""Compose the briefing of a new session: project, recent sessions, tasks, goals, preferences and recent memories."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.memory.recall import estimate_tokens
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.last_session import SessionEndings
from scrubjay.features.sessions.models import Session, SessionStatus
from scrubjay.features.sessions.service import SessionService
from scrubjay.features.summaries.endings import SessionEnding, shorten
from scrubjay.features.summaries.store import SummaryStore
from scrubjay.features.tasks.goal_store import GoalStore
from scrubjay.features.tasks.models import Goal, GoalFilter, Task, TaskFilter
from scrubjay.features.tasks.store import TaskStore

Entry = TypeVar("Entry")

RECENT_SESSIONS = 3
RECENT_MEMORIES = 5
MAX_PREFERENCES = 10
PENDING_TASKS = 3
ACTIVE_GOALS = 3
TOP_TOOLS = 3
# Limits of one line, so that a briefing stays readable at a glance.
MAX_SUMMARY_CHARACTERS = 300
MAX_PREFERENCE_CHARACTERS = 300
MAX_MEMORY_CHARACTERS = 80
MAX_TITLE_CHARACTERS = 120
# Share of a briefing for the last session, so that tasks, goals and memories fit too.
LAST_SESSION_SHARE = 0.45
# Other kinds are excluded: summaries and turns appear with their sessions, preferences in their own section.
_RECENT_KINDS = (MemoryKind.GENERAL, MemoryKind.DECISION, MemoryKind.CONTEXT, MemoryKind.CORRECTION)

# A summary's title repeats it.
_REQUEST_LINE = re.compile(r"^Request: .*$\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SessionOverview:
    """A session with its current status and its summary."""

    session: Session
    status: SessionStatus
    summary: str | None
    """None when the session was not summarized."""

    @property
    def note(self) -> str | None:
        """The shortened summary, or the number of calls with the most used tools; None when neither is known."""
        if self.summary is not None:
            return shorten(_REQUEST_LINE.sub("", self.summary), MAX_SUMMARY_CHARACTERS)
        if not self.session.calls:
            return None
        top = ", ".join(f"{tool} {calls}" for tool, calls in [*self.session.tools.items()][:TOP_TOOLS])
        return f"{self.session.calls} tool call{'s' if self.session.calls > 1 else ''} ({top})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recap:
    """Recent sessions and open work of a project; empty when nothing is known."""

    sessions: Sequence[SessionOverview]
    """Most recently active first."""
    last_activity: datetime | None
    tasks: Sequence[Task] = ()
    """Open tasks, by descending priority."""
    goals: Sequence[Goal] = ()
    """Unfinished goals, by descending priority."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """The briefing of a client. `text` has exactly the entries of the lists."""

    recap: Recap
    preferences: Sequence[Memory]
    memories: Sequence[Memory]
    """Newest memories of other kinds."""
    text: str
    tokens: int
    left_out: int
    """Number of entries that did not fit into the budget."""


class BriefingService:
    """Composes briefings and recaps."""

    def __init__(
        self,
        sessions: SessionService,
        memories: MemoryStore,
        tasks: TaskStore,
        goals: GoalStore,
        summaries: SummaryStore,
        *,
        clock: Clock = system_clock,
    ) -> None:
        self._sessions = sessions
        self._memories = memories
        self._tasks = tasks
        self._goals = goals
        self._summaries = summaries
        self._endings = SessionEndings(memories)
        self._clock = clock

    async def create(
        self,
        project: Project,
        session: Session,
        token_budget: int,
        *,
        with_memories: bool = True,
        with_plans: bool = True,
    ) -> Briefing:
        """Compose the briefing of a session within `token_budget` tokens of 4 characters."""
        page = _BudgetedText(token_budget)
        page.write(f"Project: {project.name} ({project.path})")
        recap = await self._recap(
            page, project.id, project.name, session, with_memories=with_memories, with_plans=with_plans
        )
        visibility = Visibility(project.id, session.id)
        preferred = await self._find(visibility, (MemoryKind.PREFERENCE,), MAX_PREFERENCES) if with_memories else ()
        recent = await self._find(visibility, _RECENT_KINDS, RECENT_MEMORIES) if with_memories else ()
        preferences = page.fill("Preferences:", [(one, _line(one, MAX_PREFERENCE_CHARACTERS)) for one in preferred])
        memories = page.fill("Recent memories:", [(one, _line(one, MAX_MEMORY_CHARACTERS)) for one in recent])
        return Briefing(
            recap=recap,
            preferences=preferences,
            memories=memories,
            text=page.text,
            tokens=page.tokens,
            left_out=page.left_out,
        )

    async def recap(
        self,
        project: Project | None,
        client: str | None,
        token_budget: int,
        *,
        with_memories: bool = True,
        with_plans: bool = True,
    ) -> Recap:
        """Compose the recap of a project, or of no project, without the client's current session."""
        project_id = project.id if project else None
        current = await self._sessions.current(project_id, client)
        page, name = _BudgetedText(token_budget), project.name if project else None
        return await self._recap(page, project_id, name, current, with_memories=with_memories, with_plans=with_plans)

    async def describe(self, session: Session, *, with_summaries: bool = True) -> SessionOverview:
        """Describe one session with its summary, even if the summary is private to the session."""
        visibility = Visibility(session.project_id, session.id)
        (known,) = await self._describe(visibility, [session], with_summaries=with_summaries)
        return known

    async def describe_all(
        self, project_id: str | None, sessions: Sequence[Session], *, with_summaries: bool = True
    ) -> Sequence[SessionOverview]:
        """Describe sessions of a project; private summaries are left out."""
        return await self._describe(Visibility(project_id), sessions, with_summaries=with_summaries)

    async def _describe(
        self, visibility: Visibility, sessions: Sequence[Session], *, with_summaries: bool
    ) -> Sequence[SessionOverview]:
        now, summaries = self._clock(), await self._sessions.summaries(visibility, sessions if with_summaries else [])
        return [SessionOverview(session, session.status(now), summaries.get(session.id)) for session in sessions]

    async def _recap(
        self,
        page: "_BudgetedText",
        project_id: str | None,
        name: str | None,
        own: Session | None,
        *,
        with_memories: bool,
        with_plans: bool,
    ) -> Recap:
        began = len(page.lines)
        overviews, last_activity = await self._past(page, project_id, name, own, with_summaries=with_memories)
        tasks: list[Task] = []
        goals: list[Goal] = []
        if with_plans:
            visibility = Visibility(project_id)
            open_tasks = (await self._tasks.page(visibility, TaskFilter(), PENDING_TASKS)).tasks
            tasks = page.fill("Pending tasks:", [(one, _task_line(one)) for one in open_tasks])
            active_goals = (await self._goals.page(visibility, GoalFilter(), ACTIVE_GOALS)).goals
            goals = page.fill("Active goals:", [(one, _goal_line(one)) for one in active_goals])
        return Recap(
            sessions=overviews,
            last_activity=last_activity,
            tasks=tasks,
            goals=goals,
            text="\n".join(page.lines[began:]),
        )

    async def _past(
        self,
        page: "_BudgetedText",
        project_id: str | None,
        name: str | None,
        own: Session | None,
        *,
        with_summaries: bool,
    ) -> tuple[Sequence[SessionOverview], datetime | None]:
        """Write how the last session ended, and the recent sessions; return those that fit, and the last activity."""
        others = await self._others(project_id, own, with_turns=with_summaries)
        if not others:
            return (), None
        last_activity = others[0].last_activity
        where = f" to {name}" if name else ""
        page.write(f"Welcome back{where}. The last session here was active {_ago(self._clock() - last_activity)}.")
        last = await self._last_ending(project_id, others) if with_summaries else None
        if last is not None:
            session, ending = last
            title = shorten(ending.title, MAX_TITLE_CHARACTERS)
            page.write(f"Last work ({session.id}, {_time(session)}): {title}")
            for line in ending.lines(round(LAST_SESSION_SHARE * page.characters)):
                page.write(line)
        past = await self.describe_all(project_id, others, with_summaries=with_summaries)
        above = last[0].id if last else None
        entries = [(one, _session_line(one, is_above=one.session.id == above)) for one in past]
        return page.fill("Recent sessions:", entries), last_activity

    async def _others(self, project_id: str | None, own: Session | None, *, with_turns: bool) -> Sequence[Session]:
        """Return the recent sessions but the own one, most recently active first; also those known by turns only."""
        known = {session.id: session for session in await self._sessions.list(project_id, RECENT_SESSIONS + 1)}
        for session_id, last_turn in (
            await self._summaries.latest(project_id, RECENT_SESSIONS + 1) if with_turns else ()
        ):
            if session_id not in known:
                known[session_id] = Session(
                    id=session_id, project_id=project_id, client=None, started_at=last_turn, last_activity=last_turn
                )
        others = [session for session in known.values() if own is None or session.id != own.id]
        return sorted(others, key=lambda session: session.last_activity, reverse=True)[:RECENT_SESSIONS]

    async def _last_ending(
        self, project_id: str | None, sessions: Sequence[Session]
    ) -> tuple[Session, SessionEnding] | None:
        """Return the first of these sessions with content, and how it ended."""
        for session in sessions:
            if (ending := await self._endings.read(Visibility(project_id), session.id)) is not None:
                return session, ending
        return None

    async def _find(self, visibility: Visibility, kinds: tuple[MemoryKind, ...], limit: int) -> Sequence[Memory]:
        return await self._memories.find(visibility, MemoryFilter(kinds=kinds), limit)


class _BudgetedText:
    """Collects lines within a token budget. A line that does not fit is skipped; later, shorter ones may still fit."""

    def __init__(self, token_budget: int) -> None:
        self._budget = token_budget
        self.tokens = 0
        self.left_out = 0
        self.lines: list[str] = []

    @property
    def characters(self) -> int:
        return 4 * self._budget

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def write(self, *lines: str) -> bool:
        """Append all of these lines, or none and return False."""
        tokens = sum(map(estimate_tokens, lines))
        if self.tokens + tokens > self._budget:
            return False
        self.tokens += tokens
        self.lines.extend(lines)
        return True

    def fill(self, heading: str, entries: Sequence[tuple[Entry, str]]) -> list[Entry]:
        """Append a heading and the entries that fit, and return these; no entry, no heading."""
        written: list[Entry] = []
        for entry, line in entries:
            if self.write(line) if written else self.write(heading, line):
                written.append(entry)
            else:
                self.left_out += 1
        return written


def _line(memory: Memory, characters: int) -> str:
    label = f"[{memory.category}] " if memory.category else ""
    return f"- {label}{shorten(memory.content, characters)}"


def _session_line(past: SessionOverview, *, is_above: bool) -> str:
    return f"- {past.session.id}, {_time(past.session)}" + (f": {past.note}" if past.note and not is_above else "")


def _time(session: Session) -> str:
    return session.last_activity.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _task_line(task: Task) -> str:
    return f"- {shorten(task.title, MAX_TITLE_CHARACTERS)} ({task.priority}, {task.status}, {task.id})"


def _goal_line(goal: Goal) -> str:
    title = shorten(goal.title, MAX_TITLE_CHARACTERS)
    return f"- {title} ({goal.priority}, {goal.status}, {goal.progress_percent:g} %, {goal.id})"


def _ago(age: timedelta) -> str:
    for unit, seconds in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        number = int(age.total_seconds() // seconds)
        if number > 0:
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"
