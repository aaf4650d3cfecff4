"""What an agent has in mind in one session: items that expire, unless they become memories first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Mark(StrEnum):
    """Whether an item is to become a memory, and who said so."""

    NONE = "none"
    IMPORTANCE = "importance"
    """It was important enough when it was put."""
    CALLER = "caller"


@dataclass(frozen=True, slots=True)
class Desk:
    """Where items lie: one session of one project, or of none. Nobody sees those of another."""

    project_id: str | None
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingItem:
    """One thing that an agent has in mind."""

    id: str
    desk: Desk
    content: str
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    importance: float = 0.5
    source: str = "unknown"
    tool_name: str | None = None
    client: str | None = None
    """Who put it, where the protocol can tell."""
    created_at: datetime
    expires_at: datetime
    accessed_at: datetime
    access_count: int = 0
    mark: Mark = Mark.NONE
    memory_id: str | None = None
    """The memory that it became; it can still be read here until it expires."""

    @property
    def tokens(self) -> int:
        """About how many tokens the content takes, at four characters each."""
        return -(-len(self.content) // 4)

    @property
    def waits(self) -> bool:
        """Whether it is to become a memory and has not."""
        return self.mark is not Mark.NONE and self.memory_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An item that waits to become a memory, and the move that was begun with it."""

    item: WorkingItem
    move_id: str | None = None
    """Items of one move become one memory; it is never changed, so that a move begun twice is one."""
    moving_until: datetime | None = None
    """Until then whoever began the move is at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How much lies on a desk."""

    items: int
    tokens: int
    waiting: int
    """Items that are to become memories and have not."""
    consolidated: int
    """Items that became memories."""
    soonest_expiry: datetime | None
    expired_waiting: int
    """Items that have expired and are kept only until they have become memories."""
