"""A topic that a client has joined: handles its events and pushes thoughts, progress and results."""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import anyio.abc

from scrubjay.core.callers import Caller
from scrubjay.core.clock import Clock
from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import Busy, ScrubjayError
from scrubjay.core.ids import new_id
from scrubjay.core.progress import AnswerStep, StepKind
from scrubjay.servers.phoenix.frames import CLOSE, PhoenixFrame
from scrubjay.servers.phoenix.limits import SynapseLimits
from scrubjay.servers.phoenix.messages import (
    ALL_EVENTS,
    EVENTS,
    OPTIONAL_EVENTS,
    CallPayload,
    EventRefused,
    InterruptPayload,
    QueryPayload,
    Ref,
    SubscribePayload,
    parse_payload,
)
from scrubjay.servers.phoenix.presence import Group, Presence
from scrubjay.servers.phoenix.result_payloads import result_payload
from scrubjay.servers.phoenix.work_item import WorkItem
from scrubjay.servers.phoenix.work_queue import WorkQueue
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher

logger = logging.getLogger("scrubjay.synapse")

# Share of the timeout that a question may use, so that partial results can still be sent in time.
SOFT_SHARE = 0.95
# Extra seconds for a tool that runs as a job: at the timeout it returns the job's id instead of being stopped.
JOB_GRACE_SECONDS = 5.0
OVERLOADED = "overloaded"
# Events that may be dropped for a slow client: they only report progress.
_DROPPABLE = frozenset({"thought", "progress"})


_TOPIC = re.compile(r"cortex:([!-~](?:[ -~]{0,98}[!-~])?)")


def agent_of(topic: str) -> str | None:
    """Return the agent of a topic `cortex:AGENT`; None for any other topic."""
    matched = _TOPIC.fullmatch(topic)
    return matched[1] if matched else None


class ChannelConnection(Protocol):
    """The connection that a channel belongs to."""

    tasks: anyio.abc.TaskGroup
    open_work: int
    address: str | None

    def send(self, frame: PhoenixFrame, *, droppable: bool = False) -> None: ...

    def take_dropped(self) -> int:
        """Return the number of messages dropped since the last call."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SynapseState:
    """The parts that all connections of a server share."""

    dispatcher: Dispatcher
    question_tool: str
    limits: SynapseLimits
    queue: WorkQueue
    presence: Presence
    clock: Clock


class Channel:
    """A joined topic. It ends with a leave, another join of the same topic, or the connection."""

    def __init__(
        self, state: SynapseState, connection: ChannelConnection, join: PhoenixFrame, agent: str, caller: Caller
    ) -> None:
        self.topic = join.topic
        self.join_ref = join.join_ref
        self.caller = caller
        self._state = state
        self._connection = connection
        self._agent = agent
        self._group: Group = (join.topic, caller.key_id, caller.name)
        self._work: dict[Ref, WorkItem] = {}
        self._subscribed = OPTIONAL_EVENTS
        self._closed = False
        self._online_at = self._last_activity = self._now()
        self._pushed_meta: dict[str, Any] = {}

    def open(self) -> None:
        """Announce this client to the others on the topic."""
        self._pushed_meta = self._meta()
        self._state.presence.join(self._group, self._agent, self._emit, self._pushed_meta)

    def close(self) -> None:
        """Cancel all work of this channel; nothing more is sent."""
        self._state.presence.leave(self._group, self._agent, self._emit)
        self._closed = True
        for work in self._work.values():
            work.scope.cancel()

    def push_presence(self) -> None:
        """Update this client's presence if it has changed."""
        if (meta := self._meta()) != self._pushed_meta:
            self._pushed_meta = meta
            self._state.presence.update(self._group, self._agent, self._emit, meta)

    def handle(self, event: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Handle an event and return the reply; raise `EventRefused` when it is refused."""
        self._last_activity = self._now()
        match event:
            case "query":
                return self._query(parse_payload(QueryPayload, payload))
            case "call":
                return self._call(parse_payload(CallPayload, payload))
            case "interrupt":
                return self._interrupt(parse_payload(InterruptPayload, payload))
            case "subscribe":
                return self._subscribe(parse_payload(SubscribePayload, payload))
            case "ping":
                return {"pong": True}
            case _:
                raise EventRefused("unknown event", "known: query, call, interrupt, subscribe, ping")

    # -- events --------------------------------------------------------------------------------------

    def _query(self, query: QueryPayload) -> Mapping[str, Any]:
        async def ask(work: WorkItem) -> dict[str, Any]:
            arguments = {"query": query.q, "timeout_ms": max(1, int(work.remaining_ms * SOFT_SHARE))}
            answer = await self._dispatch(self._state.question_tool, arguments, work)
            return result_payload(query.q, answer)

        return self._start_work(query, ask)

    def _call(self, call: CallPayload) -> Mapping[str, Any]:
        try:
            is_job = self._state.dispatcher.registry.get(call.tool).runs_as_job
        except ScrubjayError as error:
            raise EventRefused(error.code, error.message) from None

        async def run(work: WorkItem) -> dict[str, Any]:
            self._push_thought(work.ref, AnswerStep(StepKind.TOOL_INVOCATION, f"calling {call.tool}"))
            return await self._dispatch(call.tool, call.arguments, work)

        return self._start_work(call, run, grace_seconds=JOB_GRACE_SECONDS if is_job else 0.0)

    def _interrupt(self, interrupt: InterruptPayload) -> Mapping[str, Any]:
        work = self._work.get(interrupt.ref)
        if work is not None:
            work.interrupt(interrupt.reason)
        return {"ref": interrupt.ref, "found": work is not None}

    def _subscribe(self, subscribe: SubscribePayload) -> Mapping[str, Any]:
        wanted = EVENTS if ALL_EVENTS in subscribe.events else frozenset(subscribe.events)
        if not wanted <= EVENTS:
            raise EventRefused("unknown events", f"known: {', '.join(sorted(EVENTS))}, or {ALL_EVENTS} for all")
        self._subscribed = wanted & OPTIONAL_EVENTS
        return {"events": sorted(self._subscribed | (EVENTS - OPTIONAL_EVENTS))}

    # -- work ----------------------------------------------------------------------------------------

    def _start_work(
        self,
        payload: QueryPayload | CallPayload,
        perform: Callable[[WorkItem], Awaitable[dict[str, Any]]],
        *,
        grace_seconds: float = 0.0,
    ) -> Mapping[str, Any]:
        if payload.ref in self._work:
            raise EventRefused("ref is in use", "the work with this ref has not ended yet")
        if self._connection.open_work >= self._state.limits.open_per_connection:
            raise EventRefused(OVERLOADED, "this connection has too much open work")
        try:
            ticket = self._state.queue.enqueue(payload.priority, self.caller.key_id)
        except Busy as error:
            raise EventRefused(OVERLOADED, error.message) from None
        work = WorkItem(
            ref=payload.ref, ticket=ticket, timeout_ms=payload.timeout, perform=perform, grace_seconds=grace_seconds
        )
        self._work[work.ref] = work
        self._connection.open_work += 1
        self._connection.tasks.start_soon(self._run, work)
        return {"ref": work.ref, "status": "processing"}

    async def _run(self, work: WorkItem) -> None:
        def think(step: AnswerStep) -> None:
            self._push_thought(work.ref, step)

        try:
            await work.run(self._emit, self._now, think)
        except Exception as error:  # a bug: the client gets an error, and the connection stays open
            logger.error("a request over a socket failed unexpectedly", extra=error_fields(error))
            work.push_internal_error(self._emit, self._now, error)
        finally:
            work.ticket.release()  # also when it was cancelled before it could start
            del self._work[work.ref]
            self._connection.open_work -= 1

    async def _dispatch(self, tool: str, arguments: Mapping[str, Any], work: WorkItem) -> dict[str, Any]:
        def think(step: AnswerStep) -> None:
            self._push_thought(work.ref, step)

        context = CallContext(
            surface="synapse",
            caller=self.caller,
            client=f"synapse:{self._agent}",
            address=self._connection.address,
            patience=work.remaining_ms / 1000,
            request_id=new_id("req"),
            reporter=_ProgressPusher(self._emit, work.ref, self._now),
            on_step=think,
        )
        answer = await self._state.dispatcher.call(tool, arguments, context)
        return answer.model_dump(mode="json", by_alias=True)

    # -- pushing events ------------------------------------------------------------------------------

    def _push_thought(self, ref: Ref, step: AnswerStep) -> None:
        thought: dict[str, Any] = {"type": step.kind.value, "content": step.content}
        if step.confidence is not None:
            thought["confidence"] = step.confidence
        self._emit("thought", {"thought": thought, "ref": ref, "timestamp": self._now()})

    def _emit(self, event: str, payload: Mapping[str, Any]) -> None:
        if self._closed or (event in OPTIONAL_EVENTS and event not in self._subscribed):
            return
        if event == "result" and (dropped := self._connection.take_dropped()):
            self._send("system:thoughts_dropped", {"dropped": dropped})
        self._send(event, payload)

    def _send(self, event: str, payload: Mapping[str, Any]) -> None:
        frame = PhoenixFrame(self.topic, event, payload, join_ref=self.join_ref)
        self._connection.send(frame, droppable=event in _DROPPABLE)

    def closing_frame(self, event: str = CLOSE) -> PhoenixFrame:
        """Return the frame that announces the end of this channel."""
        return PhoenixFrame(self.topic, event, {}, self.join_ref, self.join_ref)

    def _meta(self) -> dict[str, Any]:
        return {
            "online_at": self._online_at,
            "status": "busy" if self._work else "idle",
            "load": len(self._work),
            "last_activity": self._last_activity,
        }

    def _now(self) -> str:
        return self._state.clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _ProgressPusher:
    """Pushes the progress reports of a tool. It never stops the tool: interrupting cancels the call instead."""

    def __init__(self, push: Callable[[str, Mapping[str, Any]], None], ref: Ref, now: Callable[[], str]) -> None:
        self._push = push
        self._ref = ref
        self._now = now

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        payload = {"ref": self._ref, "done": done, "total": total, "message": message, "timestamp": self._now()}
        self._push("progress", payload)
