"""Run commands for callers: single commands, and sessions that keep running."""

from dataclasses import dataclass, replace
from datetime import datetime

import anyio
import anyio.abc
import anyio.to_thread

from scrubjay.core.callers import Caller
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, Conflict, Forbidden
from scrubjay.features.workspace.terminal.command_policy import CommandPolicy
from scrubjay.features.workspace.terminal.permitted_command import PermittedCommand
from scrubjay.features.workspace.terminal.process_list import RunningProcess, masked_lines, running_processes
from scrubjay.features.workspace.terminal.programs import CommandRefused
from scrubjay.features.workspace.terminal.runner import RunningCommand
from scrubjay.features.workspace.terminal.sessions import SessionOutput, Sessions
from scrubjay.tooling.key_watch import KeyWatch

REFUSED_STATUS = 1
# Commands that run at once. Waiting for a slot counts toward the timeout.
MAX_CONCURRENT = 8
INTERACT_SECONDS = 1.0
# The last output can still be in the pipe when the process has exited.
DRAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command."""

    status: int
    output: str
    truncated: bool = False
    timed_out: bool = False
    partial_output: str = ""
    """Output of a command that timed out."""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A listed session."""

    pid: int
    command: str
    started_at: datetime
    runtime_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalLimits:
    """Limits for all callers."""

    max_output_bytes: int = 1024 * 1024
    max_sessions: int = 10
    unrestricted: bool = False
    """Allow commands that are not on the allowlist."""


class _OutputBuffer:
    """Output of a program, up to a maximum size."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._data = bytearray()
        self.truncated = False

    def add(self, chunk: bytes) -> None:
        left = self._max_bytes - len(self._data)
        self._data += chunk[:left]
        self.truncated = self.truncated or len(chunk) > left

    def shown(self, command: PermittedCommand, *, is_partial: bool = False) -> str:
        """Return the output as the caller sees it, of a list of processes with secrets masked."""
        text = self._data.decode("utf-8", "replace")
        if not command.lists_processes:
            return text
        # A part of a secret, in a line that is cut off, could not be masked.
        return masked_lines(text.rpartition("\n")[0] if is_partial or self.truncated else text)


class Terminal:
    """Runs the commands that the policy permits."""

    def __init__(
        self,
        policy: CommandPolicy,
        tasks: anyio.abc.TaskGroup,
        limits: TerminalLimits,
        keys: KeyWatch | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Sessions run in `tasks` and end when it is cancelled, or when the key of their caller ends."""
        self._policy = policy
        self._limits = limits
        self._clock = clock
        self._keys = keys or KeyWatch()
        self._slots = anyio.Semaphore(MAX_CONCURRENT)
        self._sessions = Sessions(
            tasks,
            max_sessions=limits.max_sessions,
            max_output_bytes=limits.max_output_bytes,
            keys=self._keys,
            clock=clock,
        )

    async def execute(self, command: str, *, seconds: float, restricted: bool, caller: Caller) -> CommandResult:
        """Run a command and return its output. The output of a refused command gives the reason."""
        try:
            permitted = await self._permit(command, restricted, caller.owner_id)
        except CommandRefused as refusal:
            return CommandResult(REFUSED_STATUS, f"Security error: {refusal.message}", refused=True)
        output = _OutputBuffer(self._limits.max_output_bytes)
        with anyio.move_on_after(seconds):
            status = await self._run(permitted, output, caller)
            return CommandResult(status, output.shown(permitted), truncated=output.truncated)
        return CommandResult(
            REFUSED_STATUS,
            f"Command timed out after {round(seconds * 1000)}ms",
            truncated=output.truncated,
            timed_out=True,
            partial_output=output.shown(permitted, is_partial=True),
        )

    async def _run(self, permitted: PermittedCommand, output: _OutputBuffer, caller: Caller) -> int:
        """Return the exit status. The program no longer runs when this returns or is cancelled."""
        async with self._slots:
            running = await RunningCommand.start(permitted, has_input=False)
            try:
                async with anyio.create_task_group() as reading:
                    reading.start_soon(running.read_output, output.add)
                    reading.start_soon(self._end_with_key, running, caller)
                    await running.ended()
                    with anyio.move_on_after(DRAIN_SECONDS):
                        await running.output_ended.wait()
                    reading.cancel_scope.cancel()
            finally:
                with anyio.CancelScope(shield=True):
                    await running.close()
            return running.status or 0

    async def _end_with_key(self, running: RunningCommand, caller: Caller) -> None:
        await self._keys.wait_until_ended(caller)
        await running.end(at_once=True)

    async def start_process(
        self, command: str, *, seconds: float, restricted: bool, caller: Caller
    ) -> tuple[str, SessionOutput]:
        """Start a session and return its command and first output."""
        try:
            permitted = await self._permit(command, restricted, caller.owner_id)
            if permitted.lists_processes:  # secrets are masked in complete output only
                raise CommandRefused("Lists of processes are only available by execute")
        except CommandRefused as refusal:
            raise Forbidden(
                f"Security error: {refusal.message}",
                hint="only allowlisted programs with read-only arguments are started",
                details={"reason": "refused"},
            ) from None
        session = await self._sessions.start(permitted, caller)
        return session.command, await self._sessions.read(session, seconds)

    async def read_output(self, pid: int, *, seconds: float, owner: str) -> SessionOutput:
        return await self._sessions.read(self._sessions.find(pid, owner), seconds)

    async def interact(self, pid: int, text: str, owner: str) -> SessionOutput:
        """Write a line to the stdin of a session and return its output."""
        session = self._sessions.find(pid, owner)
        if session.status is not None:
            raise Conflict(f"session {pid} has ended", hint="read_output returns its remaining output")
        written = False
        with anyio.move_on_after(INTERACT_SECONDS):
            written = await session.running.write(text.encode("utf-8") + b"\n")
        if not written:
            raise Busy(f"session {pid} does not read its input", hint="read_output returns its output")
        return await self._sessions.read(session, INTERACT_SECONDS)

    async def kill(self, pid: int, owner: str, *, at_once: bool) -> None:
        """End a session with SIGTERM, and SIGKILL a second later; with `at_once`, SIGKILL only."""
        await self._sessions.end(self._sessions.find(pid, owner), at_once=at_once)

    def list_sessions(self, owner: str) -> list[SessionInfo]:
        now = self._clock()
        return [
            SessionInfo(
                session.pid, session.command, session.started_at, round((now - session.started_at).total_seconds(), 3)
            )
            for session in self._sessions.alive(owner)
        ]

    async def list_processes(self) -> tuple[list[RunningProcess], bool]:
        return await anyio.to_thread.run_sync(running_processes)

    async def _permit(self, command: str, restricted: bool, owner: str) -> PermittedCommand:
        if not restricted and not self._limits.unrestricted:
            raise Forbidden(
                "this server runs only allowlisted commands",
                hint="omit restricted, or ask the server owner to set SCRUBJAY_TERMINAL_UNRESTRICTED=true",
                details={"reason": "restricted"},
            )
        pids = {session.pid for session in self._sessions.alive(owner)}
        return await replace(self._policy, is_session=pids.__contains__).permit(command, restricted=restricted)
