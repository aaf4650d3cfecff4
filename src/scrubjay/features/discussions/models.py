"""What agents say to each other: a message, and what was answered to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Way(StrEnum):
    """How a reply came: its agent called us, or we read what it printed."""

    CALLED = "called"
    PRINTED = "printed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMessage:
    """What one agent wants to know of another."""

    id: str
    owner: str
    """Whose message it is: the key that it was sent with, or the owner of the machine."""
    project_id: str | None
    thread_id: str
    """Messages of one conversation share it."""
    sender: str
    recipient: str
    content: str
    created_at: datetime
    completed_at: datetime | None = None
    """When the last part of the answer came; None until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """An answer, or a part of one."""

    sender: str
    content: str
    created_at: datetime
    complete: bool = True
    """Whether nothing comes after it."""
    way: Way = Way.CALLED


@dataclass(frozen=True, slots=True)
class Discussion:
    """A message with what was answered so far, in the order in which it came."""

    message: AgentMessage
    replies: Sequence[AgentReply] = ()

    @property
    def text(self) -> str:
        """All parts of the answer as one text."""
        return "\n".join(reply.content for reply in self.replies)
