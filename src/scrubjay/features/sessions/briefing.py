"""What a client should know when it begins: the project, what was done there last, what is preferred and remembered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter
from scrubjay.features.memory.recall import tokens_of
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.models import Session, SessionStatus
from scrubjay.features.sessions.service import SessionService
from scrubjay.features.tasks.goal_store import GoalStore
from scrubjay.features.tasks.models import Goal, GoalFilter, Task, TaskFilter
from scrubjay.features.tasks.store import TaskStore

Entry = TypeVar("Entry")

RECENT_SESSIONS = 3
RECENT_MEMORIES = 5
MOST_PREFERENCES = 10
PENDING_TASKS = 3
ACTIVE_GOALS = 3
TOP_TOOLS = 3
# A line is to be taken in at a glance.
SUMMARY_CHARACTERS = 300
PREFERENCE_CHARACTERS = 300
MEMORY_CHARACTERS = 80
PLAN_CHARACTERS = 120
# Neither what is told of sessions, nor what has a place of its own above.
_RECENT_KINDS = (Kind.GENERAL, Kind.DECISION, Kind.CONTEXT, Kind.CORRECTION)


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session with all that is known of it now."""

    session: Session
    status: SessionStatus
    summary: str | None
    """What was summed up of it, if anything was."""

    @property
    def note(self) -> str | None:
        """What was done, as far as it is known."""
        if self.summary is not None:
            return shortened(self.summary, SUMMARY_CHARACTERS)
        if not self.session.calls:
            return None
        top = ", ".join(f"{tool} {calls}" for tool, calls in [*self.session.tools.items()][:TOP_TOOLS])
        return f"{self.session.calls} tool call{'s' if self.session.calls > 1 else ''} ({top})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recap:
    """What was done in a project before, and what is to be done; empty when nothing is known."""

    sessions: Sequence[KnownSession]
    """The one that was active last first."""
    last_activity: datetime | None
    tasks: Sequence[Task] = ()
    """Those that are not completed, the most urgent first."""
    goals: Sequence[Goal] = ()
    """Those that are not finished, the most important first."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a client should know when it begins; the text has exactly what the lists have."""

    recap: Recap
    preferences: Sequence[Memory]
    memories: Sequence[Memory]
    """Those kept last."""
    text: str
    tokens: int
    left_out: int
    """How many sessions, tasks, goals, preferences and memories did not fit into the budget."""


class Briefing:
    """Tells clients what they should know."""

    def __init__(
        self,
        sessions: SessionService,
        memories: MemoryStore,
        tasks: TaskStore,
        goals: GoalStore,
        *,
        clock: Clock = system_clock,
    ) -> None:
        self._sessions = sessions
        self._memories = memories
        self._tasks = tasks
        self._goals = goals
        self._clock = clock

    async def brief(
        self,
        project: Project,
        session: Session,
        token_budget: int,
        *,
        with_memories: bool = True,
        with_plans: bool = True,
    ) -> Brief:
        """What to know of a project in this session, as far as it fits into the budget."""
        page = _Page(token_budget)
        page.write(f"Project: {project.name} ({project.path})")
        recap = await self._recap(page, project.id, project.name, session, with_plans=with_plans)
        visibility = Visibility(project.id, session.id)
        preferred = await self._find(visibility, (Kind.PREFERENCE,), MOST_PREFERENCES) if with_memories else ()
        recent = await self._find(visibility, _RECENT_KINDS, RECENT_MEMORIES) if with_memories else ()
        preferences = page.fill("Preferences:", [(one, _line(one, PREFERENCE_CHARACTERS)) for one in preferred])
        memories = page.fill("Recent memories:", [(one, _line(one, MEMORY_CHARACTERS)) for one in recent])
        return Brief(
            recap=recap,
            preferences=preferences,
            memories=memories,
            text=page.text,
            tokens=page.tokens,
            left_out=page.left_out,
        )

    async def recap(
        self, project: Project | None, client: str | None, token_budget: int, *, with_plans: bool = True
    ) -> Recap:
        """What was done in this project, or outside of any, before the client's own session, and what is to be done."""
        project_id = project.id if project else None
        current = await self._sessions.current(project_id, client)
        page, name = _Page(token_budget), project.name if project else None
        return await self._recap(page, project_id, name, current, with_plans=with_plans)

    async def known(self, session: Session) -> KnownSession:
        """A session that was asked for by its id, with its summary, also when that is private to it."""
        (known,) = await self._known(Visibility(session.project_id, session.id), [session])
        return known

    async def all_known(self, project_id: str | None, sessions: Sequence[Session]) -> Sequence[KnownSession]:
        """Sessions of a project, each with its summary unless that is private."""
        return await self._known(Visibility(project_id), sessions)

    async def _known(self, visibility: Visibility, sessions: Sequence[Session]) -> Sequence[KnownSession]:
        now, summaries = self._clock(), await self._sessions.summaries(visibility, sessions)
        return [KnownSession(session, session.status(now), summaries.get(session.id)) for session in sessions]

    async def _recap(
        self, page: "_Page", project_id: str | None, name: str | None, own: Session | None, *, with_plans: bool
    ) -> Recap:
        began = len(page.lines)
        told, last_activity = await self._past(page, project_id, name, own)
        tasks: list[Task] = []
        goals: list[Goal] = []
        if with_plans:
            visibility = Visibility(project_id)
            open_tasks = (await self._tasks.page(visibility, TaskFilter(), PENDING_TASKS)).tasks
            tasks = page.fill("Pending tasks:", [(one, _task_line(one)) for one in open_tasks])
            active_goals = (await self._goals.page(visibility, GoalFilter(), ACTIVE_GOALS)).goals
            goals = page.fill("Active goals:", [(one, _goal_line(one)) for one in active_goals])
        return Recap(
            sessions=told,
            last_activity=last_activity,
            tasks=tasks,
            goals=goals,
            text="\n".join(page.lines[began:]),
        )

    async def _past(
        self, page: "_Page", project_id: str | None, name: str | None, own: Session | None
    ) -> tuple[Sequence[KnownSession], datetime | None]:
        """The sessions that were written on the page, and when the last one was active."""
        known = await self._sessions.list(project_id, RECENT_SESSIONS + 1)
        others = [session for session in known if own is None or session.id != own.id][:RECENT_SESSIONS]
        if not others:
            return (), None
        last_activity = others[0].last_activity
        where = f" to {name}" if name else ""
        page.write(f"Welcome back{where}. The last session here was active {_ago(self._clock() - last_activity)}.")
        past = await self.all_known(project_id, others)
        return page.fill("Recent sessions:", [(one, _session_line(one)) for one in past]), last_activity

    async def _find(self, visibility: Visibility, kinds: tuple[Kind, ...], limit: int) -> Sequence[Memory]:
        return await self._memories.find(visibility, MemoryFilter(kinds=kinds), limit)


class _Page:
    """Lines within a budget. What does not fit is left out; shorter things behind it may still come."""

    def __init__(self, token_budget: int) -> None:
        self._budget = token_budget
        self.tokens = 0
        self.left_out = 0
        self.lines: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def write(self, *lines: str) -> bool:
        """Write these lines, all or none."""
        tokens = sum(map(tokens_of, lines))
        if self.tokens + tokens > self._budget:
            return False
        self.tokens += tokens
        self.lines.extend(lines)
        return True

    def fill(self, heading: str, entries: Sequence[tuple[Entry, str]]) -> list[Entry]:
        """Write what fits under a heading, which stands there only with something below it; what was written."""
        written: list[Entry] = []
        for entry, line in entries:
            if self.write(line) if written else self.write(heading, line):
                written.append(entry)
            else:
                self.left_out += 1
        return written


def shortened(text: str, characters: int) -> str:
    """The text on one line, or its beginning."""
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def _line(memory: Memory, characters: int) -> str:
    label = f"[{memory.category}] " if memory.category else ""
    return f"- {label}{shortened(memory.content, characters)}"


def _session_line(past: KnownSession) -> str:
    when = past.session.last_activity.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"- {past.session.id}, {when}" + (f": {past.note}" if past.note else "")


def _task_line(task: Task) -> str:
    return f"- {shortened(task.title, PLAN_CHARACTERS)} ({task.priority}, {task.status}, {task.id})"


def _goal_line(goal: Goal) -> str:
    title = shortened(goal.title, PLAN_CHARACTERS)
    return f"- {title} ({goal.priority}, {goal.status}, {goal.progress_percent:g} %, {goal.id})"


def _ago(age: timedelta) -> str:
    for unit, seconds in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        number = int(age.total_seconds() // seconds)
        if number > 0:
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"
