"""Coding agents that work on tasks: one for each project, on a terminal, for as long as it is needed."""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import anyio
import anyio.abc

from scrubjay.core.callers import Caller
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, InvalidRequest, NotFound, RateLimited, Unavailable
from scrubjay.core.ids import new_id
from scrubjay.core.secrets import masked
from scrubjay.features.delegation.coding_agent import CodingAgent
from scrubjay.features.delegation.events import AgentEvents
from scrubjay.features.projects.models import Project
from scrubjay.isolation.pty import ProgramOnTerminal

# What is kept of what an agent showed last.
SCREEN_BYTES: Final = 64 * 1024
# What it shows is told so often: a program that floods its terminal is read no faster than this, a piece at a time.
TELL_SECONDS: Final = 0.05
START_SECONDS: Final = 5.0
# A program that draws its own screen takes what is typed only once it has begun to.
GREETING_SECONDS: Final = 3.0
WRITE_SECONDS: Final = 5.0
# What it showed last is still to be read when it is gone.
HEAR_OUT_SECONDS: Final = 1.0
# Of those that have ended so many are kept, so that their last words can be read.
MOST_ENDED: Final = 20


@dataclass(slots=True, kw_only=True, eq=False)
class Instance:
    """One agent."""

    id: str
    owner: str
    caller: Caller
    project: Project
    pid: int
    started_at: datetime
    program: ProgramOnTerminal
    tasks: int = 0
    screen: bytearray = field(default_factory=bytearray)
    spoke: anyio.Event = field(default_factory=anyio.Event)
    gone: anyio.Event = field(default_factory=anyio.Event)
    typing: anyio.Lock = field(default_factory=anyio.Lock)
    exit_status: int | None = None
    """How it ended; None while it runs."""

    @property
    def is_running(self) -> bool:
        return self.exit_status is None

    @property
    def output(self) -> str:
        """What it showed last, without secrets."""
        return masked(self.screen.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Delegated:
    """A task that an agent was given."""

    instance: Instance
    spawned: bool
    """Whether the agent was started for it."""


class CodingAgents:
    """All agents of this server. Each belongs to whoever let it work, and all of them end with the server."""

    def __init__(
        self, agent: CodingAgent, tasks: anyio.abc.TaskGroup, events: AgentEvents, clock: Clock = system_clock
    ) -> None:
        """Agents are listened to in `tasks`; when these are cancelled, all agents end."""
        self._agent = agent
        self._tasks = tasks
        self._events = events
        self._clock = clock
        self._instances: dict[str, Instance] = {}
        self._starting = anyio.Lock()

    async def delegate(self, task: str, project: Project | None, caller: Caller, door: str) -> Delegated:
        """Type a task as one line to the project's agent, which is started unless it runs."""
        program = self._agent.found_for(caller, door)
        if project is None:
            raise InvalidRequest("an agent works in a project, and none is active", hint="set_project chooses one")
        line = " ".join(task.split())
        async with self._starting:
            instance = self._of_project(project.id, caller.owns_as)
            spawned = instance is None
            if instance is None:
                instance = await self._start(program, project, caller)
        if spawned:
            with anyio.move_on_after(GREETING_SECONDS):
                await instance.spoke.wait()
        await self._type(instance, line)
        return Delegated(instance, spawned)

    def of_project(self, project: Project | None, caller: Caller) -> Instance | None:
        """The caller's agent of this project, while it runs."""
        return None if project is None else self._of_project(project.id, caller.owns_as)

    def running(self, caller: Caller) -> Sequence[Instance]:
        """The caller's agents that run, in the order of their beginning."""
        owner = caller.owns_as
        return [one for one in self._instances.values() if one.is_running and one.owner == owner]

    def get(self, instance_id: str, caller: Caller) -> Instance:
        """The caller's agent of this id, also when it ended a while ago."""
        instance = self._instances.get(instance_id)
        if instance is None or instance.owner != caller.owns_as:
            raise NotFound(f"there is no agent {instance_id[:80]!r}", hint="claude_status tells which there are")
        return instance

    async def close(self, instance: Instance) -> None:
        """End an agent; when this returns, nothing of it runs."""
        with anyio.CancelScope(shield=True):
            await instance.program.end()
            await instance.gone.wait()

    def _of_project(self, project_id: str, owner: str) -> Instance | None:
        return next(
            (
                one
                for one in self._instances.values()
                if one.is_running and one.owner == owner and one.project.id == project_id
            ),
            None,
        )

    async def _start(self, command: str, project: Project, caller: Caller) -> Instance:
        if not await anyio.Path(project.path).is_dir():
            raise NotFound(f"there is no folder {project.path}", hint="set_project chooses another project")
        if sum(one.is_running for one in self._instances.values()) >= self._agent.most:
            raise RateLimited(
                f"{self._agent.most} agents work already",
                hint="claude_close ends one; the owner can raise SCRUBJAY_DELEGATING_MAX_AGENTS",
            )
        program = await ProgramOnTerminal.started(
            command,
            self._agent.arguments,
            environment=self._agent.environment,
            folder=project.path,
            bounds=self._agent.bounds,
        )
        pid = None
        try:
            with anyio.move_on_after(START_SECONDS):
                pid = await program.pid()
        finally:
            if pid is None:
                with anyio.CancelScope(shield=True):
                    await program.close()
        if pid is None:
            raise Unavailable("the agent could not be started", hint="try again")
        instance = Instance(
            id=new_id("agent"),
            owner=caller.owns_as,
            caller=caller,
            project=project,
            pid=pid,
            started_at=self._clock(),
            program=program,
        )
        self._forget_ended()
        self._instances[instance.id] = instance
        self._tasks.start_soon(self._watch, instance)
        spawned = {"type": "claude_spawned", "instance_id": instance.id, "project": project.path, "pid": pid}
        self._events.tell(spawned, caller)
        return instance

    async def _type(self, instance: Instance, line: str) -> None:
        written = False
        async with instance.typing:
            with anyio.move_on_after(WRITE_SECONDS):
                written = await instance.program.write(line.encode("utf-8") + b"\r")
        if not written:
            if not instance.is_running or instance.program.status is not None:
                raise Unavailable(
                    "the agent has ended before it took the task",
                    hint="claude_status tells its last words",
                    details={"instance_id": instance.id},
                )
            raise Busy("the agent does not read what is typed", hint="claude_status tells what it shows")
        instance.tasks += 1

    async def _watch(self, instance: Instance) -> None:
        """Hear an agent until it has ended, and tell what it shows."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            async with anyio.create_task_group() as hearing:
                heard_out = anyio.Event()
                hearing.start_soon(self._hear, instance, decoder, heard_out)
                await instance.program.ended()
                with anyio.move_on_after(HEAR_OUT_SECONDS):
                    await heard_out.wait()
                hearing.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await instance.program.close()
            instance.exit_status = instance.program.status if instance.program.status is not None else -1
            instance.spoke.set()
            instance.gone.set()
            stopped = {"type": "claude_stopped", "instance_id": instance.id, "exit_status": instance.exit_status}
            self._events.tell(stopped, instance.caller)

    async def _hear(self, instance: Instance, decoder: codecs.IncrementalDecoder, heard_out: anyio.Event) -> None:
        while some := await instance.program.read():
            instance.screen += some
            del instance.screen[:-SCREEN_BYTES]
            instance.spoke.set()
            if content := decoder.decode(some):
                event = {
                    "type": "terminal_output",
                    "instance_id": instance.id,
                    "content": masked(content),
                    "is_stderr": False,
                }
                self._events.tell(event, instance.caller, is_fleeting=True)
            await anyio.sleep(TELL_SECONDS)
        heard_out.set()

    def _forget_ended(self) -> None:
        ended = [one.id for one in self._instances.values() if not one.is_running]
        for instance_id in ended[: max(0, len(ended) + 1 - MOST_ENDED)]:
            del self._instances[instance_id]
