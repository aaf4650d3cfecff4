"""Sessions: what to know when one begins, what was done in it, and taking it along."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.features.memory.models import Kind, Memory
from scrubjay.features.memory.views import MemoryView, memory_fields
from scrubjay.features.projects.arguments import ProjectReference
from scrubjay.features.projects.models import Project
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.projects.tools import ProjectView, project_view
from scrubjay.features.sessions.briefing import Briefing, KnownSession, shortened
from scrubjay.features.sessions.export import SessionExporter
from scrubjay.features.sessions.models import SessionStatus, ToolCall
from scrubjay.features.sessions.redaction import seen_by
from scrubjay.features.sessions.service import SessionService
from scrubjay.features.tasks.models import Goal, GoalPriority, GoalStatus, Task, TaskPriority, TaskStatus
from scrubjay.tooling.arguments import Label, shown_client
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.registry import Registry

# More of a memory than this is for recall to tell.
EXCERPT_CHARACTERS = 500

SessionReference = Annotated[
    Label | None, Field(description="The session's id; by default the one that this client is in.")
]
# The families of tools whose keys may read memories, and tasks and goals.
MEMORIES, PLANS = "memory", "planning"


class SessionView(Result):
    """A session: what one client did in one project at one time."""

    id: str
    project: str | None = Field(description="The id of its project; null outside of any.")
    client: str | None = Field(
        description="Who was in it last; null when the protocol cannot tell clients apart. The session of an MCP "
        "client over HTTP is told by a digest, because whoever knows it could use it."
    )
    status: SessionStatus = Field(
        description="closed once it was ended, or when nobody was heard of for 8 hours; else active."
    )
    summary: str | None = Field(description="What was summed up of it; null when nothing was.")
    started_at: datetime
    last_activity: datetime
    ended_at: datetime | None = Field(description="When it was ended; null when nobody ended it.")
    tool_calls: int = Field(description="How many calls of tools its history has.")
    failed_calls: int = Field(description="How many of them failed.")
    top_tools: dict[str, int] = Field(description="How often each tool was called, the most used first.")


class RecentSession(Result):
    """A session before this one, in brief."""

    id: str
    last_activity: datetime
    status: SessionStatus
    note: str | None = Field(
        description="Its summary, or how many tools it called and which most; null when neither is known."
    )


class ToolCallView(Result):
    """One call of a tool."""

    tool: str
    arguments: dict[str, Any] = Field(description="Without secrets; of very long ones only the beginning.")
    result: str = Field(description="The first 500 characters of the result as JSON, or what went wrong.")
    success: bool
    milliseconds: float
    called_at: datetime
    erased: bool = Field(
        description="Whether arguments and result were erased, because a memory that they told of was forgotten."
    )
    withheld: bool = Field(
        default=False, description="Whether they are left out because your key does not open the tool."
    )


class BriefMemory(Result):
    """A memory in brief."""

    id: str
    kind: Kind
    category: str | None
    content: str = Field(description="Its content, or the beginning of a long one.")
    recorded_at: datetime


class BriefTask(Result):
    """A task in brief."""

    id: str
    title: str
    status: TaskStatus
    priority: TaskPriority


class BriefGoal(Result):
    """A goal in brief."""

    id: str
    title: str
    status: GoalStatus
    priority: GoalPriority
    progress_percent: float


PendingTasks = Annotated[list[BriefTask], Field(description="What is to be done here, the most urgent first.")]
ActiveGoals = Annotated[list[BriefGoal], Field(description="What is to be reached here, the most important first.")]


class SessionStartRequest(Request):
    model_config = examples(
        {"project_path": "/home/you/code/apollo"},
        {"project_path": "/home/you/code/apollo", "session_id": "release-2", "token_budget": 500},
    )

    project_path: str = Field(
        min_length=1,
        max_length=4_000,
        description="The project's folder: an absolute path, or one relative to where you work on this machine.",
    )
    name: str | None = Field(
        default=None, min_length=1, max_length=200, description="The project's name; by default the folder's."
    )
    session_id: Label | None = Field(
        default=None,
        description="An id of your own, to begin a session or go on with one of this project. By default the one that "
        "this client is in goes on, or a new one begins.",
    )
    token_budget: int = Field(
        default=1_000,
        ge=50,
        le=100_000,
        description="How many tokens the text may take (a token is 4 characters). What does not fit is left out.",
    )


class SessionStartResult(Result):
    session: SessionView
    resumed: bool = Field(description="Whether a session that was there before goes on.")
    active: bool = Field(
        description="Whether later calls of this client belong to the session by themselves. False when the protocol "
        "cannot tell clients apart: then send a Scrubjay-Client header."
    )
    project: ProjectView
    recent_sessions: list[RecentSession] = Field(
        description="Other sessions of this project, the one that was active last first; empty when there are none."
    )
    pending_tasks: PendingTasks
    active_goals: ActiveGoals
    preferences: list[BriefMemory] = Field(description="Preferences that hold here, the one kept last first.")
    recent_memories: list[BriefMemory] = Field(description="What was remembered last, without preferences.")
    recap: str = Field(description="What was done here before and is to be done; empty when nothing is known.")
    text: str = Field(description="All of this as text, within the token_budget.")
    tokens: int = Field(description="How many tokens the text takes, at 4 characters a token.")
    left_out: int = Field(
        description="How many sessions, tasks, goals, preferences and memories did not fit into the token_budget."
    )


class SessionHistoryRequest(Request):
    model_config = examples({"action": "get_history", "limit": 50}, {"action": "list_sessions"})

    action: Literal["list_sessions", "get_history", "current"] = Field(
        description="list_sessions: the sessions of the project; get_history: the calls of one session; current: the "
        "session that this client is in."
    )
    session_id: SessionReference = None
    limit: int = Field(default=20, ge=1, le=1_000, description="How many sessions or calls to return at most.")
    project: ProjectReference = None


class SessionHistoryResult(Result):
    session: SessionView | None = Field(
        description="The session asked for; null for list_sessions, and when this client is in none."
    )
    sessions: list[SessionView] = Field(description="For list_sessions: the one that was active last first.")
    history: list[ToolCallView] = Field(description="For get_history: the last call first.")


class GetSessionRecapRequest(Request):
    token_budget: int = Field(
        default=1_000, ge=50, le=100_000, description="How many tokens the text may take (a token is 4 characters)."
    )
    project: ProjectReference = None


class GetSessionRecapResult(Result):
    project: ProjectView | None = Field(description="The project that it is about; null: what belongs to none.")
    last_activity: datetime | None = Field(description="When somebody was last active here; null when nobody was.")
    recent_sessions: list[RecentSession] = Field(description="The one that was active last first.")
    pending_tasks: PendingTasks
    active_goals: ActiveGoals
    text: str = Field(description="The same as text, for a system prompt; empty when nothing is known.")


class EndSessionRequest(Request):
    session_id: SessionReference = None
    project: ProjectReference = None


class EndSessionResult(Result):
    session: SessionView


class ExportSessionRequest(Request):
    model_config = examples({"session_id": "release-2"})

    session_id: SessionReference = None
    project: ProjectReference = None


class ToolUse(Result):
    """How often a tool was called."""

    tool: str
    calls: int


class SessionStats(Result):
    """What a session comes to in numbers."""

    tool_count: int = Field(description="How many calls there were.")
    top_tools: list[ToolUse] = Field(description="The most used first.")


class ExportSessionResult(Result):
    session: SessionView
    project: ProjectView | None
    stats: SessionStats
    history: list[ToolCallView] = Field(description="The first call first.")
    memories: list[MemoryView] = Field(description="What was remembered in the session, the earliest first.")
    complete: bool = Field(description="False when there are more than 10,000 calls or memories: the rest is missing.")
    exported_at: datetime


@tool("sessions", idempotent=True, quotes=True)
async def session_start(
    request: SessionStartRequest,
    projects: ProjectService,
    sessions: SessionService,
    briefing: Briefing,
    context: CallContext,
) -> SessionStartResult:
    """Begin to work in a project, and learn what to know there: call it once, first of all.

    Sets the project, starts a session for this client or goes on with one, and returns recent sessions, tasks, goals,
    preferences and recent memories, also as one text.
    """
    project = await projects.set(request.project_path, request.name, context.client, context.working_directory)
    session, resumed = await sessions.start(project, context.client, request.session_id)
    brief = await briefing.brief(
        project,
        session,
        request.token_budget,
        with_memories=_reads_memories(context),
        with_plans=_reads_plans(context),
    )
    return SessionStartResult(
        session=_session(await briefing.known(session)),
        resumed=resumed,
        active=context.client is not None,
        project=project_view(project),
        recent_sessions=[_recent(known) for known in brief.recap.sessions],
        pending_tasks=[_brief_task(task) for task in brief.recap.tasks],
        active_goals=[_brief_goal(goal) for goal in brief.recap.goals],
        preferences=[_brief(memory) for memory in brief.preferences],
        recent_memories=[_brief(memory) for memory in brief.memories],
        recap=brief.recap.text,
        text=brief.text,
        tokens=brief.tokens,
        left_out=brief.left_out,
    )


@tool("sessions", read_only=True, quotes=True)
async def session_history(
    request: SessionHistoryRequest,
    projects: ProjectService,
    sessions: SessionService,
    briefing: Briefing,
    registry: Registry,
    context: CallContext,
) -> SessionHistoryResult:
    """Look back: the sessions of a project, every call of a tool made in one of them, or the session you are in."""
    project = await _project(request.project, projects, context)
    project_id = project.id if project else None
    if request.action == "list_sessions":
        found = await sessions.list(project_id, request.limit)
        known = [_session(known) for known in await briefing.all_known(project_id, found)]
        return SessionHistoryResult(session=None, sessions=known, history=[])
    if request.action == "current":
        current = await sessions.current(project_id, context.client)
        own = _session(await briefing.known(current)) if current else None
        return SessionHistoryResult(session=own, sessions=[], history=[])
    session = await sessions.get(project_id, request.session_id, context.client)
    calls = seen_by(context.caller, registry, await sessions.calls(session, newest_first=True, limit=request.limit))
    return SessionHistoryResult(
        session=_session(await briefing.known(session)), sessions=[], history=[_call(call) for call in calls]
    )


@tool("sessions", read_only=True, quotes=True)
async def get_session_recap(
    request: GetSessionRecapRequest, projects: ProjectService, briefing: Briefing, context: CallContext
) -> GetSessionRecapResult:
    """Recall in a few lines what was done in this project before and is to be done, for a system prompt."""
    project = await _project(request.project, projects, context)
    recap = await briefing.recap(project, context.client, request.token_budget, with_plans=_reads_plans(context))
    return GetSessionRecapResult(
        project=project_view(project) if project else None,
        last_activity=recap.last_activity,
        recent_sessions=[_recent(known) for known in recap.sessions],
        pending_tasks=[_brief_task(task) for task in recap.tasks],
        active_goals=[_brief_goal(goal) for goal in recap.goals],
        text=recap.text,
    )


@tool("sessions", idempotent=True, core=False, quotes=True)
async def end_session(
    request: EndSessionRequest,
    projects: ProjectService,
    sessions: SessionService,
    briefing: Briefing,
    context: CallContext,
) -> EndSessionResult:
    """End a session: what this client calls afterwards belongs to a new one. session_start can reopen it."""
    project = await _project(request.project, projects, context)
    session = await sessions.get(project.id if project else None, request.session_id, context.client)
    return EndSessionResult(session=_session(await briefing.known(await sessions.end(session))))


@tool("sessions", read_only=True, core=False, quotes=True)
async def export_session(
    request: ExportSessionRequest,
    projects: ProjectService,
    sessions: SessionService,
    briefing: Briefing,
    exporter: SessionExporter,
    registry: Registry,
    context: CallContext,
) -> ExportSessionResult:
    """Take a session along: what it was, every call of a tool in it, and what was remembered in it.

    A key that does not open memories gets none of them.
    """
    project = await _project(request.project, projects, context)
    session = await sessions.get(project.id if project else None, request.session_id, context.client)
    export = await exporter.export(session, with_memories=_reads_memories(context))
    return ExportSessionResult(
        session=_session(await briefing.known(session)),
        project=project_view(project) if project else None,
        stats=SessionStats(
            tool_count=session.calls,
            top_tools=[ToolUse(tool=name, calls=calls) for name, calls in session.tools.items()],
        ),
        history=[_call(call) for call in seen_by(context.caller, registry, export.calls)],
        memories=[MemoryView(**memory_fields(memory)) for memory in export.memories],
        complete=export.complete,
        exported_at=export.exported_at,
    )


def _reads_memories(context: CallContext) -> bool:
    return context.caller.may_call(MEMORIES, read_only=True)


def _reads_plans(context: CallContext) -> bool:
    return context.caller.may_call(PLANS, read_only=True)


async def _project(reference: str | None, projects: ProjectService, context: CallContext) -> Project | None:
    if reference is not None:
        return await projects.find(reference, context.working_directory)
    return await projects.active(context.client)


def _session(known: KnownSession) -> SessionView:
    session = known.session
    return SessionView(
        id=session.id,
        project=session.project_id,
        client=shown_client(session.client),
        status=known.status,
        summary=known.summary,
        started_at=session.started_at,
        last_activity=session.last_activity,
        ended_at=session.ended_at,
        tool_calls=session.calls,
        failed_calls=session.failed,
        top_tools=dict(session.tools),
    )


def _recent(known: KnownSession) -> RecentSession:
    session = known.session
    return RecentSession(id=session.id, last_activity=session.last_activity, status=known.status, note=known.note)


def _brief(memory: Memory) -> BriefMemory:
    return BriefMemory(
        id=memory.id,
        kind=memory.kind,
        category=memory.category,
        content=shortened(memory.content, EXCERPT_CHARACTERS),
        recorded_at=memory.recorded_at,
    )


def _brief_task(task: Task) -> BriefTask:
    return BriefTask(id=task.id, title=task.title, status=task.status, priority=task.priority)


def _brief_goal(goal: Goal) -> BriefGoal:
    return BriefGoal(
        id=goal.id,
        title=goal.title,
        status=goal.status,
        priority=goal.priority,
        progress_percent=goal.progress_percent,
    )


def _call(call: ToolCall) -> ToolCallView:
    return ToolCallView(
        tool=call.tool,
        arguments=dict(call.arguments),
        result=call.result,
        success=call.success,
        milliseconds=call.milliseconds,
        called_at=call.called_at,
        erased=call.erased,
        withheld=call.withheld,
    )
