"""Values that are exported and imported."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from scrubjay.features.memory.models import Memory
from scrubjay.features.tasks.models import Goal, Task

PlanKind = Literal["tasks", "goals"]
TransferPlan = Task | Goal
"""An exported task, or a goal with its milestones."""


@dataclass(frozen=True, slots=True)
class TransferMemory:
    """An exported memory with its usage count."""

    memory: Memory
    uses: int = 0
    used_at: datetime | None = None
