"""Sessions: what a client does in one project at one time, and the calls of tools that it makes meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

# Long enough for a meal or a meeting, shorter than a night: what comes after it is another day's work.
IDLE = timedelta(hours=8)


class SessionStatus(StrEnum):
    """Whether a session still goes on."""

    ACTIVE = "active"
    CLOSED = "closed"


def is_over(last_activity: datetime, ended_at: datetime | None, at: datetime) -> bool:
    """Whether a session was ended by then, or nobody had been heard of for too long."""
    return (ended_at is not None and ended_at <= at) or at - last_activity > IDLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session, and what is known of its calls."""

    id: str
    """Given by the client or made; two projects may have one of the same id."""
    project_id: str | None
    client: str | None
    """Who was in it last; None when the protocol cannot tell clients apart."""
    started_at: datetime
    last_activity: datetime
    ended_at: datetime | None = None
    calls: int = 0
    failed: int = 0
    tools: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each tool was called, the most used first."""

    def status(self, at: datetime) -> SessionStatus:
        return SessionStatus.CLOSED if is_over(self.last_activity, self.ended_at, at) else SessionStatus.ACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool, as far as it is kept."""

    tool: str
    arguments: Mapping[str, Any]
    """Without secrets, and shortened when they are long."""
    result: str
    """The beginning of the result as JSON, or what went wrong."""
    success: bool
    milliseconds: float
    called_at: datetime
    erased: bool = False
    """Whether arguments and result were erased, because a memory that they told of was forgotten."""
    withheld: bool = False
    """Whether they are left out because the reader's key does not open the tool."""

    @property
    def ended_at(self) -> datetime:
        return self.called_at + timedelta(milliseconds=self.milliseconds)


@dataclass(frozen=True, slots=True)
class ClientCall:
    """A call to keep: who made it, and which memories its result tells of."""

    client: str
    call: ToolCall
    memory_ids: frozenset[str] = frozenset()
