"""What happened before a client listened: out of what is kept in mind, and before that out of the history."""

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
from scrubjay.tooling.call_excerpts import arguments_cut

# As many calls, of which each has a beginning and an end.
MOST_AFTER: Final = 100
MOST_LATELY: Final = 50


class Past(Protocol):
    """The calls that the history of sessions has."""

    async def __call__(
        self, caller: Caller, client: str, after: datetime | None, until: datetime, limit: int
    ) -> Sequence[ToolCall]:
        """Those that ended then, and that this caller may read: the first so many after a moment, or the last."""
        ...


@dataclass(frozen=True, slots=True)
class Replayed:
    """What is told again."""

    events: list[Json]
    """In their order."""
    complete: bool
    """Whether nothing comes after these."""
    from_history: bool
    """Whether it goes back to before all was kept in mind: the history has calls only, and only of named clients."""


class Replay:
    """Tells again what one client may see."""

    def __init__(self, events: CallEvents, past: Past, caller: Caller, client: str) -> None:
        self._events = events
        self._past = past
        self._caller = caller
        self._client = client
        self._numbered = 0
        self._halves: dict[str, str] = {}
        """Under which number each call was told of which only the beginning was."""

    async def __call__(self, after: EventId | None, until: EventId) -> Replayed:
        """The events after this one (or the last ones) up to another."""
        most = MOST_LATELY if after is None else MOST_AFTER
        complete_after = min(self._events.complete_after, until)
        events: list[Json] = []
        from_history = after is None or after < complete_after
        if from_history:
            begin = None if after is None else moment_of(after)
            calls = await self._past(self._caller, self._client, begin, moment_of(complete_after), most)
            for call in calls:
                events += _told(_event(call), after or 0, until, again=True)
            if after is not None and len(calls) >= most:  # there may be more of them before what is kept in mind
                return Replayed(self._with_numbers(sorted(events, key=_id)), complete=False, from_history=True)
        events += self._kept(after or 0, until)
        events.sort(key=_id)
        chosen = events[-2 * most :] if after is None else events[: 2 * most]
        return Replayed(self._with_numbers(chosen), after is None or len(chosen) == len(events), from_history)

    def _with_numbers(self, events: list[Json]) -> list[Json]:
        """The calls among them numbered on: no two that one client is told again share a number."""
        for event in events:
            if (own := event.get("replay_of")) is None:
                continue
            if event["type"] == "tool_start" or own not in self._halves:
                self._numbered += 1
                self._halves[own] = f"replay-{self._numbered}"
            event["call_id"] = self._halves[own]
            if event["type"] == "tool_result":
                del self._halves[own]
        return events

    def _kept(self, after: EventId, until: EventId) -> list[Json]:
        told: list[Json] = []
        for happening in [*self._events.kept(), *self._events.running()]:
            if not may_see(self._caller, happening):
                continue
            if isinstance(happening, CallEvent):
                ended = happening.ended_id is not None and happening.ended_id <= until
                # Of one that goes on, the end comes under its own id.
                told += _told(happening, after, until, again=ended)
            elif after < happening.id <= until:
                told.append(announcement(happening) if isinstance(happening, Announcement) else file_change(happening))
        return told


def _told(event: CallEvent, after: EventId, until: EventId, *, again: bool) -> list[Json]:
    told: list[Json] = []
    if after < event.started_id <= until:
        told.append(tool_start(event, again=again))
    if event.ended_id is not None and after < event.ended_id <= until:
        told.append(tool_result(event, again=again))
    return told


def _id(event: Json) -> EventId:
    return event["event_id"]


def _event(call: ToolCall) -> CallEvent:
    """A call of the history. Whose it was is not kept, and neither is its id.

    It is told when it ended, its beginning too: so whoever goes on after any of these misses none that took long.
    """
    return CallEvent(
        call_id=f"history-{id_at(call.called_at)}",
        tool=call.tool,
        caller=_NOBODY,
        client=None,
        surface="",
        started_id=id_at(call.ended_at) - 1,
        arguments=arguments_cut(call.arguments, ARGUMENT_CHARACTERS),
        ended_id=id_at(call.ended_at),
        result=call.result,
        success=call.success,
        milliseconds=call.milliseconds,
    )


_NOBODY = Caller("", frozenset())
