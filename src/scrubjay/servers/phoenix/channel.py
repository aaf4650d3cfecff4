"""One topic that a client has joined: what it asks there, and what it is told."""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import anyio.abc

from scrubjay.core.callers import Caller
from scrubjay.core.clock import Clock
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import Busy, ScrubjayError
from scrubjay.core.ids import new_id
from scrubjay.core.progress import Step, StepKind
from scrubjay.servers.phoenix.answers import answer_data
from scrubjay.servers.phoenix.frames import CLOSE, Frame
from scrubjay.servers.phoenix.limits import Limits
from scrubjay.servers.phoenix.messages import (
    ALL_EVENTS,
    EVENTS,
    OPTIONAL_EVENTS,
    Call,
    Interrupt,
    Query,
    Ref,
    Refused,
    Subscribe,
    read,
)
from scrubjay.servers.phoenix.presence import Group, Presence
from scrubjay.servers.phoenix.work_item import Work
from scrubjay.servers.phoenix.work_queue import Turns
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher

logger = logging.getLogger("scrubjay.synapse")

# A question is told to end so much before its time is up, that what was found by then is still told.
SOFT_SHARE = 0.95
# A job that is handed back when the time is up is waited for so much longer.
JOB_GRACE_SECONDS = 5.0
OVERLOADED = "overloaded"
# What only tells how it goes on; the rest is what somebody waits for.
_DROPPABLE = frozenset({"thought", "progress"})


_TOPIC = re.compile(r"cortex:([!-~](?:[ -~]{0,98}[!-~])?)")


def agent_of(topic: str) -> str | None:
    """Whose topic it is; None when it is nobody's."""
    matched = _TOPIC.fullmatch(topic)
    return matched[1] if matched else None


class Line(Protocol):
    """The connection that a channel is on."""

    tasks: anyio.abc.TaskGroup
    open_work: int
    address: str | None

    def send(self, frame: Frame, *, droppable: bool = False) -> None: ...

    def take_dropped(self) -> int:
        """How many thoughts were dropped since this was asked last."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What all connections of a server have in common."""

    dispatcher: Dispatcher
    question_tool: str
    limits: Limits
    turns: Turns
    presence: Presence
    clock: Clock


class Channel:
    """Begins with a join and ends with a leave, another join, or the connection."""

    def __init__(self, shared: Shared, line: Line, join: Frame, agent: str, caller: Caller) -> None:
        self.topic = join.topic
        self.join_ref = join.join_ref
        self.caller = caller
        self._shared = shared
        self._line = line
        self._agent = agent
        self._group: Group = (join.topic, caller.key_id, caller.name)
        self._works: dict[Ref, Work] = {}
        self._wanted = OPTIONAL_EVENTS
        self._closed = False
        self._online_at = self._last_activity = self._now()
        self._told: dict[str, Any] = {}

    def open(self) -> None:
        self._told = self._meta()
        self._shared.presence.join(self._group, self._agent, self._tell, self._told)

    def close(self) -> None:
        """Stop all that was asked for here; nothing more is told."""
        self._shared.presence.leave(self._group, self._agent, self._tell)
        self._closed = True
        for work in self._works.values():
            work.scope.cancel()

    def tend(self) -> None:
        """Tell what this client is doing now, if that has changed."""
        if (meta := self._meta()) != self._told:
            self._told = meta
            self._shared.presence.update(self._group, self._agent, self._tell, meta)

    def handle(self, event: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to an event; `Refused` when it cannot be done."""
        self._last_activity = self._now()
        match event:
            case "query":
                return self._query(read(Query, payload))
            case "call":
                return self._call(read(Call, payload))
            case "interrupt":
                return self._interrupt(read(Interrupt, payload))
            case "subscribe":
                return self._subscribe(read(Subscribe, payload))
            case "ping":
                return {"pong": True}
            case _:
                raise Refused("unknown event", "known: query, call, interrupt, subscribe, ping")

    # -- events --------------------------------------------------------------------------------------

    def _query(self, query: Query) -> Mapping[str, Any]:
        async def ask(work: Work) -> dict[str, Any]:
            arguments = {"query": query.q, "timeout_ms": max(1, int(work.remaining_ms * SOFT_SHARE))}
            answer = await self._dispatch(self._shared.question_tool, arguments, work)
            return answer_data(query.q, answer)

        return self._begin(query, ask)

    def _call(self, call: Call) -> Mapping[str, Any]:
        try:
            is_job = self._shared.dispatcher.registry.get(call.tool).runs_as_job
        except ScrubjayError as error:
            raise Refused(error.code, error.message) from None

        async def run(work: Work) -> dict[str, Any]:
            self._think(work.ref, Step(StepKind.TOOL_INVOCATION, f"calling {call.tool}"))
            return await self._dispatch(call.tool, call.arguments, work)

        return self._begin(call, run, grace_seconds=JOB_GRACE_SECONDS if is_job else 0.0)

    def _interrupt(self, interrupt: Interrupt) -> Mapping[str, Any]:
        work = self._works.get(interrupt.ref)
        if work is not None:
            work.interrupt(interrupt.reason)
        return {"ref": interrupt.ref, "found": work is not None}

    def _subscribe(self, subscribe: Subscribe) -> Mapping[str, Any]:
        wanted = EVENTS if ALL_EVENTS in subscribe.events else frozenset(subscribe.events)
        if not wanted <= EVENTS:
            raise Refused("unknown events", f"known: {', '.join(sorted(EVENTS))}, or {ALL_EVENTS} for all")
        self._wanted = wanted & OPTIONAL_EVENTS
        return {"events": sorted(self._wanted | (EVENTS - OPTIONAL_EVENTS))}

    # -- work ----------------------------------------------------------------------------------------

    def _begin(
        self, asked: Query | Call, do: Callable[[Work], Awaitable[dict[str, Any]]], *, grace_seconds: float = 0.0
    ) -> Mapping[str, Any]:
        if asked.ref in self._works:
            raise Refused("ref is in use", "the work of this ref has not ended yet")
        if self._line.open_work >= self._shared.limits.open_per_connection:
            raise Refused(OVERLOADED, "this connection waits for too much already")
        try:
            ticket = self._shared.turns.take_ticket(asked.priority)
        except Busy as error:
            raise Refused(OVERLOADED, error.message) from None
        work = Work(ref=asked.ref, ticket=ticket, timeout_ms=asked.timeout, do=do, grace_seconds=grace_seconds)
        self._works[work.ref] = work
        self._line.open_work += 1
        self._line.tasks.start_soon(self._run, work)
        return {"ref": work.ref, "status": "processing"}

    async def _run(self, work: Work) -> None:
        def think(step: Step) -> None:
            self._think(work.ref, step)

        try:
            await work.run(self._tell, self._now, think)
        except Exception as error:  # a bug: whoever waits is told, and the connection lives on
            logger.error("work over a socket broke", extra=place_of(error))
            work.tell_broken(self._tell, self._now, error)
        finally:
            work.ticket.give_back()  # also of one that was cancelled before it could begin
            del self._works[work.ref]
            self._line.open_work -= 1

    async def _dispatch(self, tool: str, arguments: Mapping[str, Any], work: Work) -> dict[str, Any]:
        def think(step: Step) -> None:
            self._think(work.ref, step)

        context = CallContext(
            surface="synapse",
            caller=self.caller,
            client=f"synapse:{self._agent}",
            address=self._line.address,
            patience=work.remaining_ms / 1000,
            request_id=new_id("req"),
            reporter=_ProgressTeller(self._tell, work.ref, self._now),
            witness=think,
        )
        answer = await self._shared.dispatcher.call(tool, arguments, context)
        return answer.model_dump(mode="json", by_alias=True)

    # -- telling -------------------------------------------------------------------------------------

    def _think(self, ref: Ref, step: Step) -> None:
        thought: dict[str, Any] = {"type": step.kind.value, "content": step.content}
        if step.confidence is not None:
            thought["confidence"] = step.confidence
        self._tell("thought", {"thought": thought, "ref": ref, "timestamp": self._now()})

    def _tell(self, event: str, payload: Mapping[str, Any]) -> None:
        if self._closed or (event in OPTIONAL_EVENTS and event not in self._wanted):
            return
        if event == "result" and (dropped := self._line.take_dropped()):
            self._push("system:thoughts_dropped", {"dropped": dropped})
        self._push(event, payload)

    def _push(self, event: str, payload: Mapping[str, Any]) -> None:
        frame = Frame(self.topic, event, payload, join_ref=self.join_ref)
        self._line.send(frame, droppable=event in _DROPPABLE)

    def closing_frame(self, event: str = CLOSE) -> Frame:
        """What tells the client that this channel has ended."""
        return Frame(self.topic, event, {}, self.join_ref, self.join_ref)

    def _meta(self) -> dict[str, Any]:
        return {
            "online_at": self._online_at,
            "status": "busy" if self._works else "idle",
            "load": len(self._works),
            "last_activity": self._last_activity,
        }

    def _now(self) -> str:
        return self._shared.clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _ProgressTeller:
    """Pushes each report of a tool that takes a while. Stopping takes effect by cancelling, not here."""

    def __init__(self, tell: Callable[[str, Mapping[str, Any]], None], ref: Ref, now: Callable[[], str]) -> None:
        self._tell = tell
        self._ref = ref
        self._now = now

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        told = {"ref": self._ref, "done": done, "total": total, "message": message, "timestamp": self._now()}
        self._tell("progress", told)
