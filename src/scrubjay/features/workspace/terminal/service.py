"""Running commands for callers: one and its answer, or sessions that go on."""

from dataclasses import dataclass, replace
from datetime import datetime

import anyio
import anyio.abc
import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, Conflict, Forbidden
from scrubjay.features.workspace.terminal.command_policy import Permits, Permitted
from scrubjay.features.workspace.terminal.process_list import RunningProcess, running_processes
from scrubjay.features.workspace.terminal.programs import Refused
from scrubjay.features.workspace.terminal.runner import Running
from scrubjay.features.workspace.terminal.sessions import Said, Sessions

REFUSED_STATUS = 1
# How many commands run at once; others wait for their turn, within their time.
MOST_AT_ONCE = 8
INTERACT_SECONDS = 1.0
# What it said last is still in the pipe when it is gone.
HEARD_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Executed:
    """How a command went."""

    status: int
    output: str
    truncated: bool = False
    timed_out: bool = False
    partial_output: str = ""
    """Of one that took too long: what it had said."""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session as it is listed."""

    pid: int
    command: str
    started_at: datetime
    runtime_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalLimits:
    """How much callers may have."""

    max_output_bytes: int = 1024 * 1024
    max_sessions: int = 10
    unrestricted: bool = False
    """Whether callers may ask for commands that are not of the list."""


class _Heard:
    """What a program said, as much as is kept of it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = bytearray()
        self.truncated = False

    def take(self, some: bytes) -> None:
        left = self._most - len(self._kept)
        self._kept += some[:left]
        self.truncated = self.truncated or len(some) > left

    @property
    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")


class Terminal:
    """Runs what is permitted."""

    def __init__(
        self, permits: Permits, tasks: anyio.abc.TaskGroup, limits: TerminalLimits, clock: Clock = system_clock
    ) -> None:
        """Sessions live in `tasks`."""
        self._permits = permits
        self._limits = limits
        self._clock = clock
        self._slots = anyio.Semaphore(MOST_AT_ONCE)
        self._sessions = Sessions(
            tasks, most=limits.max_sessions, max_output_bytes=limits.max_output_bytes, clock=clock
        )

    async def execute(self, command: str, *, seconds: float, restricted: bool, owner: str) -> Executed:
        """Run a command to its end; one that is refused says why in its output, as one that fails does."""
        try:
            permitted = await self._permit(command, restricted, owner)
        except Refused as refusal:
            return Executed(REFUSED_STATUS, f"Security error: {refusal.message}", refused=True)
        heard = _Heard(self._limits.max_output_bytes)
        with anyio.move_on_after(seconds):
            status = await self._run(permitted, heard)
            return Executed(status, heard.text, truncated=heard.truncated)
        return Executed(
            REFUSED_STATUS,
            f"Command timed out after {round(seconds * 1000)}ms",
            truncated=heard.truncated,
            timed_out=True,
            partial_output=heard.text,
        )

    async def _run(self, permitted: Permitted, heard: "_Heard") -> int:
        """How the program ended; nothing of it runs once this has, also when it was given up."""
        async with self._slots:
            running = await Running.started(permitted, self._permits.root.path, has_input=False)
            try:
                async with anyio.create_task_group() as listening:
                    listening.start_soon(running.hear, heard.take)
                    await running.ended()
                    with anyio.move_on_after(HEARD_SECONDS):
                        await running.heard_out.wait()
                    listening.cancel_scope.cancel()
            finally:
                with anyio.CancelScope(shield=True):
                    await running.close()
            return running.status or 0

    async def start_process(self, command: str, *, seconds: float, restricted: bool, owner: str) -> tuple[str, Said]:
        """Start a session, and hear what it says first."""
        try:
            permitted = await self._permit(command, restricted, owner)
        except Refused as refusal:
            raise Forbidden(
                f"Security error: {refusal.message}",
                hint="only harmless programs of the list are started",
                details={"reason": "refused"},
            ) from None
        session = await self._sessions.start(permitted, self._permits.root.path, owner)
        return session.command, await self._sessions.read(session, seconds)

    async def read_output(self, pid: int, *, seconds: float, owner: str) -> Said:
        return await self._sessions.read(self._sessions.find(pid, owner), seconds)

    async def interact(self, pid: int, text: str, owner: str) -> Said:
        """Write a line to a session, and hear what it answers."""
        session = self._sessions.find(pid, owner)
        if session.status is not None:
            raise Conflict(f"session {pid} has ended", hint="read_output tells its last words")
        written = False
        with anyio.move_on_after(INTERACT_SECONDS):
            written = await session.running.say(text.encode("utf-8") + b"\n")
        if not written:
            raise Busy(f"session {pid} does not read what it is told", hint="read_output tells what it says")
        return await self._sessions.read(session, INTERACT_SECONDS)

    async def kill(self, pid: int, owner: str, *, at_once: bool) -> None:
        """End a session: told to, and made to a second later; or killed at once."""
        await self._sessions.end(self._sessions.find(pid, owner), at_once=at_once)

    def list_sessions(self, owner: str) -> list[SessionView]:
        now = self._clock()
        return [
            SessionView(one.pid, one.command, one.started_at, round((now - one.started_at).total_seconds(), 3))
            for one in self._sessions.alive(owner)
        ]

    async def list_processes(self) -> tuple[list[RunningProcess], bool]:
        return await anyio.to_thread.run_sync(running_processes)

    async def _permit(self, command: str, restricted: bool, owner: str) -> Permitted:
        if not restricted and not self._limits.unrestricted:
            raise Forbidden(
                "this server runs only commands of its list",
                hint="leave restricted as it is; the owner can set SCRUBJAY_TERMINAL_UNRESTRICTED=true",
                details={"reason": "restricted"},
            )
        own = {session.pid for session in self._sessions.alive(owner)}
        return await replace(self._permits, is_session=own.__contains__).permit(command, restricted=restricted)
