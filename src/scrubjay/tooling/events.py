"""The events that a server publishes: one per finished call, read, request, refusal or permission decision.

The audit log, metrics, history, usage counts, traces and log lines are subscribers. None of them reads another one.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any, Literal

import anyio
from pydantic import BaseModel

from scrubjay.core.errors import ErrorCode
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.remote_tools import ForeignAnswer

Decision = Literal["allowed", "refused", "failed", "asked"]

OK = "ok"
GIVEN_UP = "given up"
"""The outcome when the caller left or cancelled before there was an answer."""
UNKNOWN_TOOL = "unknown"
"""Stands for every name that no tool has: callers can invent any number of them."""

# The owner, or a limit set by the owner, refused these. Any other error is a failure.
_REFUSALS = frozenset(
    {
        ErrorCode.UNAUTHENTICATED,
        ErrorCode.FORBIDDEN,
        ErrorCode.RATE_LIMITED,
        ErrorCode.QUOTA_EXCEEDED,
        ErrorCode.TOO_LARGE,
    }
)


def decision_of(outcome: str) -> Decision:
    """Return how an outcome (`ok`, an error code or `given up`) is audited."""
    return "allowed" if outcome == OK else "refused" if outcome in _REFUSALS else "failed"


@dataclass(slots=True, kw_only=True, eq=False)
class CallStarted:
    """A call that the caller may make has started. Its arguments are not validated yet."""

    tool: Tool
    arguments: Mapping[str, Any]
    context: CallContext
    time: float
    """Seconds since the epoch."""
    scope: anyio.CancelScope | None = None

    def make_cancellable(self) -> anyio.CancelScope:
        """Return the scope that cancels this call; its caller then gets `Cancelled`.

        Only a subscriber can ask for it, while the event is published: a scope costs every call that has one.
        """
        self.scope = self.scope or anyio.CancelScope()
        return self.scope


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallEnded:
    """A call of a tool has ended, with whatever outcome. Published exactly once per call."""

    name: str
    """The tool's name as the caller gave it, printable."""
    tool: Tool | None
    """None when no tool has this name."""
    arguments: Mapping[str, Any]
    context: CallContext
    """Caller, surface, client, address, request id and trace."""
    started: CallStarted | None
    """The event that began this call; None when the call was refused first."""
    accepted: bool
    """True if the arguments were valid, so that the tool ran."""
    outcome: str
    """`ok`, an error code or `given up`."""
    problem: str
    """Code and message of the error; `ok` when there was none."""
    answer: BaseModel | None
    milliseconds: float
    ids: Sequence[str]
    """Ids among the arguments, of a call that may have changed something."""
    time: float
    """Seconds since the epoch, when it ended."""

    @property
    def tool_label(self) -> str:
        """The name of the tool, or `unknown`: one of a bounded number of texts."""
        return UNKNOWN_TOOL if self.tool is None else self.tool.name

    @property
    def result(self) -> BaseModel | str:
        """The answer, or the text of the failure; an upstream tool's answer that reports an error is a failure."""
        answer = self.answer
        if answer is None:
            return self.problem
        return answer.model_dump_json() if isinstance(answer, ForeignAnswer) and answer.is_error else answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRead:
    """A resource was read, or could not be."""

    uri: str
    context: CallContext
    outcome: str
    milliseconds: float
    time: float = field(default_factory=time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requester:
    """The known identity of the sender of an HTTP request."""

    request_id: str
    caller: str | None = None
    key_id: str | None = None
    address: str | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestEnded:
    """An HTTP request that calls no tool was answered, or its client left."""

    method: str
    path: str
    surface: str
    outcome: str
    decision: Decision
    milliseconds: float
    requester: Requester
    time: float = field(default_factory=time)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailed:
    """A bug ended an HTTP request."""

    method: str
    path: str
    requester: Requester
    place: Mapping[str, str]
    """The type of the exception and its stack; never its message, which may quote the request."""
    time: float = field(default_factory=time)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionDecided:
    """A permission rule decided on something that an agent wants to do."""

    decision: Decision
    surface: str
    tool: str | None
    client: str | None = None
    rule_ids: Sequence[str] = ()
    requester: Requester | None = None
    time: float = field(default_factory=time)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityEvent:
    """An event that matters to the security of the server. Texts are printable and contain no secrets."""

    event: str
    event_id: str
    level: int = logging.WARNING
    decision: Decision = "refused"
    reason: str | None = None
    address: str | None = None
    path: str | None = None
    method: str | None = None
    caller: str | None = None
    key_id: str | None = None
    client: str | None = None
    surface: str | None = None
    tool: str | None = None
    resource: str | None = None
    request_id: str | None = None
    trace_id: str | None = None
    time: float = field(default_factory=time)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRefused(SecurityEvent):
    """A request was refused before any protocol saw it."""

    outcome: str
    """The error code."""
