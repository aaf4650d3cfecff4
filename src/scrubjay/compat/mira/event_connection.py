"""One listener at `/ws`: what it hears, what it says, and when it has to end."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from starlette.types import Receive

from scrubjay.compat.mira import event_wire as wire
from scrubjay.compat.mira.replay import Past, Replay, Replayed
from scrubjay.core.callers import Caller, Doorkeeper
from scrubjay.core.errors import InvalidRequest, RateLimited, ScrubjayError
from scrubjay.servers.http.callers import Visit
from scrubjay.servers.http.token_bucket import Bucket
from scrubjay.servers.http.websockets import POLICY, Socket
from scrubjay.tooling.call_events import Announcement, CallEvent, CallEvents, EventId, FileChange, Happening, may_see
from scrubjay.tooling.context import CallContext


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLimits:
    """What the operator allows."""

    connections: int = 1000
    messages_per_second: float = 20
    outbox_bytes: int = 1024 * 1024
    """How much may wait for a reader."""
    outbox_messages: int = 1024
    slow_seconds: float = 10
    """How long a reader may not read at all while something waits for it."""
    malformed: int = 20
    """How many commands of one connection may be beyond understanding."""


class EventConnection(Socket):
    """Tells what happens, from the moment it is open. Nothing is left out: who reads too slowly is let go."""

    def __init__(
        self,
        events: CallEvents,
        past: Past,
        doorkeeper: Doorkeeper,
        visit: Visit,
        caller: Caller,
        session_id: str,
        limits: EventLimits,
        sync: wire.Sync | None = None,
    ) -> None:
        """With a `sync` it begins with what happened before."""
        super().__init__(
            outbox_bytes=limits.outbox_bytes,
            outbox_messages=limits.outbox_messages,
            slow_seconds=limits.slow_seconds,
        )
        self._events = events
        self._doorkeeper = doorkeeper
        self._visit = visit
        self._caller = caller
        self._session_id = session_id
        self._limits = limits
        self._replay = Replay(events, past, caller, session_id)
        self._bucket = Bucket(limits.messages_per_second, anyio.current_time)
        self._malformed = self._over_limit = 0
        self._held: deque[bytes] | None = None
        self._held_bytes = 0
        self._memories_added = self._tools_called = 0
        self._told: tuple[int, int] = (0, 0)
        self._leave: Callable[[], None] = lambda: None
        self._since: EventId = 0
        self._sync = sync

    async def _resume(self, last_event_id: EventId | None, *, to_the_end: bool = False) -> None:
        """Tell again what happened after this event (or lately), and only then what happens meanwhile."""
        self._held, self._held_bytes = deque(), 0
        replayed, last, from_history = 0, min(last_event_id or self._since, self._since), False
        while True:
            found = await self._found(last_event_id)
            for event in found.events:
                await self.put_patiently(wire.write(event))
                last = event["event_id"]
            replayed += len(found.events)
            from_history = from_history or found.from_history
            if found.complete or not found.events or not to_the_end:
                break
            last_event_id = last
        await self.put_patiently(
            wire.write(wire.synced(replayed, last, complete=found.complete, from_history=from_history))
        )
        while self._held:
            text = self._held.popleft()
            self._held_bytes -= len(text)
            await self.put_patiently(text)
        self._held = None

    async def _found(self, last_event_id: EventId | None) -> Replayed:
        try:
            return await self._replay(last_event_id, self._since)
        except ScrubjayError as error:
            self._send(wire.error(f"what happened before cannot be told: {error.message}"))
            return Replayed([], complete=False, from_history=False)

    # -- hearing and telling -------------------------------------------------------------------------

    def closed(self) -> None:
        self._leave()

    def is_welcome(self) -> bool:
        return self._doorkeeper.is_welcome(self._caller)

    def tend(self) -> None:
        counts = (self._memories_added, self._tools_called)
        if counts != self._told:
            self._told = counts
            update: wire.Json = {"type": "session_update", "memories_added": counts[0], "tools_called": counts[1]}
            self.put(wire.write(update), droppable=True)

    def _hear(self, happening: Happening) -> None:
        if not may_see(self._caller, happening):
            return
        match happening:
            case Announcement(is_fleeting=True):
                if self._held is None:
                    self.put(wire.write(wire.announcement(happening)), droppable=True)
            case Announcement():
                self._tell(wire.announcement(happening))
            case FileChange():
                self._tell(wire.file_change(happening))
            case CallEvent(ended_id=None):
                self._tell(wire.tool_start(happening))
            case CallEvent():
                self._tools_called += 1
                self._memories_added += happening.memories_added
                self._tell(wire.tool_result(happening))

    def _tell(self, event: wire.Json) -> None:
        if self._held is None:
            self._send(event)
            return
        text = wire.write(event)
        self._held.append(text)
        self._held_bytes += len(text)
        if self._held_bytes > self._limits.outbox_bytes:
            self.end(POLICY, "the client does not read")

    def _send(self, event: wire.Json) -> None:
        self.put(wire.write(event))

    # -- what clients say ----------------------------------------------------------------------------

    async def read(self, receive: Receive) -> None:
        self._leave = self._events.listen(self._hear, self._caller)
        self._since = self._events.new_id()
        resumed = self._sync.last_event_id if self._sync is not None else None
        # Whoever goes on from the last id that it was told does so from there, also when it leaves at once.
        self._send(wire.connected(self._session_id, self._since if resumed is None else resumed))
        if self._sync is not None:
            await self._resume(resumed, to_the_end=True)
        while (message := await receive())["type"] == "websocket.receive":
            text: str | None = message.get("text")
            try:
                if text is None:
                    raise InvalidRequest("a command is text")
                command = wire.read(text)
            except InvalidRequest as problem:
                self._refuse(problem.message)
            else:
                if self._bucket.take():
                    self._over_limit = 0
                    await self._obey(command)
                else:
                    self._refuse_haste()
            if self.has_ended:
                return

    async def _obey(self, command: wire.Command) -> None:
        match command:
            case wire.Ping():
                self._send({"type": "pong"})
            case wire.Pong():
                pass
            case wire.Sync() | wire.Cancel():
                await self._do(command)

    async def _do(self, command: wire.Sync | wire.Cancel) -> None:
        try:
            self._visit.count(self._caller)
        except RateLimited as error:
            self._send(wire.error(error.message))
            return
        if isinstance(command, wire.Sync):
            await self._resume(command.last_event_id)
        else:
            self._cancel(command.call_id)

    def _cancel(self, call_id: str | None) -> None:
        """Stop one call that this client may see, or all calls and chats of its session. Their results tell it."""

        def is_ours(one: CallEvent | CallContext) -> bool:
            return one.client == self._session_id and one.caller.key_id == self._caller.key_id

        def is_named(event: CallEvent) -> bool:
            return event.call_id == call_id and may_see(self._caller, event)

        chats = self._events.stop_work(is_ours) if call_id is None else 0
        calls = self._events.stop(is_ours if call_id is None else is_named)
        if not (calls or chats):
            what = "nothing of this session runs" if call_id is None else "no call of this id runs"
            self._send(wire.error(what))

    def _refuse(self, problem: str) -> None:
        self._malformed += 1
        self._send(wire.error(problem))
        if self._malformed > self._limits.malformed:
            self.end(POLICY, "too many commands that are none")

    def _refuse_haste(self) -> None:
        self._over_limit += 1
        self._send(wire.error("too many commands at once"))
        if self._over_limit > self._limits.messages_per_second:
            self.end(POLICY, "too many commands")
