"""Tasks and goals as lines of our own files."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter

from scrubjay.core.policies import SecretsPolicy
from scrubjay.features.memory.secret_policy import guard
from scrubjay.features.tasks.models import Goal, GoalStatus, Task, TaskStatus
from scrubjay.features.transfer.models import PlanKind, TransferPlan
from scrubjay.features.transfer.records import ProjectRef

TASK: Final = b'{"task":'
GOAL: Final = b'{"goal":'
# The same limits as in the tools.
MAX_TITLE, MAX_TEXT, MAX_MILESTONES = 500, 20_000, 100
# Fields computed when a task is read, not stored with it.
_COMPUTED_FIELDS = {"subtasks", "open_subtasks"}


class TaskLine(BaseModel):
    """A line with a task."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    task: Task


class GoalLine(BaseModel):
    """A line with a goal and its milestones."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    goal: Goal

    @property
    def plan(self) -> Goal:
        """The goal with its milestones as a tuple, as stores return it."""
        return replace(self.goal, milestones=tuple(self.goal.milestones))


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """A task or goal of an imported file."""

    plan: TransferPlan
    project: ProjectRef | None = None
    """Project of the task or goal."""


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def plan_line(plan: TransferPlan) -> bytes:
    if isinstance(plan, Task):
        return b'{"task":%b}\n' % _adapter(Task).dump_json(plan, exclude=_COMPUTED_FIELDS)
    return b'{"goal":%b}\n' % _adapter(Goal).dump_json(plan)


def plan_kind(plan: TransferPlan) -> PlanKind:
    return "tasks" if isinstance(plan, Task) else "goals"


def find_problem(plan: TransferPlan, sorts: Collection[PlanKind], projects: Mapping[str, ProjectRef]) -> str | None:
    """Return why no store can have exported this, or None if it is valid."""
    moments = [plan.created_at, plan.updated_at, plan.completed_at]
    texts = [plan.description]
    titles, ids, weights = [plan.title], [plan.id], [1.0]
    if isinstance(plan, Task):
        texts.append(plan.notes)
        is_completed, progress = plan.status is TaskStatus.COMPLETED, 0.0
    else:
        texts.append(plan.success_criteria)
        moments += (moment for one in plan.milestones for moment in (one.created_at, one.completed_at))
        titles += (one.title for one in plan.milestones)
        ids += (one.id for one in plan.milestones)
        weights += (one.weight for one in plan.milestones)
        is_completed, progress = plan.status is GoalStatus.COMPLETED, plan.given_progress
    sound = {
        "has no id or no title": all(ids) and all(titles),
        "is of a type that the header does not include": plan_kind(plan) in sorts,
        "belongs to a project that is not declared before it": plan.project_id is None or plan.project_id in projects,
        "has a completion time that contradicts its status": is_completed == (plan.completed_at is not None),
        "has a time without a time zone": all(moment is None or moment.tzinfo is not None for moment in moments),
        "has an invalid weight or progress": all(isfinite(one) and one > 0 for one in weights) and 0 <= progress <= 100,
        "exceeds a length limit": len(ids) <= MAX_MILESTONES + 1
        and all(len(title) <= MAX_TITLE for title in titles)
        and all(text is None or len(text) <= MAX_TEXT for text in texts),
    }
    return next((problem for problem, fine in sound.items() if not fine), None)


def mask_plan(plan: TransferPlan, policy: SecretsPolicy) -> TransferPlan:
    """Return the plan with secrets masked; raise `InvalidRequest` if the policy refuses it."""

    def text(given: str | None) -> str | None:
        return guard(given, policy).text if given else given

    cleaned = replace(plan, title=text(plan.title) or plan.title, description=text(plan.description))
    if isinstance(cleaned, Task):
        return replace(cleaned, notes=text(cleaned.notes))
    milestones = tuple(replace(one, title=text(one.title) or one.title) for one in cleaned.milestones)
    return replace(cleaned, success_criteria=text(cleaned.success_criteria), milestones=milestones)
