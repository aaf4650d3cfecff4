"""Programs that go on between calls: each belongs to whoever started it, and all of them end with the server."""

from dataclasses import dataclass, field
from datetime import datetime

import anyio
import anyio.abc

from scrubjay.core.clock import Clock
from scrubjay.core.errors import NotFound, RateLimited, Unavailable
from scrubjay.features.workspace.terminal.command_policy import Permitted
from scrubjay.features.workspace.terminal.runner import Running

# Of those that have ended so many are kept, so that their last words can be read.
MOST_ENDED = 20
START_SECONDS = 5.0
# When it has said something, it may be about to say more.
SETTLE_SECONDS = 0.05


@dataclass(slots=True)
class Session:
    """One program."""

    pid: int
    command: str
    owner: str
    started_at: datetime
    running: Running
    unread: bytearray = field(default_factory=bytearray)
    dropped: bool = False
    """Whether some of what it said is lost, because nobody read it in time."""
    spoke: anyio.Event = field(default_factory=anyio.Event)
    status: int | None = None
    """How it ended; None while it runs."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a session said since it was last asked."""

    pid: int
    output: str
    truncated: bool
    status: int | None


class Sessions:
    """All sessions of this server."""

    def __init__(self, tasks: anyio.abc.TaskGroup, *, most: int, max_output_bytes: int, clock: Clock) -> None:
        """What each says is listened to in `tasks`; when these are cancelled, all sessions end."""
        self._tasks = tasks
        self._most = most
        self._max_output_bytes = max_output_bytes
        self._clock = clock
        self._sessions: dict[int, Session] = {}
        self._starting = 0

    async def start(self, permitted: Permitted, folder: str, owner: str) -> Session:
        """A new session; `RateLimited` when there are as many as there may be."""
        if self._starting + len(self.alive()) >= self._most:
            raise RateLimited(
                f"there are {self._most} sessions already",
                hint="end one by kill; the operator can raise SCRUBJAY_TERMINAL_MAX_SESSIONS",
            )
        self._starting += 1
        try:
            running = await Running.started(permitted, folder, has_input=True)
            pid = None
            with anyio.move_on_after(START_SECONDS):
                pid = await running.pid()
            if pid is None:
                with anyio.CancelScope(shield=True):
                    await running.close()
                raise Unavailable("the program could not be started", hint="try again")
            session = Session(pid, permitted.text, owner, self._clock(), running)
            self._forget_ended()
            self._sessions[pid] = session
            self._tasks.start_soon(self._listen, session)
        finally:
            self._starting -= 1
        return session

    def alive(self, owner: str | None = None) -> list[Session]:
        """Those that run, in the order of their beginning; all, or those of one owner."""
        return [one for one in self._sessions.values() if one.status is None and owner in (None, one.owner)]

    def find(self, pid: int, owner: str) -> Session:
        """The caller's session of this pid: no process that this server has not started, and none of other callers."""
        session = self._sessions.get(pid)
        if session is None or session.owner != owner:
            raise NotFound(
                f"there is no session {pid}",
                hint="list_sessions tells which there are",
                details={"reason": "process_not_found", "pid": pid},
            )
        return session

    async def read(self, session: Session, seconds: float) -> Said:
        """What it said since it was last read; when that is nothing, what it says in so many seconds."""
        with anyio.move_on_after(seconds):
            while not session.unread and session.status is None:
                await session.spoke.wait()
            await anyio.sleep(SETTLE_SECONDS)
        output, dropped = session.unread.decode("utf-8", "replace"), session.dropped
        session.unread, session.dropped = bytearray(), False
        if session.status is None:
            session.spoke = anyio.Event()
        return Said(session.pid, output, dropped, session.status)

    async def end(self, session: Session, *, at_once: bool) -> None:
        """End it; when this returns, nothing of it runs."""
        with anyio.CancelScope(shield=True):
            await session.running.end(at_once=at_once)

    async def _listen(self, session: Session) -> None:
        def take(some: bytes) -> None:
            session.unread += some
            if len(session.unread) > self._max_output_bytes:
                del session.unread[: -self._max_output_bytes]
                session.dropped = True
            session.spoke.set()

        try:
            async with anyio.create_task_group() as listening:
                listening.start_soon(session.running.hear, take)
                await session.running.ended()
                with anyio.move_on_after(1.0):
                    await session.running.heard_out.wait()
                listening.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await session.running.close()
            session.status = session.running.status if session.running.status is not None else -1
            session.spoke.set()

    def _forget_ended(self) -> None:
        ended = [pid for pid, session in self._sessions.items() if session.status is not None]
        for pid in ended[: max(0, len(ended) + 1 - MOST_ENDED)]:
            del self._sessions[pid]
