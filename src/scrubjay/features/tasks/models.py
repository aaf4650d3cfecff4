"""What is to be done: tasks, which have parts, and goals, which have milestones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from math import fsum
from typing import Any, Literal, NamedTuple

from scrubjay.core.errors import Conflict


class TaskStatus(StrEnum):
    """How far a task is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    BLOCKED = "blocked"


class TaskPriority(StrEnum):
    """How soon a task is to be done; the later in this list, the sooner."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    URGENT = "urgent"


class GoalStatus(StrEnum):
    """How far a goal is."""

    PLANNING = "planning"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


class GoalPriority(StrEnum):
    """How much a goal matters; the later in this list, the more."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


FINISHED = frozenset({GoalStatus.COMPLETED, GoalStatus.ABANDONED})


class Place(NamedTuple):
    """Where something stands in a list: what is more urgent comes first, then what was made earlier."""

    rank: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Something to do, of one project or of none."""

    id: str
    project_id: str | None = None
    title: str
    description: str | None = None
    status: TaskStatus = TaskStatus.PENDING
    priority: TaskPriority = TaskPriority.MEDIUM
    parent_id: str | None = None
    """The task that it is a part of."""
    notes: str | None = None
    client: str | None = None
    """Who made it, where the protocol can tell."""
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    subtasks: int = 0
    """How many tasks are parts of it, found when it is read."""
    open_subtasks: int = 0
    """How many of them are not completed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """What is to be another in a task: None leaves a field as it is, and an empty text empties it."""

    title: str | None = None
    description: str | None = None
    status: TaskStatus | None = None
    priority: TaskPriority | None = None
    parent_id: str | None = None
    notes: str | None = None

    def of(self, task: Task, at: datetime) -> Task:
        """The task as it is then. When it was completed is told as long as it stays completed."""
        status = self.status or task.status
        completed_at = (task.completed_at or at) if status is TaskStatus.COMPLETED else None
        return replace(task, **_given(self), completed_at=completed_at, updated_at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Which tasks are meant."""

    status: TaskStatus | None = None
    priority: TaskPriority | None = None
    parent_id: str | None = None
    with_completed: bool = False
    """Unless a status says which, whether those that are completed are meant as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """A part of the way to a goal."""

    id: str
    title: str
    weight: float = 1.0
    client: str | None = None
    created_at: datetime
    completed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Something to reach, of one project or of none."""

    id: str
    project_id: str | None = None
    title: str
    description: str | None = None
    status: GoalStatus = GoalStatus.PLANNING
    priority: GoalPriority = GoalPriority.MEDIUM
    success_criteria: str | None = None
    given_progress: float = 0.0
    """What somebody said; it holds as long as there are no milestones."""
    client: str | None = None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    milestones: Sequence[Milestone] = ()

    @property
    def progress_from(self) -> Literal["milestones", "given"]:
        return "milestones" if self.milestones else "given"

    @property
    def progress_percent(self) -> float:
        """The weights of the milestones that are completed in those of all, or what was given where there are none.

        To one decimal place, and 100 only when all are completed.
        """
        if not self.milestones:
            return self.given_progress
        done = [one.weight for one in self.milestones if one.completed_at is not None]
        if len(done) == len(self.milestones):
            return 100.0
        return min(round(100 * fsum(done) / fsum(one.weight for one in self.milestones), 1), 99.9)

    @property
    def ready_to_complete(self) -> bool:
        """Whether all is done and nobody has said yet that the goal is reached, or given up."""
        return self.status not in FINISHED and self.progress_percent == 100


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalChange:
    """What is to be another in a goal: None leaves a field as it is, and an empty text empties it."""

    title: str | None = None
    description: str | None = None
    status: GoalStatus | None = None
    priority: GoalPriority | None = None
    success_criteria: str | None = None
    given_progress: float | None = None

    def of(self, goal: Goal, at: datetime) -> Goal:
        """The goal as it is then. `Conflict` when its progress is given, and its milestones say what it is."""
        if self.given_progress is not None and goal.milestones:
            raise Conflict(
                f"the progress of this goal is that of its {len(goal.milestones)} milestones",
                hint="complete_milestone moves it on; progress_percent is for goals without milestones",
                details={"progress_percent": goal.progress_percent},
            )
        status = self.status or goal.status
        completed_at = (goal.completed_at or at) if status is GoalStatus.COMPLETED else None
        return replace(goal, **_given(self), completed_at=completed_at, updated_at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalFilter:
    """Which goals are meant."""

    status: GoalStatus | None = None
    priority: GoalPriority | None = None
    with_finished: bool = False
    """Unless a status says which, whether those that are completed or abandoned are meant as well."""


@dataclass(frozen=True, slots=True)
class TaskPage:
    """Some of the tasks that were asked for."""

    tasks: Sequence[Task]
    total: int
    """How many there are in all."""
    last: Place | None
    """Where the last of them stands, when there are more."""


@dataclass(frozen=True, slots=True)
class GoalPage:
    """Some of the goals that were asked for."""

    goals: Sequence[Goal]
    total: int
    last: Place | None


def _given(change: TaskChange | GoalChange) -> dict[str, Any]:
    """The fields that are to be others; a text that is empty is none."""
    values = {name: getattr(change, name) for name in type(change).__dataclass_fields__}
    return {name: value if value != "" else None for name, value in values.items() if value is not None}
