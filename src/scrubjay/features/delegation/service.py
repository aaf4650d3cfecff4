"""Coding agents that work on tasks: one per project and caller, each on a pseudo-terminal."""

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
from scrubjay.tooling.key_watch import KeyWatch

# Terminal output kept per agent; older output is dropped.
SCREEN_BYTES: Final = 64 * 1024
# Pause between two reads, and so between two events; limits the load of a program that floods its terminal.
READ_INTERVAL_SECONDS: Final = 0.05
START_SECONDS: Final = 5.0
# A full-screen program accepts input only after it has drawn its screen.
GREETING_SECONDS: Final = 3.0
WRITE_SECONDS: Final = 5.0
# Time to read the remaining output after the program has exited.
DRAIN_SECONDS: Final = 1.0
# Ended agents that are kept, so that callers can read their last output.
MAX_ENDED: Final = 20


@dataclass(slots=True, kw_only=True, eq=False)
class AgentInstance:
    """One agent process, running or ended."""

    id: str
    owner: str
    caller: Caller
    project: Project
    pid: int
    started_at: datetime
    program: ProgramOnTerminal
    tasks: int = 0
    screen: bytearray = field(default_factory=bytearray)
    has_output: anyio.Event = field(default_factory=anyio.Event)
    closed: anyio.Event = field(default_factory=anyio.Event)
    input_lock: anyio.Lock = field(default_factory=anyio.Lock)
    exit_status: int | None = None
    """None while the agent runs."""

    @property
    def is_running(self) -> bool:
        return self.exit_status is None

    @property
    def output(self) -> str:
        """The last terminal output, with secrets masked."""
        return masked(self.screen.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Delegation:
    """A task given to an agent."""

    instance: AgentInstance
    spawned: bool
    """True if the agent was started for this task."""


class DelegationService:
    """The agents of this server. An agent belongs to its caller, and ends with the caller's key or the server."""

    def __init__(
        self,
        agent: CodingAgent,
        tasks: anyio.abc.TaskGroup,
        events: AgentEvents,
        keys: KeyWatch | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Supervise agents in the task group `tasks`; cancelling it ends all agents."""
        self._agent = agent
        self._tasks = tasks
        self._events = events
        self._keys = keys or KeyWatch()
        self._clock = clock
        self._instances: dict[str, AgentInstance] = {}
        self._starting = anyio.Lock()

    async def delegate(self, task: str, project: Project | None, caller: Caller, surface: str) -> Delegation:
        """Type a task as one line into the terminal of the project's agent; start the agent if it does not run."""
        program = self._agent.program_for(caller, surface)
        if project is None:
            raise InvalidRequest(
                "no project is active, and an agent works in a project", hint="call set_project to choose one"
            )
        line = " ".join(task.split())
        async with self._starting:
            instance = self._running_in(project.id, caller.owner_id)
            spawned = instance is None
            if instance is None:
                instance = await self._start(program, project, caller)
        if spawned:
            with anyio.move_on_after(GREETING_SECONDS):
                await instance.has_output.wait()
        await self._type_line(instance, line)
        return Delegation(instance, spawned)

    def running_in(self, project: Project | None, caller: Caller) -> AgentInstance | None:
        """Return the caller's running agent of this project, or None."""
        return None if project is None else self._running_in(project.id, caller.owner_id)

    def running(self, caller: Caller) -> Sequence[AgentInstance]:
        """Return the caller's running agents, oldest first."""
        owner = caller.owner_id
        return [instance for instance in self._instances.values() if instance.is_running and instance.owner == owner]

    def get(self, instance_id: str, caller: Caller) -> AgentInstance:
        """Return the caller's agent with this id, running or recently ended; raise `NotFound` for any other."""
        instance = self._instances.get(instance_id)
        if instance is None or instance.owner != caller.owner_id:
            raise NotFound(f"agent {instance_id[:80]!r} not found", hint="call claude_status to list running agents")
        return instance

    async def close(self, instance: AgentInstance) -> None:
        """End an agent and all processes that it started, and wait until they have ended."""
        with anyio.CancelScope(shield=True):
            await instance.program.end()
            await instance.closed.wait()

    def _running_in(self, project_id: str, owner: str) -> AgentInstance | None:
        return next(
            (
                instance
                for instance in self._instances.values()
                if instance.is_running and instance.owner == owner and instance.project.id == project_id
            ),
            None,
        )

    async def _start(self, command: str, project: Project, caller: Caller) -> AgentInstance:
        if not await anyio.Path(project.path).is_dir():
            raise NotFound(f"folder {project.path} not found", hint="call set_project to choose another project")
        if sum(instance.is_running for instance in self._instances.values()) >= self._agent.max_instances:
            raise RateLimited(
                f"the limit of {self._agent.max_instances} running agents is reached",
                hint="end one with claude_close; the owner can raise SCRUBJAY_DELEGATION_MAX_AGENTS",
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
        instance = AgentInstance(
            id=new_id("agent"),
            owner=caller.owner_id,
            caller=caller,
            project=project,
            pid=pid,
            started_at=self._clock(),
            program=program,
        )
        self._forget_ended()
        self._instances[instance.id] = instance
        self._tasks.start_soon(self._supervise, instance)
        spawned = {"type": "claude_spawned", "instance_id": instance.id, "project": project.path, "pid": pid}
        self._events.publish(spawned, caller)
        return instance

    async def _type_line(self, instance: AgentInstance, line: str) -> None:
        written = False
        async with instance.input_lock:
            with anyio.move_on_after(WRITE_SECONDS):
                written = await instance.program.write(line.encode("utf-8") + b"\r")
        if not written:
            if not instance.is_running or instance.program.status is not None:
                raise Unavailable(
                    "the agent ended before it read the task",
                    hint="call claude_status to see its last output",
                    details={"instance_id": instance.id},
                )
            raise Busy("the agent does not read its input", hint="call claude_status to see its output")
        instance.tasks += 1

    async def _supervise(self, instance: AgentInstance) -> None:
        """Publish the output of an agent until it has ended, then clean up."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            async with anyio.create_task_group() as readers:
                drained = anyio.Event()
                readers.start_soon(self._read_output, instance, decoder, drained)
                readers.start_soon(self._end_with_key, instance)
                await instance.program.ended()
                with anyio.move_on_after(DRAIN_SECONDS):
                    await drained.wait()
                readers.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await instance.program.close()
            instance.exit_status = instance.program.status if instance.program.status is not None else -1
            instance.has_output.set()
            instance.closed.set()
            stopped = {"type": "claude_stopped", "instance_id": instance.id, "exit_status": instance.exit_status}
            self._events.publish(stopped, instance.caller)

    async def _end_with_key(self, instance: AgentInstance) -> None:
        await self._keys.wait_until_ended(instance.caller)
        with anyio.CancelScope(shield=True):
            await instance.program.end(at_once=True)

    async def _read_output(
        self, instance: AgentInstance, decoder: codecs.IncrementalDecoder, drained: anyio.Event
    ) -> None:
        while chunk := await instance.program.read():
            instance.screen += chunk
            del instance.screen[:-SCREEN_BYTES]
            instance.has_output.set()
            if content := decoder.decode(chunk):
                event = {
                    "type": "terminal_output",
                    "instance_id": instance.id,
                    "content": masked(content),
                    "is_stderr": False,
                }
                self._events.publish(event, instance.caller, is_transient=True)
            await anyio.sleep(READ_INTERVAL_SECONDS)
        drained.set()

    def _forget_ended(self) -> None:
        ended = [instance.id for instance in self._instances.values() if not instance.is_running]
        for instance_id in ended[: max(0, len(ended) + 1 - MAX_ENDED)]:
            del self._instances[instance_id]
