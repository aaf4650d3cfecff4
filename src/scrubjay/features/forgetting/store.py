"""What a backend must offer so that memories fade at the right time, and in one process of all."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from scrubjay.core.policies import AgeLimit
from scrubjay.core.scopes import Visibility
from scrubjay.features.forgetting.models import Ageing


@dataclass(frozen=True, slots=True)
class ForgettingRecord:
    """What was forgotten so far."""

    last_run: datetime | None
    """When what had faded was last let go."""
    last_forgotten: int
    total_forgotten: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """How it is told how strong memories are, and which of them go."""

    decay_rate: float
    use_weight: float
    threshold: float
    """What is weaker goes."""
    at_risk_below: float
    strong_above: float
    unforgettable: float
    """What matters so much stays."""
    age_limits: Sequence[AgeLimit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """How all memories are; what they were before is not counted."""

    memories: int
    faded: int
    """Weaker than the threshold, whether they may go or not."""
    at_risk: int
    strong: int
    may_go: int
    """Neither protected nor unforgettable."""
    leaving: int
    """Those of them that have faded, or are older than their importance allows."""


class ForgettingStore(Protocol):
    """Knows when memories were last let go, and what tells whether one fades."""

    async def claim(self, every: timedelta, now: datetime) -> bool:
        """Whether to begin now: nobody has in this time. In the same step it is noted, so that nobody else does."""
        ...

    async def note(self, forgotten: int, now: datetime) -> None:
        """Note that so many were let go."""
        ...

    async def record(self) -> ForgettingRecord: ...

    async def ageing(self, after: int, limit: int) -> Sequence[tuple[int, Ageing]]:
        """What tells whether each memory fades, of every scope in the order of their places; continue after the last.

        For maintenance only. A memory that was changed is as old as its change.
        """
        ...

    async def vitals(self, fading: Fading, now: datetime) -> Vitals:
        """How all memories of every scope are at this moment."""
        ...

    async def ageing_of(self, visibility: Visibility, memory_id: str) -> Ageing | None:
        """What tells whether this memory fades; None when it cannot be seen."""
        ...
