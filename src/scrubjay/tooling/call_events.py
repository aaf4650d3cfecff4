"""What is called, told while it happens to whoever listens, and kept for a while for those who come back.

Contents of calls are made ready, and kept, only while somebody listens or has just gone: all that is older is in the
history of sessions. Ids grow with the time, also over restarts, so that any of them tells where to go on.
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
from scrubjay.tooling.call_excerpts import arguments_shown, outcome_shown
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import CallEnded, CallStarted

MOST_KEPT: Final = 1_000
ARGUMENT_CHARACTERS: Final = 2_000
# Who lost a connection has come back by then.
KEPT_AFTER_LAST_LISTENER: Final = timedelta(minutes=10)

_EPOCH: Final = datetime.fromtimestamp(0, UTC)

EventId = int
"""Microseconds of the world's clock, or more when several events share one."""


@dataclass(slots=True, kw_only=True)
class CallEvent:
    """A call, as others may see it. What it was given and answered is empty when nobody listened as it began."""

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
    memories_added: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """Something that a client told to all, or that the server tells of what is going on."""

    id: EventId
    payload: Mapping[str, Any]
    audience: Caller | None = None
    """Whose it is, if it is not for all."""
    is_fleeting: bool = False
    """Whether it is only worth something now: who reads too slowly goes without, and nobody is told it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file that changed in a folder that is watched."""

    id: EventId
    family: str
    """Who may call the tools of this family, if only to read, may know of it."""
    path: str
    kind: str


Happening = CallEvent | Announcement | FileChange
Hear = Callable[[Happening], None]
"""Told of a call when it begins and when it has ended, and of announcements; must neither wait nor fail."""


def may_see(caller: Caller, happening: Happening) -> bool:
    """Whoever may do everything sees everything; everybody else what was called with their own key."""
    match happening:
        case Announcement():
            return happening.audience is None or _is_own(caller, happening.audience)
        case FileChange():
            return caller.may_call(happening.family, read_only=True)
        case CallEvent():
            return _is_own(caller, happening.caller)


def _is_own(caller: Caller, whose: Caller) -> bool:
    own = caller.key_id is not None and caller.key_id == whose.key_id
    return own or EVERYTHING in caller.scopes


class CallEvents:
    """Passes calls on to listeners. Costs next to nothing while there are none."""

    def __init__(self, added: Mapping[str, Callable[[Any], int]] | None = None, clock: Clock = system_clock) -> None:
        """`added` tells of an answer of each of these tools how many memories it brought."""
        self._added = added or {}
        self._clock = clock
        self._last_id = 0
        self._running: dict[CallStarted, _Running] = {}
        self._works: dict[object, tuple[CallContext, anyio.CancelScope]] = {}
        self._listeners: dict[object, Hear] = {}
        self._callers: dict[object, Caller] = {}
        """Who listens, as far as they said so."""
        self._kept: deque[Happening] = deque(maxlen=MOST_KEPT)
        self._complete_after: EventId = self.new_id()
        self._last_left_at: datetime | None = None

    @property
    def complete_after(self) -> EventId:
        """All that ended after this id is kept here; what ended before may not be."""
        return self._complete_after

    def new_id(self) -> EventId:
        self._last_id = max(self._last_id + 1, id_at(self._clock()))
        return self._last_id

    # -- calls ---------------------------------------------------------------------------------------

    def subscribe(self, events: EventBus) -> None:
        """Pass on the calls that are published there."""
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
            arguments=arguments_shown(call.tool, call.arguments, ARGUMENT_CHARACTERS) if self._is_recording() else {},
        )
        self._running[call] = _Running(event, call.make_cancellable())
        self._tell(event)

    def _call_ended(self, call: CallEnded) -> None:
        if call.started is None or call.tool is None or (running := self._running.pop(call.started, None)) is None:
            return
        event, result = running.event, call.result
        event.ended_id = self.new_id()
        event.success = isinstance(result, BaseModel)
        event.milliseconds = call.milliseconds
        if event.success and event.tool in self._added:
            event.memories_added = self._added[event.tool](result)
        destroys = call.tool.destructive and not call.tool.only_reads(call.arguments)
        if destroys:
            self._forget_contents()
        if self._is_recording():
            # What was erased is not shown again.
            event.result = "" if destroys and event.success else outcome_shown(call.tool, result)
            self._happened(event)

    def stop(self, chosen: Callable[[CallEvent], bool]) -> list[str]:
        """Stop the calls that are chosen; their ids."""
        stopped = [running for running in self._running.values() if chosen(running.event)]
        for running in stopped:
            running.scope.cancel()
        return [running.event.call_id for running in stopped]

    @contextmanager
    def stoppable(self, context: CallContext) -> Generator[anyio.CancelScope]:
        """Work that is more than one call, and that its session can stop."""
        token, scope = object(), anyio.CancelScope()
        self._works[token] = (context, scope)
        try:
            with scope:
                yield scope
        finally:
            del self._works[token]

    def stop_work(self, chosen: Callable[[CallContext], bool]) -> int:
        """Stop such work where it is chosen; how much there was."""
        scopes = [scope for context, scope in self._works.values() if chosen(context)]
        for scope in scopes:
            scope.cancel()
        return len(scopes)

    # -- those who listen ----------------------------------------------------------------------------

    def listen(self, hear: Hear, caller: Caller | None = None) -> Callable[[], None]:
        """From now on this hears everything; what is returned ends that."""
        if not self._is_recording():
            self._complete_after = self.new_id()
        token = object()
        self._listeners[token] = hear
        if caller is not None:
            self._callers[token] = caller

        def leave() -> None:
            self._callers.pop(token, None)
            if self._listeners.pop(token, None) is not None and not self._listeners:
                self._last_left_at = self._clock()

        return leave

    def announce(
        self, payload: Mapping[str, Any], audience: Caller | None = None, *, is_fleeting: bool = False
    ) -> Announcement:
        """Tell this to all, or to whoever may see what this caller does."""
        announcement = Announcement(id=self.new_id(), payload=payload, audience=audience, is_fleeting=is_fleeting)
        if is_fleeting:
            self._tell(announcement)
        else:
            self._happened(announcement)
        return announcement

    def tell(self, event: Mapping[str, Any], whose: Caller, *, is_fleeting: bool = False) -> None:
        """Tell what the server does for this caller to whoever may see that."""
        if self._listeners or not is_fleeting:
            self.announce(event, whose, is_fleeting=is_fleeting)

    def is_heard_by(self, whose: Caller) -> bool:
        """Whether anybody listens who may see what is done for this caller."""
        return any(_is_own(caller, whose) for caller in self._callers.values())

    def file_changed(self, family: str, path: str, kind: str) -> None:
        """Tell of a file."""
        self._happened(FileChange(id=self.new_id(), family=family, path=path, kind=kind))

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def kept(self) -> list[Happening]:
        """What has happened, the earliest first."""
        return list(self._kept)

    def running(self) -> list[CallEvent]:
        return [running.event for running in self._running.values()]

    def _happened(self, happening: Happening) -> None:
        if self._is_recording():
            self._keep(happening)
            self._tell(happening)

    def _tell(self, happening: Happening) -> None:
        for hear in list(self._listeners.values()):
            hear(happening)

    def _keep(self, happening: Happening) -> None:
        if len(self._kept) == MOST_KEPT:
            self._complete_after = id_of(self._kept[0])
        self._kept.append(happening)

    def _is_recording(self) -> bool:
        if self._listeners:
            return True
        if self._last_left_at is None:
            return False
        if self._clock() - self._last_left_at > KEPT_AFTER_LAST_LISTENER:
            self._last_left_at = None
            self._kept.clear()
            return False
        return True

    def _forget_contents(self) -> None:
        """What was just erased may be told of in what calls were given and answered."""
        for happening in self._kept:
            if isinstance(happening, CallEvent):
                happening.arguments, happening.result = {}, ""


@dataclass(slots=True)
class _Running:
    """A call that has not ended."""

    event: CallEvent
    scope: anyio.CancelScope


def id_of(happening: Happening) -> EventId:
    """Where it stands among all others: a call that has ended, by its end."""
    if isinstance(happening, CallEvent):
        return happening.ended_id or happening.started_id
    return happening.id


def id_at(moment: datetime) -> EventId:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment_of(event_id: EventId) -> datetime:
    """When that was; the beginning of time, or its end, for an id that no clock of ours has given."""
    try:
        return _EPOCH + timedelta(microseconds=event_id)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if event_id > 0 else datetime.min.replace(tzinfo=UTC)
