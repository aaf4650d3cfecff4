"""Tasks with subtasks, and goals with milestones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from math import fsum
from typing import Any, Literal, NamedTuple

from scrubjay.core.errors import Conflict


class TaskStatus(StrEnum):
    """Status of a task."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    BLOCKED = "blocked"


class TaskPriority(StrEnum):
    """Priority of a task, ascending."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    URGENT = "urgent"


class GoalStatus(StrEnum):
    """Status of a goal."""

    PLANNING = "planning"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


class GoalPriority(StrEnum):
    """Priority of a goal, ascending."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


FINISHED = frozenset({GoalStatus.COMPLETED, GoalStatus.ABANDONED})


class PagePosition(NamedTuple):
    """Position in a list ordered by descending priority, then by age."""

    rank: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDetails:
    """The values of a task that a caller sets."""

    title: str
    description: str | None = None
    status: TaskStatus = TaskStatus.PENDING
    priority: TaskPriority = TaskPriority.MEDIUM
    parent_id: str | None = None
    """Id of the parent task."""
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(TaskDetails):
    """A task of one project, or global."""

    id: str
    project_id: str | None = None
    client: str | None = None
    """Client that created it, if known."""
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    subtasks: int = 0
    """Number of direct subtasks, computed when it is read."""
    open_subtasks: int = 0
    """Number of direct subtasks that are not completed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """Changes to a task: None leaves a field unchanged, an empty string clears it."""

    title: str | None = None
    description: str | None = None
    status: TaskStatus | None = None
    priority: TaskPriority | None = None
    parent_id: str | None = None
    notes: str | None = None

    def of(self, task: Task, at: datetime) -> Task:
        """Return the changed task; the completion time is kept while it stays completed."""
        status = self.status or task.status
        completed_at = (task.completed_at or at) if status is TaskStatus.COMPLETED else None
        return replace(task, **_given(self), completed_at=completed_at, updated_at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Filter for tasks."""

    status: TaskStatus | None = None
    priority: TaskPriority | None = None
    parent_id: str | None = None
    with_completed: bool = False
    """Include completed tasks if no status is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """A weighted part of a goal."""

    id: str
    title: str
    weight: float = 1.0
    client: str | None = None
    created_at: datetime
    completed_at: datetime | None = None

    @property
    def completed(self) -> bool:
        return self.completed_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalDetails:
    """The values of a goal that a caller sets."""

    title: str
    description: str | None = None
    status: GoalStatus = GoalStatus.PLANNING
    priority: GoalPriority = GoalPriority.MEDIUM
    success_criteria: str | None = None
    given_progress: float = 0.0
    """Progress in percent; used only without milestones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal(GoalDetails):
    """A goal of one project, or global."""

    id: str
    project_id: str | None = None
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
        """Share of completed milestones by weight, or the given progress without milestones.

        One decimal place; 100 only if all are completed.
        """
        if not self.milestones:
            return self.given_progress
        done = [one.weight for one in self.milestones if one.completed]
        if len(done) == len(self.milestones):
            return 100.0
        return min(round(100 * fsum(done) / fsum(one.weight for one in self.milestones), 1), 99.9)

    @property
    def ready_to_complete(self) -> bool:
        """True if progress is 100 and the goal is neither completed nor abandoned."""
        return self.status not in FINISHED and self.progress_percent == 100


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalChange:
    """Changes to a goal: None leaves a field unchanged, an empty string clears it."""

    title: str | None = None
    description: str | None = None
    status: GoalStatus | None = None
    priority: GoalPriority | None = None
    success_criteria: str | None = None
    given_progress: float | None = None

    def of(self, goal: Goal, at: datetime) -> Goal:
        """Return the changed goal; raise `Conflict` if progress is given and the goal has milestones."""
        if self.given_progress is not None and goal.milestones:
            raise Conflict(
                f"the progress of this goal follows from its {len(goal.milestones)} milestones",
                hint="use complete_milestone; progress_percent is for goals without milestones",
                details={"progress_percent": goal.progress_percent},
            )
        status = self.status or goal.status
        completed_at = (goal.completed_at or at) if status is GoalStatus.COMPLETED else None
        return replace(goal, **_given(self), completed_at=completed_at, updated_at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalFilter:
    """Filter for goals."""

    status: GoalStatus | None = None
    priority: GoalPriority | None = None
    with_finished: bool = False
    """Include completed and abandoned goals if no status is given."""


@dataclass(frozen=True, slots=True)
class TaskPage:
    """One page of tasks."""

    tasks: Sequence[Task]
    total: int
    """Number of matching tasks on all pages."""
    last: PagePosition | None
    """Position of the last task if there are more pages, else None."""


@dataclass(frozen=True, slots=True)
class GoalPage:
    """One page of goals."""

    goals: Sequence[Goal]
    total: int
    last: PagePosition | None


def _given(change: TaskChange | GoalChange) -> dict[str, Any]:
    """Return the fields to change, with empty strings as None."""
    values = {name: getattr(change, name) for name in type(change).__dataclass_fields__}
    return {name: value if value != "" else None for name, value in values.items() if value is not None}
