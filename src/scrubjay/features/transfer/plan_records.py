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
from scrubjay.features.transfer.models import MovedPlan, PlanSort
from scrubjay.features.transfer.records import Place

TASK: Final = b'{"task":'
GOAL: Final = b'{"goal":'
# As much as the tools take.
MAX_TITLE, MAX_TEXT, MOST_MILESTONES = 500, 20_000, 100
# What is found when a task is read, and not kept with it.
_FOUND_BY_READING = {"subtasks", "open_subtasks"}


class TaskLine(BaseModel):
    """One task."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    task: Task


class GoalLine(BaseModel):
    """One goal with its milestones."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    goal: Goal

    @property
    def plan(self) -> Goal:
        """As a store gives it."""
        return replace(self.goal, milestones=tuple(self.goal.milestones))


@dataclass(frozen=True, slots=True)
class PlanArrival:
    """A task or a goal that a file brings."""

    plan: MovedPlan
    place: Place | None = None
    """The project that it belongs to."""


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def plan_line(plan: MovedPlan) -> bytes:
    if isinstance(plan, Task):
        return b'{"task":%b}\n' % _adapter(Task).dump_json(plan, exclude=_FOUND_BY_READING)
    return b'{"goal":%b}\n' % _adapter(Goal).dump_json(plan)


def sort_of(plan: MovedPlan) -> PlanSort:
    return "tasks" if isinstance(plan, Task) else "goals"


def why_impossible(plan: MovedPlan, sorts: Collection[PlanSort], places: Mapping[str, Place]) -> str | None:
    """Why no store of ours can have written this; None when one can."""
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
        "is of a sort that the first line does not name": sort_of(plan) in sorts,
        "is of a project that is not named before it": plan.project_id is None or plan.project_id in places,
        "says when it was completed, and is not, or the other way round": is_completed
        == (plan.completed_at is not None),
        "has a time without a zone": all(moment is None or moment.tzinfo is not None for moment in moments),
        "has a weight or a progress that is none": all(isfinite(one) and one > 0 for one in weights)
        and 0 <= progress <= 100,
        "is longer than any": len(ids) <= MOST_MILESTONES + 1
        and all(len(title) <= MAX_TITLE for title in titles)
        and all(text is None or len(text) <= MAX_TEXT for text in texts),
    }
    return next((problem for problem, fine in sound.items() if not fine), None)


def guarded_plan(plan: MovedPlan, policy: SecretsPolicy) -> MovedPlan:
    """The same as it may be kept here; `InvalidRequest` when it may not be."""

    def text(given: str | None) -> str | None:
        return guard(given, policy).text if given else given

    kept = replace(plan, title=text(plan.title) or plan.title, description=text(plan.description))
    if isinstance(kept, Task):
        return replace(kept, notes=text(kept.notes))
    milestones = tuple(replace(one, title=text(one.title) or one.title) for one in kept.milestones)
    return replace(kept, success_criteria=text(kept.success_criteria), milestones=milestones)
