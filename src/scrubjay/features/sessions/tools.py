"""Tools for sessions: start with a briefing, history, recap, end and export."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.features.memory.models import Memory, MemoryKind
from scrubjay.features.memory.views import MemoryView, memory_fields
from scrubjay.features.projects.arguments import ProjectReference
from scrubjay.features.projects.models import Project
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.projects.tools import ProjectView, project_view
from scrubjay.features.sessions.briefing import BriefingService, SessionOverview
from scrubjay.features.sessions.export import SessionExporter
from scrubjay.features.sessions.models import SessionStatus, ToolCall
from scrubjay.features.sessions.redaction import redact_calls
from scrubjay.features.sessions.service import SessionService
from scrubjay.features.summaries.endings import shorten
from scrubjay.features.tasks.models import Goal, GoalPriority, GoalStatus, Task, TaskPriority, TaskStatus
from scrubjay.tooling.arguments import Label, visible_client
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.registry import Registry

# Longer contents are shortened; recall returns them in full.
EXCERPT_CHARACTERS = 500

SessionReference = Annotated[Label | None, Field(description="Session id; default: this client's current session.")]
# Tool families whose scopes allow reading memories, and tasks and goals.
MEMORIES, PLANS = "memory", "planning"


class SessionView(Result):
    """A session of one client in one project."""

    id: str
    project: str | None = Field(description="Id of its project; null without a project.")
    client: str | None = Field(
        description="Last client; null if the protocol does not identify clients. The session id of an MCP "
        "client over HTTP is shown as a digest, because the id itself grants access."
    )
    status: SessionStatus = Field(description="closed if it was ended or idle for 8 hours; else active.")
    summary: str | None = Field(
        description="Summary of the session; null without one, or without the scope memory:read."
    )
    started_at: datetime
    last_activity: datetime
    ended_at: datetime | None = Field(description="When it was ended explicitly; else null.")
    tool_calls: int = Field(description="Number of recorded tool calls.")
    failed_calls: int = Field(description="Number of failed tool calls.")
    top_tools: dict[str, int] = Field(description="Number of calls by tool, most used first.")


class RecentSession(Result):
    """An earlier session in brief."""

    id: str
    last_activity: datetime
    status: SessionStatus
    note: str | None = Field(
        description="Its summary, or its number of calls and most used tools; null if neither is known."
    )


class ToolCallView(Result):
    """One tool call."""

    tool: str
    arguments: dict[str, Any] = Field(description="Arguments with secrets masked; long values are shortened.")
    result: str = Field(description="The first 500 characters of the result as JSON, or the error.")
    success: bool
    milliseconds: float
    called_at: datetime
    erased: bool = Field(
        description="True if arguments and result were erased because they mention a forgotten memory."
    )
    withheld: bool = Field(
        default=False, description="True if they are omitted because your key does not grant access to the tool."
    )


class BriefMemory(Result):
    """A memory in brief."""

    id: str
    kind: MemoryKind
    category: str | None
    content: str = Field(description="Content, shortened if long.")
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


PendingTasks = Annotated[list[BriefTask], Field(description="Open tasks, by descending priority.")]
ActiveGoals = Annotated[list[BriefGoal], Field(description="Unfinished goals, by descending priority.")]


class SessionStartRequest(Request):
    model_config = examples(
        {"project_path": "/home/you/code/apollo"},
        {"project_path": "/home/you/code/apollo", "session_id": "release-2", "token_budget": 500},
    )

    project_path: str = Field(
        min_length=1,
        max_length=4_000,
        description="The project's folder: an absolute path, or one relative to your working directory.",
    )
    name: str | None = Field(
        default=None, min_length=1, max_length=200, description="Project name; default: the folder's name."
    )
    session_id: Label | None = Field(
        default=None,
        description="Session id to start or resume in this project. Default: the client's current session is resumed, "
        "or a new one is started.",
    )
    token_budget: int = Field(
        default=1_000,
        ge=50,
        le=100_000,
        description="Maximum size of the text in tokens of 4 characters. Entries that do not fit are left out.",
    )


class SessionStartResult(Result):
    session: SessionView
    resumed: bool = Field(description="True if an existing session is resumed.")
    active: bool = Field(
        description="True if later calls of this client belong to the session by default. False if the protocol does "
        "not identify clients: then send a Scrubjay-Client header."
    )
    project: ProjectView
    recent_sessions: list[RecentSession] = Field(
        description="Other sessions of this project, most recently active first."
    )
    pending_tasks: PendingTasks
    active_goals: ActiveGoals
    preferences: list[BriefMemory] = Field(description="Preferences that apply here, newest first.")
    recent_memories: list[BriefMemory] = Field(description="Newest memories, without preferences.")
    recap: str = Field(description="Recent work and open tasks of the project; empty if nothing is known.")
    text: str = Field(description="The whole briefing as text within token_budget.")
    tokens: int = Field(description="Size of the text in tokens of 4 characters.")
    left_out: int = Field(
        description="Number of sessions, tasks, goals, preferences and memories that did not fit into token_budget."
    )


class SessionHistoryRequest(Request):
    model_config = examples({"action": "get_history", "limit": 50}, {"action": "list_sessions"})

    action: Literal["list_sessions", "get_history", "current"] = Field(
        description="list_sessions: sessions of the project; get_history: tool calls of one session; current: the "
        "client's current session."
    )
    session_id: SessionReference = None
    limit: int = Field(default=20, ge=1, le=1_000, description="Maximum number of sessions or calls.")
    project: ProjectReference = None


class SessionHistoryResult(Result):
    session: SessionView | None = Field(
        description="The requested session; null for list_sessions, and if the client has no current session."
    )
    sessions: list[SessionView] = Field(description="For list_sessions: most recently active first.")
    history: list[ToolCallView] = Field(description="For get_history: newest call first.")


class GetSessionRecapRequest(Request):
    token_budget: int = Field(
        default=1_000, ge=50, le=100_000, description="Maximum size of the text in tokens of 4 characters."
    )
    project: ProjectReference = None


class GetSessionRecapResult(Result):
    project: ProjectView | None = Field(description="The project; null for sessions without a project.")
    last_activity: datetime | None = Field(description="Time of the last activity; null if there was none.")
    recent_sessions: list[RecentSession] = Field(description="Most recently active first.")
    pending_tasks: PendingTasks
    active_goals: ActiveGoals
    text: str = Field(description="The recap as text for a system prompt; empty if nothing is known.")


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
    """Number of calls of a tool."""

    tool: str
    calls: int


class SessionStats(Result):
    """Statistics of a session."""

    tool_count: int = Field(description="Number of calls.")
    top_tools: list[ToolUse] = Field(description="Most used first.")


class ExportSessionResult(Result):
    session: SessionView
    project: ProjectView | None
    stats: SessionStats
    history: list[ToolCallView] = Field(description="Oldest call first.")
    memories: list[MemoryView] = Field(description="Memories stored in the session, oldest first.")
    complete: bool = Field(
        description="False if the session has more than 10,000 calls or memories; the rest is missing."
    )
    exported_at: datetime


@tool("sessions", idempotent=True, log_result=False, withholds=("memory", "planning"))
async def session_start(
    request: SessionStartRequest,
    projects: ProjectService,
    sessions: SessionService,
    briefing: BriefingService,
    context: CallContext,
) -> SessionStartResult:
    """Start a session in a project and return a briefing. Call it once, before other tools.

    Sets the project, starts or resumes a session of this client, and returns recent sessions, tasks, goals,
    preferences and recent memories, also as one text.
    """
    project = await projects.set(
        request.project_path,
        request.name,
        context.client,
        context.working_directory,
        by_owner=context.caller.has_all_scopes,
    )
    session, resumed = await sessions.start(project, context.client, request.session_id)
    brief = await briefing.create(
        project,
        session,
        request.token_budget,
        with_memories=_reads_memories(context),
        with_plans=_reads_plans(context),
    )
    return SessionStartResult(
        session=_session(await briefing.describe(session, with_summaries=_reads_memories(context))),
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


@tool("sessions", read_only=True, log_result=False, withholds=("memory", "planning"))
async def session_history(
    request: SessionHistoryRequest,
    projects: ProjectService,
    sessions: SessionService,
    briefing: BriefingService,
    registry: Registry,
    context: CallContext,
) -> SessionHistoryResult:
    """Show the sessions of a project, the tool calls of one session, or the current session."""
    project = await _project(request.project, projects, context)
    project_id = project.id if project else None
    if request.action == "list_sessions":
        found = await sessions.list(project_id, request.limit)
        known = [
            _session(known)
            for known in await briefing.describe_all(project_id, found, with_summaries=_reads_memories(context))
        ]
        return SessionHistoryResult(session=None, sessions=known, history=[])
    if request.action == "current":
        current = await sessions.current(project_id, context.client)
        own = _session(await briefing.describe(current, with_summaries=_reads_memories(context))) if current else None
        return SessionHistoryResult(session=own, sessions=[], history=[])
    session = await sessions.get(project_id, request.session_id, context.client)
    calls = redact_calls(
        context.caller, registry, await sessions.calls(session, newest_first=True, limit=request.limit)
    )
    return SessionHistoryResult(
        session=_session(await briefing.describe(session, with_summaries=_reads_memories(context))),
        sessions=[],
        history=[_call(call) for call in calls],
    )


@tool("sessions", read_only=True, log_result=False, withholds=("memory", "planning"))
async def get_session_recap(
    request: GetSessionRecapRequest, projects: ProjectService, briefing: BriefingService, context: CallContext
) -> GetSessionRecapResult:
    """Summarise recent work and open tasks of a project in a few lines, for a system prompt."""
    project = await _project(request.project, projects, context)
    recap = await briefing.recap(
        project,
        context.client,
        request.token_budget,
        with_memories=_reads_memories(context),
        with_plans=_reads_plans(context),
    )
    return GetSessionRecapResult(
        project=project_view(project) if project else None,
        last_activity=recap.last_activity,
        recent_sessions=[_recent(known) for known in recap.sessions],
        pending_tasks=[_brief_task(task) for task in recap.tasks],
        active_goals=[_brief_goal(goal) for goal in recap.goals],
        text=recap.text,
    )


@tool("sessions", idempotent=True, core=False, log_result=False, withholds=("memory", "planning"))
async def end_session(
    request: EndSessionRequest,
    projects: ProjectService,
    sessions: SessionService,
    briefing: BriefingService,
    context: CallContext,
) -> EndSessionResult:
    """End a session; later calls of this client start a new one. session_start can reopen it."""
    project = await _project(request.project, projects, context)
    session = await sessions.get(project.id if project else None, request.session_id, context.client)
    return EndSessionResult(
        session=_session(await briefing.describe(await sessions.end(session), with_summaries=_reads_memories(context)))
    )


@tool("sessions", read_only=True, core=False, log_result=False, withholds=("memory", "planning"))
async def export_session(
    request: ExportSessionRequest,
    projects: ProjectService,
    sessions: SessionService,
    briefing: BriefingService,
    exporter: SessionExporter,
    registry: Registry,
    context: CallContext,
) -> ExportSessionResult:
    """Export a session with its tool calls and the memories stored in it.

    Memories are included only if the key may read them.
    """
    project = await _project(request.project, projects, context)
    session = await sessions.get(project.id if project else None, request.session_id, context.client)
    export = await exporter.export(session, with_memories=_reads_memories(context))
    return ExportSessionResult(
        session=_session(await briefing.describe(session, with_summaries=_reads_memories(context))),
        project=project_view(project) if project else None,
        stats=SessionStats(
            tool_count=session.calls,
            top_tools=[ToolUse(tool=name, calls=calls) for name, calls in session.tools.items()],
        ),
        history=[_call(call) for call in redact_calls(context.caller, registry, export.calls)],
        memories=[MemoryView(**memory_fields(memory)) for memory in export.memories],
        complete=export.complete,
        exported_at=export.exported_at,
    )


def _reads_memories(context: CallContext) -> bool:
    return context.caller.may_read(MEMORIES)


def _reads_plans(context: CallContext) -> bool:
    return context.caller.may_read(PLANS)


async def _project(reference: str | None, projects: ProjectService, context: CallContext) -> Project | None:
    if reference is not None:
        return await projects.find(reference, context.working_directory)
    return await projects.active(context.client)


def _session(known: SessionOverview) -> SessionView:
    session = known.session
    return SessionView(
        id=session.id,
        project=session.project_id,
        client=visible_client(session.client),
        status=known.status,
        summary=known.summary,
        started_at=session.started_at,
        last_activity=session.last_activity,
        ended_at=session.ended_at,
        tool_calls=session.calls,
        failed_calls=session.failed,
        top_tools=dict(session.tools),
    )


def _recent(known: SessionOverview) -> RecentSession:
    session = known.session
    return RecentSession(id=session.id, last_activity=session.last_activity, status=known.status, note=known.note)


def _brief(memory: Memory) -> BriefMemory:
    return BriefMemory(
        id=memory.id,
        kind=memory.kind,
        category=memory.category,
        content=shorten(memory.content, EXCERPT_CHARACTERS),
        recorded_at=memory.recorded_at,
    )


def _brief_task(task: Task) -> BriefTask:
    return BriefTask.model_validate(task, from_attributes=True)


def _brief_goal(goal: Goal) -> BriefGoal:
    return BriefGoal.model_validate(goal, from_attributes=True)


def _call(call: ToolCall) -> ToolCallView:
    return ToolCallView.model_validate(call, from_attributes=True)
