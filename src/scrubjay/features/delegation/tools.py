"""Giving tasks to a coding agent on this machine."""

import logging
from datetime import datetime
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from scrubjay.core.errors import NotFound
from scrubjay.features.delegation.service import CodingAgents, Instance
from scrubjay.features.projects.arguments import ProjectReference
from scrubjay.features.projects.models import Project
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.security_events import security_event

MAX_TASK = 20_000
Chosen = TypeVar("Chosen", bound=Request)


def _typed(text: str) -> str:
    """What a key beside letters would do on a terminal, such as Ctrl-C, is not for a task."""
    if any(not sign.isprintable() and sign not in "\n\r\t" for sign in text):
        raise ValueError("a task has no control characters")
    return text


TaskText = Annotated[str, Field(min_length=1, max_length=MAX_TASK, pattern=r"\S"), AfterValidator(_typed)]
InstanceId = Annotated[str, Field(min_length=1, max_length=100)]


class InstanceView(Result):
    """A coding agent on its terminal."""

    instance_id: str
    project: str = Field(description="The folder that it works in.")
    pid: int
    running: bool
    exit_status: int | None = Field(description="How it ended; null while it runs.")
    started_at: datetime
    tasks: int = Field(description="How many tasks it was given.")
    output: str = Field(description="What it showed last, as a terminal is told it, without secrets.")


class ClaudeTaskRequest(Request):
    model_config = examples({"task": "Run the tests, and mend what fails."})

    task: TaskText = Field(description="What it is to do. It is typed as one line.")
    project: ProjectReference = None


class ClaudeTaskResult(Result):
    instance_id: str
    spawned: bool = Field(description="Whether the agent was started for it; false when it ran already.")
    project: str = Field(description="The folder that it works in.")
    pid: int
    message: str = Field(description="The same in words.")


class ClaudeCloseRequest(Request):
    model_config = examples({}, {"instance_id": "agent_01jd8x4v9q2m5n7p3r6s8t0w1y"})

    instance_id: InstanceId | None = Field(default=None, description="Which one; by default that of the project.")
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

    instance_id: InstanceId | None = Field(default=None, description="Which one; by default that of the project.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        return _refuse_both(self, self.instance_id, self.project)


class ClaudeStatusResult(Result):
    running: bool = Field(description="Whether the agent that was asked for runs.")
    instance: InstanceView | None = Field(description="That agent; null when the project has none.")
    instances: list[InstanceView] = Field(description="All of your agents that run.")
    message: str = Field(description="The same in words.")


# What it is told and shows is nobody else's, and so not in the history of calls.
@tool("terminal", destructive=True, core=False, fleeting=True, open_world=True)
async def claude_task(
    request: ClaudeTaskRequest, agents: CodingAgents, projects: ProjectService, context: CallContext
) -> ClaudeTaskResult:
    """Give a task to the coding agent of a project, which is started on a terminal unless it runs already.

    It goes on by itself: what it shows is told at /ws as terminal_output, and by claude_status. It can do all that the
    server's user may, so the owner decides who may let it work.
    """
    project = await _project(request.project, projects, context)
    done = await agents.delegate(request.task, project, context.caller, context.surface)
    instance = done.instance
    if done.spawned:
        _note_start(instance, context)
    return ClaudeTaskResult(
        instance_id=instance.id,
        spawned=done.spawned,
        project=instance.project.path,
        pid=instance.pid,
        message=f"Task given to {'a new agent' if done.spawned else 'the running agent'} in {instance.project.path}",
    )


@tool("terminal", destructive=True, core=False, fleeting=True)
async def claude_close(
    request: ClaudeCloseRequest, agents: CodingAgents, projects: ProjectService, context: CallContext
) -> ClaudeCloseResult:
    """End a coding agent, with all that it started; when this answers, nothing of it runs."""
    if request.instance_id is not None:
        instance = agents.get(request.instance_id, context.caller)
    else:
        instance = agents.of_project(await _project(request.project, projects, context), context.caller)
    if instance is None:
        raise NotFound("no agent runs in this project", hint="claude_status tells which run")
    ran = instance.is_running
    await agents.close(instance)
    return ClaudeCloseResult(
        instance_id=instance.id,
        closed=ran,
        exit_status=instance.exit_status,
        message="The agent was ended" if ran else "The agent had ended before",
    )


@tool("terminal", read_only=True, core=False, fleeting=True)
async def claude_status(
    request: ClaudeStatusRequest, agents: CodingAgents, projects: ProjectService, context: CallContext
) -> ClaudeStatusResult:
    """Tell whether a project's coding agent runs, what it showed last, and which others of yours run."""
    if request.instance_id is not None:
        instance = agents.get(request.instance_id, context.caller)
    else:
        instance = agents.of_project(await _project(request.project, projects, context), context.caller)
    running = instance is not None and instance.is_running
    return ClaudeStatusResult(
        running=running,
        instance=None if instance is None else _view(instance),
        instances=[_view(one) for one in agents.running(context.caller)],
        message="The agent is running" if running else "No agent is running here",
    )


async def _project(reference: str | None, projects: ProjectService, context: CallContext) -> Project | None:
    if reference is not None:
        return await projects.find(reference, context.working_directory)
    return await projects.active(context.client)


def _note_start(instance: Instance, context: CallContext) -> None:
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


def _refuse_both(request: Chosen, instance_id: str | None, project: str | None) -> Chosen:
    if instance_id is not None and project is not None:
        raise ValueError("give either instance_id or project")
    return request


def _view(instance: Instance) -> InstanceView:
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
