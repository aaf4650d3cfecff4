"""Sessions: programs that keep running between calls, until the key of their caller or the server ends."""

import logging
from dataclasses import dataclass, field
from datetime import datetime

import anyio
import anyio.abc

from scrubjay.core.callers import Caller
from scrubjay.core.clock import Clock
from scrubjay.core.errors import NotFound, RateLimited, Unavailable
from scrubjay.features.workspace.terminal.permitted_command import PermittedCommand
from scrubjay.features.workspace.terminal.runner import RunningCommand
from scrubjay.tooling.key_watch import KeyWatch

logger = logging.getLogger("scrubjay.features.workspace")

# Ended sessions that are kept so that their remaining output can be read.
MAX_ENDED = 20
START_SECONDS = 5.0
# After the first output, wait this long for more.
SETTLE_SECONDS = 0.05


@dataclass(slots=True)
class ProgramSession:
    """One program that keeps running."""

    pid: int
    command: str
    caller: Caller
    started_at: datetime
    running: RunningCommand
    unread: bytearray = field(default_factory=bytearray)
    dropped: bool = False
    """True when unread output was dropped because it exceeded the limit."""
    has_output: anyio.Event = field(default_factory=anyio.Event)
    status: int | None = None
    """Exit status; None while it runs."""

    @property
    def owner(self) -> str:
        return self.caller.owner_id


@dataclass(frozen=True, slots=True)
class SessionOutput:
    """Output of a session since the last read."""

    pid: int
    output: str
    truncated: bool
    status: int | None


class Sessions:
    """All sessions of this server."""

    def __init__(
        self, tasks: anyio.abc.TaskGroup, *, max_sessions: int, max_output_bytes: int, keys: KeyWatch, clock: Clock
    ) -> None:
        """Output is read in `tasks`; when it is cancelled, all sessions end."""
        self._keys = keys
        self._tasks = tasks
        self._max_sessions = max_sessions
        self._max_output_bytes = max_output_bytes
        self._clock = clock
        self._sessions: dict[int, ProgramSession] = {}
        self._starting = 0

    async def start(self, permitted: PermittedCommand, caller: Caller) -> ProgramSession:
        """Start a session. Raises `RateLimited` at the maximum number of sessions."""
        if self._starting + len(self.alive()) >= self._max_sessions:
            raise RateLimited(
                f"there are {self._max_sessions} sessions already",
                hint="end session with kill; the operator can raise SCRUBJAY_TERMINAL_MAX_SESSIONS",
            )
        self._starting += 1
        try:
            running = await RunningCommand.start(permitted, has_input=True)
            pid = None
            with anyio.move_on_after(START_SECONDS):
                pid = await running.pid()
            if pid is None:
                with anyio.CancelScope(shield=True):
                    await running.close()
                raise Unavailable("the program could not be started", hint="try again")
            session = ProgramSession(pid, permitted.text, caller, self._clock(), running)
            self._drop_old_ended()
            self._sessions[pid] = session
            self._tasks.start_soon(self._collect_output, session)
        finally:
            self._starting -= 1
        return session

    def alive(self, owner: str | None = None) -> list[ProgramSession]:
        """Return running sessions by start time: all, or those of session owner."""
        return [
            session for session in self._sessions.values() if session.status is None and owner in (None, session.owner)
        ]

    def find(self, pid: int, owner: str) -> ProgramSession:
        """Return the session with this pid. Raises `NotFound` for other processes and sessions of other owners."""
        session = self._sessions.get(pid)
        if session is None or session.owner != owner:
            raise NotFound(
                f"there is no session {pid}",
                hint="list_sessions lists your sessions",
                details={"reason": "process_not_found", "pid": pid},
            )
        return session

    async def read(self, session: ProgramSession, seconds: float) -> SessionOutput:
        """Return the output since the last read; without any, wait this many seconds for output."""
        with anyio.move_on_after(seconds):
            while not session.unread and session.status is None:
                await session.has_output.wait()
            await anyio.sleep(SETTLE_SECONDS)
        output, dropped = session.unread.decode("utf-8", "replace"), session.dropped
        session.unread, session.dropped = bytearray(), False
        if session.status is None:
            session.has_output = anyio.Event()
        return SessionOutput(session.pid, output, dropped, session.status)

    async def end(self, session: ProgramSession, *, at_once: bool) -> None:
        """End a session. Its program no longer runs when this returns."""
        with anyio.CancelScope(shield=True):
            await session.running.end(at_once=at_once)

    async def _collect_output(self, session: ProgramSession) -> None:
        def add(chunk: bytes) -> None:
            session.unread += chunk
            if len(session.unread) > self._max_output_bytes:
                del session.unread[: -self._max_output_bytes]
                session.dropped = True
            session.has_output.set()

        try:
            async with anyio.create_task_group() as reading:
                reading.start_soon(session.running.read_output, add)
                reading.start_soon(self._end_with_key, session)
                await session.running.ended()
                with anyio.move_on_after(1.0):
                    await session.running.output_ended.wait()
                reading.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await session.running.close()
            session.status = session.running.status if session.running.status is not None else -1
            session.has_output.set()

    async def _end_with_key(self, session: ProgramSession) -> None:
        await self._keys.wait_until_ended(session.caller)
        logger.info("ending a session because its key has ended", extra={"pid": session.pid, "key_id": session.owner})
        await self.end(session, at_once=True)

    def _drop_old_ended(self) -> None:
        ended = [pid for pid, session in self._sessions.items() if session.status is not None]
        for pid in ended[: max(0, len(ended) + 1 - MAX_ENDED)]:
            del self._sessions[pid]
