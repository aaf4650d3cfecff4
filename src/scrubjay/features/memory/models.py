"""Memories, and filters of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from scrubjay.core.scopes import Scope
from scrubjay.features.memory.links import CodeLink


class MemoryKind(StrEnum):
    """Kind of a memory."""

    GENERAL = "general"
    PREFERENCE = "preference"
    DECISION = "decision"
    CONTEXT = "context"
    CORRECTION = "correction"
    """A correction of other memories."""
    TURN = "turn"
    """Prompt, thought and response of one conversation turn."""
    SUMMARY = "summary"
    """Summary of a session, a day or a week."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContent:
    """The values of a memory that its author sets."""

    content: str
    key: str | None = None
    category: str | None = None
    importance: float = 0.5
    confidence: float = 1.0
    speaker: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    occurred_at: datetime | None = None
    kind: MemoryKind = MemoryKind.GENERAL
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values specific to its kind."""
    provenance: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Tool, surface, client and source that it comes from."""
    subject: str | None = None
    """Subject; of two memories about one subject, the later one is valid."""
    valid_from: datetime | None = None
    """Start of validity; None means since it happened."""
    valid_until: datetime | None = None
    """End of validity."""
    protected: bool = False
    """True if it is never forgotten automatically."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(MemoryContent):
    """A stored memory."""

    id: str
    scope: Scope
    project_id: str | None
    session_id: str | None
    recorded_at: datetime
    updated_at: datetime
    superseded_by: str | None = None
    """Id of the memory that supersedes it."""
    conflicts: tuple[str, ...] = ()
    """Ids of conflicting memories about its subject; computed on read."""
    links: tuple[CodeLink, ...] = ()
    """Links to code; read only where needed."""

    @property
    def true_since(self) -> datetime:
        return self.valid_from or self.occurred_at or self.recorded_at


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """One page of memories."""

    total: int
    memories: Sequence[Memory]
    damaged: int = 0
    """Number of memories of this page that are left out because their rows are damaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Conditions on memories; an empty filter matches everything visible."""

    scope: Scope | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    """Tags that a memory must all have."""
    speaker: str | None = None
    key: str | None = None
    from_session: str | None = None
    occurred_after: datetime | None = None
    """Inclusive; a memory without `occurred_at` counts at its `recorded_at`."""
    occurred_before: datetime | None = None
    """Exclusive."""
    containing: tuple[tuple["Wording", ...], ...] = ()
    """For each group, at least one of its wordings must occur."""
    kinds: tuple[MemoryKind, ...] = ()
    """The memory must be of one of these kinds; empty means any."""
    as_of: datetime | None = None
    """Valid at this time; None means now."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A sequence of adjacent terms."""

    terms: tuple[str, ...]
    open_ended: bool = False
    """True if the last term is a prefix."""
