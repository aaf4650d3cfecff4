"""Live events of calls for listeners, buffered for a while so that a reconnecting client can resume.

Contents of calls are serialized and buffered only while a listener is connected or has just left; older calls are in
the session history. Ids increase with time, also across restarts, so that any id is a position to resume from.
"""

from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import anyio
from pydantic import BaseModel

from scrubjay.core.callers import EVERYTHING, Caller
from scrubjay.core.clock import Clock, system_clock
from scrubjay.tooling.call_excerpts import visible_arguments, visible_outcome
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import CallEnded, CallStarted

MAX_BUFFERED: Final = 1_000
ARGUMENT_CHARACTERS: Final = 2_000
# A client that lost its connection reconnects within this time.
BUFFERED_AFTER_LAST_LISTENER: Final = timedelta(minutes=10)

_EPOCH: Final = datetime.fromtimestamp(0, UTC)

EventId = int
"""Microseconds since the epoch; incremented when several events share one."""


@dataclass(slots=True, kw_only=True)
class CallEvent:
    """A call as other clients may see it. Arguments and result are empty when nothing listened as it began."""

    call_id: str
    tool: str
    caller: Caller
    client: str | None
    surface: str
    started_id: EventId
    arguments: Mapping[str, Any]
    ended_id: EventId | None = None
    result: str = ""
    success: bool = False
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """A message from a client or the server to listeners."""

    id: EventId
    payload: Mapping[str, Any]
    audience: Caller | None = None
    """The caller it is for; None for all."""
    is_transient: bool = False
    """True for an event that is neither buffered nor delivered to slow readers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedFileChange:
    """A file changed in a watched folder."""

    id: EventId
    family: str
    """Visible to callers with read access to this tool family."""
    path: str
    kind: str
    owner_only: bool = False
    """True in a folder that callers with a key may not read."""


StreamEvent = CallEvent | Announcement | WatchedFileChange
EventListener = Callable[[StreamEvent], None]
"""Called when a call starts and ends, and for other events; must neither block nor raise."""


def may_see(caller: Caller, stream_event: StreamEvent) -> bool:
    """Return True when the caller may see the event: with scope `*` any, otherwise those of its own key."""
    match stream_event:
        case Announcement():
            return stream_event.audience is None or is_visible_to(caller, stream_event.audience)
        case WatchedFileChange():
            is_allowed = not (stream_event.owner_only and caller.holds_key)
            return is_allowed and caller.may_read(stream_event.family)
        case CallEvent():
            return is_visible_to(caller, stream_event.caller)


def is_visible_to(caller: Caller, whose: Caller) -> bool:
    """Return whether `caller` may see the calls of `whose`: with the same key, or with the scope for everything."""
    own = caller.key_id is not None and caller.key_id == whose.key_id
    return own or EVERYTHING in caller.scopes


class CallEvents:
    """Passes call events to listeners. Nearly free while there are none."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._last_id = 0
        self._running: dict[CallStarted, _Running] = {}
        self._works: dict[object, tuple[CallContext, anyio.CancelScope]] = {}
        self._listeners: dict[object, EventListener] = {}
        self._callers: dict[object, Caller] = {}
        """Callers of the listeners, where known."""
        self._buffer: deque[StreamEvent] = deque(maxlen=MAX_BUFFERED)
        self._complete_after: EventId = self.new_id()
        self._last_left_at: datetime | None = None

    @property
    def complete_after(self) -> EventId:
        """Return the id after which every event is buffered; earlier events may be missing."""
        return self._complete_after

    def new_id(self) -> EventId:
        self._last_id = max(self._last_id + 1, id_at(self._clock()))
        return self._last_id

    # -- calls ---------------------------------------------------------------------------------------

    def subscribe(self, events: EventBus) -> None:
        """Pass on the calls published on this bus."""
        events.subscribe(CallStarted, self._call_started)
        events.subscribe(CallEnded, self._call_ended)

    def _call_started(self, call: CallStarted) -> None:
        started_id = self.new_id()
        context = call.context
        event = CallEvent(
            call_id=f"call_{started_id}",
            tool=call.tool.name,
            caller=context.caller,
            client=context.client,
            surface=context.surface,
            started_id=started_id,
            arguments=visible_arguments(call.tool, call.arguments, ARGUMENT_CHARACTERS) if self._is_recording() else {},
        )
        self._running[call] = _Running(event, call.make_cancellable())
        self._notify(event)

    def _call_ended(self, call: CallEnded) -> None:
        if call.started is None or call.tool is None or (running := self._running.pop(call.started, None)) is None:
            return
        event, result = running.event, call.result
        event.ended_id = self.new_id()
        event.success = isinstance(result, BaseModel)
        event.milliseconds = call.milliseconds
        destroys = call.tool.destructive and not call.tool.only_reads(call.arguments)
        if destroys:
            self._erase_contents()
        if self._is_recording():
            # Erased content must not be shown again.
            event.result = "" if destroys and event.success else visible_outcome(call.tool, result)
            self._record(event)

    def stop(self, chosen: Callable[[CallEvent], bool]) -> list[str]:
        """Cancel the selected calls and return their ids."""
        stopped = [running for running in self._running.values() if chosen(running.event)]
        for running in stopped:
            running.scope.cancel()
        return [running.event.call_id for running in stopped]

    @contextmanager
    def stoppable(self, context: CallContext) -> Generator[anyio.CancelScope]:
        """Register work of several calls that its session can cancel."""
        token, scope = object(), anyio.CancelScope()
        self._works[token] = (context, scope)
        try:
            with scope:
                yield scope
        finally:
            del self._works[token]

    def stop_work(self, chosen: Callable[[CallContext], bool]) -> int:
        """Cancel the selected work and return the number of cancelled items."""
        scopes = [scope for context, scope in self._works.values() if chosen(context)]
        for scope in scopes:
            scope.cancel()
        return len(scopes)

    # -- listeners ----------------------------------------------------------------------------

    def listen(self, listener: EventListener, caller: Caller | None = None) -> Callable[[], None]:
        """Call `listener` for every event; return a function that ends this."""
        if not self._is_recording():
            self._complete_after = self.new_id()
        token = object()
        self._listeners[token] = listener
        if caller is not None:
            self._callers[token] = caller

        def leave() -> None:
            self._callers.pop(token, None)
            if self._listeners.pop(token, None) is not None and not self._listeners:
                self._last_left_at = self._clock()

        return leave

    def announce(
        self, payload: Mapping[str, Any], audience: Caller | None = None, *, is_transient: bool = False
    ) -> Announcement:
        """Send the payload to all listeners, or to those that may see events of `audience`."""
        announcement = Announcement(id=self.new_id(), payload=payload, audience=audience, is_transient=is_transient)
        if is_transient:
            self._notify(announcement)
        else:
            self._record(announcement)
        return announcement

    def publish(self, event: Mapping[str, Any], owner: Caller, *, is_transient: bool = False) -> None:
        """Send an event about this caller to the listeners that may see it."""
        if self._listeners or not is_transient:
            self.announce(event, owner, is_transient=is_transient)

    def has_listener_for(self, owner: Caller) -> bool:
        """Return True when a listener may see the events of this caller."""
        return any(is_visible_to(caller, owner) for caller in self._callers.values())

    def file_changed(self, family: str, path: str, kind: str, owner_only: bool) -> None:
        """Publish a file change."""
        self._record(WatchedFileChange(id=self.new_id(), family=family, path=path, kind=kind, owner_only=owner_only))

    @property
    def listeners(self) -> int:
        """Return the number of listeners."""
        return len(self._listeners)

    def buffered(self) -> list[StreamEvent]:
        """Return the buffered events, oldest first."""
        return list(self._buffer)

    def running(self) -> list[CallEvent]:
        return [running.event for running in self._running.values()]

    def _record(self, stream_event: StreamEvent) -> None:
        if self._is_recording():
            self._append(stream_event)
            self._notify(stream_event)

    def _notify(self, stream_event: StreamEvent) -> None:
        for listener in list(self._listeners.values()):
            listener(stream_event)

    def _append(self, stream_event: StreamEvent) -> None:
        if len(self._buffer) == MAX_BUFFERED:
            self._complete_after = id_of(self._buffer[0])
        self._buffer.append(stream_event)

    def _is_recording(self) -> bool:
        if self._listeners:
            return True
        if self._last_left_at is None:
            return False
        if self._clock() - self._last_left_at > BUFFERED_AFTER_LAST_LISTENER:
            self._last_left_at = None
            self._buffer.clear()
            return False
        return True

    def _erase_contents(self) -> None:
        """Drop buffered arguments and results: they may quote what was just erased."""
        for stream_event in self._buffer:
            if isinstance(stream_event, CallEvent):
                stream_event.arguments, stream_event.result = {}, ""


@dataclass(slots=True)
class _Running:
    """A call that has not ended."""

    event: CallEvent
    scope: anyio.CancelScope


def id_of(stream_event: StreamEvent) -> EventId:
    """Return the position of the event; for an ended call, that of its end."""
    if isinstance(stream_event, CallEvent):
        return stream_event.ended_id or stream_event.started_id
    return stream_event.id


def id_at(moment: datetime) -> EventId:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment_of(event_id: EventId) -> datetime:
    """Return the time of the id, clamped to the range of `datetime`."""
    try:
        return _EPOCH + timedelta(microseconds=event_id)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if event_id > 0 else datetime.min.replace(tzinfo=UTC)
