"""What moves between stores."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from scrubjay.features.memory.models import Memory
from scrubjay.features.tasks.models import Goal, Task

PlanSort = Literal["tasks", "goals"]
MovedPlan = Task | Goal
"""What is to be done, on its way from one store to another; a goal comes with its milestones."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A memory on its way from one store to another: as it is, and how often it was an answer."""

    memory: Memory
    uses: int = 0
    used_at: datetime | None = None
