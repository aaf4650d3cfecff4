"""Storage interface of forgetting."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from scrubjay.core.policies import AgeLimit
from scrubjay.core.scopes import Visibility
from scrubjay.features.forgetting.models import AgingMemory


@dataclass(frozen=True, slots=True)
class ForgettingRecord:
    """Time and counts of past runs."""

    last_run: datetime | None
    last_forgotten: int
    total_forgotten: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayParameters:
    """Parameters of strength and eviction."""

    decay_rate: float
    use_weight: float
    threshold: float
    """Memories below this strength have faded."""
    at_risk_below: float
    strong_above: float
    never_fades_from: float
    """Memories of at least this importance are never evicted."""
    age_limits: Sequence[AgeLimit]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthCounts:
    """Counts of all memories by strength, without earlier versions."""

    memories: int
    faded: int
    """Below the threshold, evictable or not."""
    at_risk: int
    strong: int
    evictable: int
    """Neither protected nor too important."""
    due: int
    """Evictable memories that have faded or exceed the age limit of their importance."""


class ForgettingStore(Protocol):
    """Records runs, and reads the values that determine strength."""

    async def claim(self, every: timedelta, now: datetime) -> bool:
        """Claim a run atomically; return False if a process has started one within this time."""
        ...

    async def record_run(self, forgotten: int, now: datetime) -> None:
        """Record the end of a run that erased this many memories."""
        ...

    async def record(self) -> ForgettingRecord: ...

    async def scan(self, after: int, limit: int) -> Sequence[tuple[int, AgingMemory]]:
        """Return memories of every scope after this row number, with their row numbers, in order.

        For maintenance only. A memory that was changed is as old as its last change.
        """
        ...

    async def count_strengths(self, parameters: DecayParameters, now: datetime) -> StrengthCounts:
        """Count the memories of every scope by strength at this time."""
        ...

    async def get(self, visibility: Visibility, memory_id: str) -> AgingMemory | None:
        """Return one memory; None if it is not visible."""
        ...
