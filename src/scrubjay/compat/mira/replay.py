"""Replay of events from before a client connected: from the buffer, and before that from the session history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from scrubjay.compat.mira.event_wire import Json, announcement, file_change, tool_result, tool_start
from scrubjay.core.callers import Caller
from scrubjay.features.sessions.models import ToolCall
from scrubjay.tooling.call_events import (
    ARGUMENT_CHARACTERS,
    Announcement,
    CallEvent,
    CallEvents,
    EventId,
    id_at,
    may_see,
    moment_of,
)
from scrubjay.tooling.call_excerpts import excerpt_arguments

# Limits in calls; each call has a start and an end event.
MAX_CALLS_AFTER: Final = 100
MAX_RECENT_CALLS: Final = 50


class CallHistorySource(Protocol):
    """Reads calls from the session history."""

    async def __call__(
        self, caller: Caller, client: str, after: datetime | None, until: datetime, limit: int
    ) -> Sequence[ToolCall]:
        """Return calls that ended by `until` and that the caller may read.

        At most `limit`: the first ones after `after`, or the last ones when it is None.
        """
        ...


@dataclass(frozen=True, slots=True)
class Replayed:
    """Result of one replay."""

    events: list[Json]
    """In order of their ids."""
    complete: bool
    """True if no later event remains to be replayed."""
    from_history: bool
    """True if it starts before the buffer. The history contains only calls, and only those of named clients."""


class Replay:
    """Replays the events that one client may see."""

    def __init__(self, events: CallEvents, history: CallHistorySource, caller: Caller, client: str) -> None:
        self._events = events
        self._history = history
        self._caller = caller
        self._client = client
        self._last_number = 0
        self._open_calls: dict[str, str] = {}
        """Call id -> replay id of the calls whose end was not replayed yet."""

    async def __call__(self, after: EventId | None, until: EventId) -> Replayed:
        """Return the events after `after` (None: the most recent ones) up to `until`."""
        limit = MAX_RECENT_CALLS if after is None else MAX_CALLS_AFTER
        complete_after = min(self._events.complete_after, until)
        events: list[Json] = []
        from_history = after is None or after < complete_after
        if from_history:
            begin = None if after is None else moment_of(after)
            calls = await self._history(self._caller, self._client, begin, moment_of(complete_after), limit)
            for call in calls:
                events += _call_events(_event(call), after or 0, until, replayed=True)
            if after is not None and len(calls) >= limit:  # there may be more calls before the buffer starts
                return Replayed(self._number_calls(sorted(events, key=_id)), complete=False, from_history=True)
        events += self._buffered(after or 0, until)
        events.sort(key=_id)
        chosen = events[-2 * limit :] if after is None else events[: 2 * limit]
        return Replayed(self._number_calls(chosen), after is None or len(chosen) == len(events), from_history)

    def _number_calls(self, events: list[Json]) -> list[Json]:
        """Give every call a new `call_id`, so that no two replayed calls of a connection share one."""
        for event in events:
            if (own := event.get("replay_of")) is None:
                continue
            if event["type"] == "tool_start" or own not in self._open_calls:
                self._last_number += 1
                self._open_calls[own] = f"replay-{self._last_number}"
            event["call_id"] = self._open_calls[own]
            if event["type"] == "tool_result":
                del self._open_calls[own]
        return events

    def _buffered(self, after: EventId, until: EventId) -> list[Json]:
        found: list[Json] = []
        for stream_event in [*self._events.buffered(), *self._events.running()]:
            if not may_see(self._caller, stream_event):
                continue
            if isinstance(stream_event, CallEvent):
                ended = stream_event.ended_id is not None and stream_event.ended_id <= until
                # The end of a call that still runs will be sent with its own id.
                found += _call_events(stream_event, after, until, replayed=ended)
            elif after < stream_event.id <= until:
                found.append(
                    announcement(stream_event) if isinstance(stream_event, Announcement) else file_change(stream_event)
                )
        return found


def _call_events(event: CallEvent, after: EventId, until: EventId, *, replayed: bool) -> list[Json]:
    events: list[Json] = []
    if after < event.started_id <= until:
        events.append(tool_start(event, replayed=replayed))
    if event.ended_id is not None and after < event.ended_id <= until:
        events.append(tool_result(event, replayed=replayed))
    return events


def _id(event: Json) -> EventId:
    return event["event_id"]


def _event(call: ToolCall) -> CallEvent:
    """Return a call of the history as an event. The history stores neither its caller nor its id.

    Its start gets the id before its end: a client that resumes after any of these ids misses no long call.
    """
    return CallEvent(
        call_id=f"history-{id_at(call.called_at)}",
        tool=call.tool,
        caller=_NOBODY,
        client=None,
        surface="",
        started_id=id_at(call.ended_at) - 1,
        arguments=excerpt_arguments(call.arguments, ARGUMENT_CHARACTERS),
        ended_id=id_at(call.ended_at),
        result=call.result,
        success=call.success,
        milliseconds=call.milliseconds,
    )


_NOBODY = Caller("", frozenset())
