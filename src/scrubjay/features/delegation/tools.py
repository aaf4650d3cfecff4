"""Tools that give tasks to a coding agent on the server's machine."""

import logging
from datetime import datetime
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from scrubjay.core.errors import NotFound
from scrubjay.features.delegation.service import AgentInstance, DelegationService
from scrubjay.features.projects.arguments import ProjectReference
from scrubjay.features.projects.models import Project
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.security_events import security_event

MAX_TASK = 20_000
RequestT = TypeVar("RequestT", bound=Request)


def _without_control_characters(text: str) -> str:
    """Refuse control characters: the task is typed on a terminal, where they act as keys such as Ctrl-C."""
    if any(not character.isprintable() and character not in "\n\r\t" for character in text):
        raise ValueError("a task must not contain control characters")
    return text


TaskText = Annotated[
    str, Field(min_length=1, max_length=MAX_TASK, pattern=r"\S"), AfterValidator(_without_control_characters)
]
InstanceId = Annotated[str, Field(min_length=1, max_length=100)]


class InstanceView(Result):
    """A coding agent on its terminal."""

    instance_id: str
    project: str = Field(description="Folder in which the agent works.")
    pid: int
    running: bool
    exit_status: int | None = Field(description="null while the agent runs.")
    started_at: datetime
    tasks: int = Field(description="Number of tasks given to the agent.")
    output: str = Field(
        description="The last 64 KiB of terminal output, with escape sequences and with secrets masked."
    )


class ClaudeTaskRequest(Request):
    model_config = examples({"task": "Run the tests and fix what fails."})

    task: TaskText = Field(description="The task in words; typed into the agent's terminal as one line.")
    project: ProjectReference = None


class ClaudeTaskResult(Result):
    instance_id: str
    spawned: bool = Field(description="True if the agent was started for this task; false if it was running.")
    project: str = Field(description="Folder in which the agent works.")
    pid: int
    message: str = Field(description="The result as a sentence.")


class ClaudeCloseRequest(Request):
    model_config = examples({}, {"instance_id": "agent_01jd8x4v9q2m5n7p3r6s8t0w1y"})

    instance_id: InstanceId | None = Field(default=None, description="Agent to end; default: the project's agent.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        return _refuse_both(self, self.instance_id, self.project)


class ClaudeCloseResult(Result):
    instance_id: str
    closed: bool
    exit_status: int | None
    message: str


class ClaudeStatusRequest(Request):
    model_config = examples({})

    instance_id: InstanceId | None = Field(default=None, description="Agent to show; default: the project's agent.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        return _refuse_both(self, self.instance_id, self.project)


class ClaudeStatusResult(Result):
    running: bool = Field(description="True if the requested agent runs.")
    instance: InstanceView | None = Field(description="The requested agent; null if the project has none.")
    instances: list[InstanceView] = Field(description="All running agents of the caller.")
    message: str = Field(description="The result as a sentence.")


# Tasks and output are private to the caller, so they stay out of the call history.
@tool("terminal", destructive=True, core=False, log_payload=False, open_world=True)
async def claude_task(
    request: ClaudeTaskRequest, agents: DelegationService, projects: ProjectService, context: CallContext
) -> ClaudeTaskResult:
    """Give a task to the coding agent of a project, and start the agent if it does not run.

    Returns when the task is typed; the agent works on by itself. Its output is sent to /ws as terminal_output and shown
    by claude_status. The agent has all rights of the server's user, so the owner decides who may use it.
    """
    project = await _project(request.project, projects, context)
    done = await agents.delegate(request.task, project, context.caller, context.surface)
    instance = done.instance
    if done.spawned:
        _log_start(instance, context)
    return ClaudeTaskResult(
        instance_id=instance.id,
        spawned=done.spawned,
        project=instance.project.path,
        pid=instance.pid,
        message=f"Task given to {'a new agent' if done.spawned else 'the running agent'} in {instance.project.path}",
    )


@tool("terminal", destructive=True, core=False, log_payload=False)
async def claude_close(
    request: ClaudeCloseRequest, agents: DelegationService, projects: ProjectService, context: CallContext
) -> ClaudeCloseResult:
    """End a coding agent and all processes that it started. Returns when they have ended."""
    if request.instance_id is not None:
        instance = agents.get(request.instance_id, context.caller)
    else:
        instance = agents.running_in(await _project(request.project, projects, context), context.caller)
    if instance is None:
        raise NotFound("no agent runs in this project", hint="call claude_status to list running agents")
    ran = instance.is_running
    await agents.close(instance)
    return ClaudeCloseResult(
        instance_id=instance.id,
        closed=ran,
        exit_status=instance.exit_status,
        message="The agent was ended" if ran else "The agent had already ended",
    )


@tool("terminal", read_only=True, core=False, log_payload=False)
async def claude_status(
    request: ClaudeStatusRequest, agents: DelegationService, projects: ProjectService, context: CallContext
) -> ClaudeStatusResult:
    """Show a project's coding agent with its last output, and all running agents of the caller."""
    if request.instance_id is not None:
        instance = agents.get(request.instance_id, context.caller)
    else:
        instance = agents.running_in(await _project(request.project, projects, context), context.caller)
    running = instance is not None and instance.is_running
    return ClaudeStatusResult(
        running=running,
        instance=None if instance is None else _view(instance),
        instances=[_view(one) for one in agents.running(context.caller)],
        message="The agent is running" if running else "No agent is running in this project",
    )


async def _project(reference: str | None, projects: ProjectService, context: CallContext) -> Project | None:
    if reference is not None:
        return await projects.find(reference, context.working_directory)
    return await projects.active(context.client)


def _log_start(instance: AgentInstance, context: CallContext) -> None:
    security_event(
        "agent_started",
        level=logging.INFO,
        reason=f"pid {instance.pid} in {instance.project.path}",
        tool="claude_task",
        surface=context.surface,
        caller=context.caller.name,
        key_id=context.caller.key_id,
        request_id=context.request_id,
    )


def _refuse_both(request: RequestT, instance_id: str | None, project: str | None) -> RequestT:
    if instance_id is not None and project is not None:
        raise ValueError("give either instance_id or project")
    return request


def _view(instance: AgentInstance) -> InstanceView:
    return InstanceView(
        instance_id=instance.id,
        project=instance.project.path,
        pid=instance.pid,
        running=instance.is_running,
        exit_status=instance.exit_status,
        started_at=instance.started_at,
        tasks=instance.tasks,
        output=instance.output,
    )
