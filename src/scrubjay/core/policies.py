"""What the operator decides, and no caller can change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from scrubjay.core.errors import QuotaExceeded


class SecretsPolicy(StrEnum):
    """What becomes of a secret that somebody wants remembered."""

    REFUSE = "refuse"
    MASK = "mask"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Allowance:
    """So many memories at most may come from this client, and as many tasks, goals and milestones together."""

    client: str
    """As the provenance of its memories has it; empty for those of nobody in particular, who share one allowance."""
    most: int

    def refuse_beyond(self, kept: int, what: str = "memories") -> None:
        """Raise `QuotaExceeded` when so many are more than the client may keep."""
        if kept > self.most:
            raise QuotaExceeded(
                f"these would be {kept} {what} of this client, and it may keep {self.most}",
                hint="forget what is not needed any more, or let the operator raise SCRUBJAY_QUOTA_MEMORIES_PER_CLIENT",
                details={"client": self.client, "most": self.most},
            )


@dataclass(frozen=True, slots=True)
class AgeLimit:
    """What matters less than this goes when it is older than that."""

    importance: float
    age: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingRules:
    """When memories go. Protected ones, and those that matter most, never do."""

    threshold: float = 0.1
    """What is weaker has faded."""
    decay_rate: float = 0.1
    """How fast memories fade in a day."""
    age_limits: Sequence[AgeLimit] = ()
    most: int = 0
    """How many memories there may be; beyond that those go that matter least, the oldest of them first. 0: no end."""
    every: timedelta | None = None
    """How often this is done without being asked; None for never."""
