"""A connection to the event stream `/ws`: sends events, runs commands and enforces limits."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from starlette.types import Receive

from scrubjay.compat.mira import event_wire as wire
from scrubjay.compat.mira.memory_counts import memories_added
from scrubjay.compat.mira.replay import CallHistorySource, Replay, Replayed
from scrubjay.core.callers import Authenticator, Caller
from scrubjay.core.errors import InvalidRequest, RateLimited, ScrubjayError
from scrubjay.servers.http.callers import SocketGuard
from scrubjay.servers.http.token_bucket import TokenBucket
from scrubjay.servers.http.websockets import POLICY, WebSocketConnection
from scrubjay.tooling.call_events import (
    Announcement,
    CallEvent,
    CallEvents,
    EventId,
    StreamEvent,
    WatchedFileChange,
    is_visible_to,
    may_see,
)
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import CallEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLimits:
    """Limits of event connections, from the settings."""

    connections: int = 1000
    messages_per_second: float = 20
    outbox_bytes: int = 1024 * 1024
    """Bytes that may wait for a slow reader."""
    outbox_messages: int = 1024
    slow_seconds: float = 10
    """Seconds without progress after which a reader with waiting messages is disconnected."""
    malformed: int = 20
    """Invalid commands after which a connection is closed."""


class EventConnection(WebSocketConnection):
    """Sends every visible event from the moment it is open. A client that reads too slowly is disconnected."""

    def __init__(
        self,
        events: CallEvents,
        bus: EventBus,
        history: CallHistorySource,
        authenticator: Authenticator,
        visit: SocketGuard,
        caller: Caller,
        session_id: str,
        limits: EventLimits,
        sync: wire.Sync | None = None,
    ) -> None:
        """With `sync`, the connection starts with a replay of earlier events."""
        super().__init__(
            outbox_bytes=limits.outbox_bytes,
            outbox_messages=limits.outbox_messages,
            slow_seconds=limits.slow_seconds,
        )
        self._events = events
        self._bus = bus
        self._authenticator = authenticator
        self._visit = visit
        self._caller = caller
        self._session_id = session_id
        self._limits = limits
        self._replay = Replay(events, history, caller, session_id)
        self._bucket = TokenBucket(limits.messages_per_second, anyio.current_time)
        self._malformed = self._over_limit = 0
        self._held: deque[bytes] | None = None
        self._held_bytes = 0
        self._memories_added = self._tools_called = 0
        self._sent_counts: tuple[int, int] = (0, 0)
        self._subscriptions: list[Callable[[], None]] = []
        self._since: EventId = 0
        self._sync = sync

    async def _resume(self, last_event_id: EventId | None, *, until_complete: bool = False) -> None:
        """Replay the events after this one (None: the most recent ones); hold back new events until then."""
        self._held, self._held_bytes = deque(), 0
        replayed, last, from_history = 0, min(last_event_id or self._since, self._since), False
        while True:
            found = await self._found(last_event_id)
            for event in found.events:
                await self.enqueue_with_room(wire.write(event))
                last = event["event_id"]
            replayed += len(found.events)
            from_history = from_history or found.from_history
            if found.complete or not found.events or not until_complete:
                break
            last_event_id = last
        await self.enqueue_with_room(
            wire.write(wire.synced(replayed, last, complete=found.complete, from_history=from_history))
        )
        while self._held:
            text = self._held.popleft()
            self._held_bytes -= len(text)
            await self.enqueue_with_room(text)
        self._held = None

    async def _found(self, last_event_id: EventId | None) -> Replayed:
        try:
            return await self._replay(last_event_id, self._since)
        except ScrubjayError as error:
            self._send(wire.error(f"earlier events cannot be replayed: {error.message}"))
            return Replayed([], complete=False, from_history=False)

    # -- events --------------------------------------------------------------------------------------

    def on_closed(self) -> None:
        for unsubscribe in self._subscriptions:
            unsubscribe()

    def is_authorized(self) -> bool:
        return self._authenticator.is_authorized(self._caller)

    def on_tick(self) -> None:
        counts = (self._memories_added, self._tools_called)
        if counts != self._sent_counts:
            self._sent_counts = counts
            update: wire.Json = {"type": "session_update", "memories_added": counts[0], "tools_called": counts[1]}
            self.enqueue(wire.write(update), droppable=True)

    def _on_event(self, stream_event: StreamEvent) -> None:
        if not may_see(self._caller, stream_event):
            return
        match stream_event:
            case Announcement(is_transient=True):
                if self._held is None:
                    self.enqueue(wire.write(wire.announcement(stream_event)), droppable=True)
            case Announcement():
                self._send_in_order(wire.announcement(stream_event))
            case WatchedFileChange():
                self._send_in_order(wire.file_change(stream_event))
            case CallEvent(ended_id=None):
                self._send_in_order(wire.tool_start(stream_event))
            case CallEvent():
                self._tools_called += 1
                self._send_in_order(wire.tool_result(stream_event))

    def _on_call_ended(self, call: CallEnded) -> None:
        if is_visible_to(self._caller, call.context.caller):
            self._memories_added += memories_added(call)

    def _send_in_order(self, event: wire.Json) -> None:
        if self._held is None:
            self._send(event)
            return
        text = wire.write(event)
        self._held.append(text)
        self._held_bytes += len(text)
        if self._held_bytes > self._limits.outbox_bytes:
            self.end(POLICY, "the client does not read")

    def _send(self, event: wire.Json) -> None:
        self.enqueue(wire.write(event))

    # -- commands ------------------------------------------------------------------------------------

    async def read(self, receive: Receive) -> None:
        self._subscriptions = [
            self._events.listen(self._on_event, self._caller),
            self._bus.subscribe(CallEnded, self._on_call_ended),
        ]
        self._since = self._events.new_id()
        resumed = self._sync.last_event_id if self._sync is not None else None
        # A client that leaves before the replay must be able to resume from the id that it gave.
        self._send(wire.connected(self._session_id, self._since if resumed is None else resumed))
        if self._sync is not None:
            await self._resume(resumed, until_complete=True)
        while (message := await receive())["type"] == "websocket.receive":
            text: str | None = message.get("text")
            try:
                if text is None:
                    raise InvalidRequest("a command must be a text message")
                command = wire.read(text)
            except InvalidRequest as problem:
                self._refuse(problem.message)
            else:
                if self._bucket.take():
                    self._over_limit = 0
                    await self._execute(command)
                else:
                    self._refuse_over_limit()
            if self.has_ended:
                return

    async def _execute(self, command: wire.Command) -> None:
        match command:
            case wire.Ping():
                self._send({"type": "pong"})
            case wire.Pong():
                pass
            case wire.Sync() | wire.Cancel():
                await self._execute_counted(command)

    async def _execute_counted(self, command: wire.Sync | wire.Cancel) -> None:
        """Execute a command that counts against the caller's rate limit."""
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
        """Cancel one visible call, or all calls and chats of the session. Their `tool_result` events confirm it."""

        def is_ours(one: CallEvent | CallContext) -> bool:
            return one.client == self._session_id and one.caller.key_id == self._caller.key_id

        def is_named(event: CallEvent) -> bool:
            return event.call_id == call_id and may_see(self._caller, event)

        chats = self._events.stop_work(is_ours) if call_id is None else 0
        calls = self._events.stop(is_ours if call_id is None else is_named)
        if not (calls or chats):
            message = "no call of this session is running" if call_id is None else "no call with this id is running"
            self._send(wire.error(message))

    def _refuse(self, problem: str) -> None:
        self._malformed += 1
        self._send(wire.error(problem))
        if self._malformed > self._limits.malformed:
            self.end(POLICY, "too many invalid commands")

    def _refuse_over_limit(self) -> None:
        self._over_limit += 1
        self._send(wire.error("too many commands per second"))
        if self._over_limit > self._limits.messages_per_second:
            self.end(POLICY, "too many commands")
