"""Messages between agents and the replies to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ReplyWay(StrEnum):
    """How a reply was received: by a call of `reply_to_mira`, or from the output of a coding agent."""

    CALLED = "called"
    PRINTED = "printed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMessage:
    """A question from one agent to another."""

    id: str
    owner: str
    """The key that the message was sent with, or the owner of the machine."""
    project_id: str | None
    thread_id: str
    """Shared by the messages of one conversation."""
    sender: str
    recipient: str
    content: str
    created_at: datetime
    completed_at: datetime | None = None
    """When the last part of the reply was received; None until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """A reply, or a part of one."""

    sender: str
    content: str
    created_at: datetime
    complete: bool = True
    """True if no more parts follow."""
    way: ReplyWay = ReplyWay.CALLED


@dataclass(frozen=True, slots=True)
class Discussion:
    """A message with the replies so far, oldest first."""

    message: AgentMessage
    replies: Sequence[AgentReply] = ()

    @property
    def text(self) -> str:
        """All parts of the reply as one text."""
        return "\n".join(reply.content for reply in self.replies)
