"""Policies that only the operator can set."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from scrubjay.core.errors import QuotaExceeded


class SecretsPolicy(StrEnum):
    """Handling of secrets in text that is to be stored."""

    REFUSE = "refuse"
    MASK = "mask"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class StorageQuota:
    """The maximum number of memories of a client, and of its tasks, goals and milestones together."""

    client: str
    """The client as recorded in provenance; empty for all unidentified clients, which share one quota."""
    limit: int

    def check_count(self, kept: int, what: str = "memories") -> None:
        """Raise `QuotaExceeded` when the count exceeds the limit."""
        if kept > self.limit:
            raise QuotaExceeded(
                f"this client would have {kept} {what}; its limit is {self.limit}",
                hint="delete some, or ask the operator to raise SCRUBJAY_QUOTA_MEMORIES_PER_CLIENT",
                details={"client": self.client, "limit": self.limit},
            )


@dataclass(frozen=True, slots=True)
class AgeLimit:
    """Memories below this importance are deleted once they exceed this age."""

    importance: float
    age: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingRules:
    """When memories are deleted. Protected and most important memories never are."""

    threshold: float = 0.1
    """Memories below this strength have faded."""
    decay_rate: float = 0.1
    """Decay per day."""
    age_limits: Sequence[AgeLimit] = ()
    max_memories: int = 0
    """Maximum number of memories; beyond it the least important, oldest first, are deleted. 0: no limit."""
    every: timedelta | None = None
    """Interval of automatic sweeps; None for never."""
