"""Sessions of clients in a project, and the tool calls made in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

# Longer than a break or a meeting, shorter than a night: work on the next day is a new session.
IDLE_TIMEOUT = timedelta(hours=8)


class SessionStatus(StrEnum):
    """State of a session."""

    ACTIVE = "active"
    CLOSED = "closed"


def is_over(last_activity: datetime, ended_at: datetime | None, at: datetime) -> bool:
    """Return True when a session was ended or idle for more than `IDLE_TIMEOUT` at this time."""
    return (ended_at is not None and ended_at <= at) or at - last_activity > IDLE_TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session with statistics of its calls."""

    id: str
    """Chosen by the client or generated; unique within its project."""
    project_id: str | None
    client: str | None
    """The last client; None when the protocol does not identify clients."""
    started_at: datetime
    last_activity: datetime
    ended_at: datetime | None = None
    calls: int = 0
    failed: int = 0
    tools: Mapping[str, int] = field(default_factory=dict[str, int])
    """Number of calls by tool, most used first."""

    def status(self, at: datetime) -> SessionStatus:
        return SessionStatus.CLOSED if is_over(self.last_activity, self.ended_at, at) else SessionStatus.ACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A recorded tool call."""

    tool: str
    arguments: Mapping[str, Any]
    """Secrets are masked, long values shortened."""
    result: str
    """The beginning of the result as JSON, or the error message."""
    success: bool
    milliseconds: float
    called_at: datetime
    erased: bool = False
    """True when arguments and result were erased because they mention a forgotten memory."""
    withheld: bool = False
    """True when arguments and result are omitted because the reader's key does not grant access to the tool."""

    @property
    def ended_at(self) -> datetime:
        return self.called_at + timedelta(milliseconds=self.milliseconds)


@dataclass(frozen=True, slots=True)
class ClientCall:
    """A call to store, with its client and the memories that it mentions."""

    client: str
    call: ToolCall
    memory_ids: frozenset[str] = frozenset()
