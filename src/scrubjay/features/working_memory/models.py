"""Values of working memory: items of one session that expire unless they become memories first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class ConsolidationMark(StrEnum):
    """Why an item is marked to become a memory."""

    NONE = "none"
    IMPORTANCE = "importance"
    """Importance at or above the threshold when it was stored."""
    CALLER = "caller"


@dataclass(frozen=True, slots=True)
class WorkingScope:
    """The session and project whose items a call can see."""

    project_id: str | None
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDetails:
    """The values of an item that its client sets."""

    content: str
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    importance: float = 0.5
    source: str = "unknown"
    tool_name: str | None = None
    client: str | None = None
    """Client that stored it; None if the protocol does not identify clients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingItem(ItemDetails):
    """An item of working memory."""

    id: str
    scope: WorkingScope
    created_at: datetime
    expires_at: datetime
    accessed_at: datetime
    access_count: int = 0
    mark: ConsolidationMark = ConsolidationMark.NONE
    memory_id: str | None = None
    """Id of the memory it became; the item stays readable until it expires."""

    @property
    def tokens(self) -> int:
        """Approximate size of the content in tokens of four characters."""
        return -(-len(self.content) // 4)

    @property
    def is_waiting(self) -> bool:
        """True if it is marked to become a memory and has not become one."""
        return self.mark is not ConsolidationMark.NONE and self.memory_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationCandidate:
    """An item that waits to become a memory, and its move, if one has begun."""

    item: WorkingItem
    move_id: str | None = None
    """Items of one move become one memory. Never changed, so a move that is begun twice makes one memory."""
    moving_until: datetime | None = None
    """End of the lease of the process that began the move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingUsage:
    """Counts of the items of a scope."""

    items: int
    tokens: int
    waiting: int
    """Items that will become memories."""
    consolidated: int
    """Items that became memories."""
    soonest_expiry: datetime | None
    expired_waiting: int
    """Expired items that are kept only until they become memories."""
