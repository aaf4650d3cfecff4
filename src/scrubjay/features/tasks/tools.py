"""Tools for tasks and goals."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from scrubjay.core.scopes import Visibility
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.tasks.goals import GoalService
from scrubjay.features.tasks.models import (
    Goal,
    GoalChange,
    GoalDetails,
    GoalFilter,
    GoalPriority,
    GoalStatus,
    PagePosition,
    Task,
    TaskChange,
    TaskDetails,
    TaskFilter,
    TaskPriority,
    TaskStatus,
)
from scrubjay.features.tasks.service import TaskService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent

MAX_TITLE, MAX_TEXT = 500, 20_000
MAX_LISTED = 200
READING: Final = ("list", "get")

TaskAction = Literal["create", "list", "get", "update", "complete", "delete"]
GoalAction = Literal[
    "create", "list", "get", "update", "delete", "add_milestone", "complete_milestone", "delete_milestone", "progress"
]
Title = Annotated[str, Field(min_length=1, max_length=MAX_TITLE)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Offset = Annotated[int, Field(ge=0, le=1_000_000_000)]
Cursor = Annotated[str, Field(pattern=r"^[0-3]\.[0-9]{1,18}$")]

# Fields that update can change, and fields that each action requires.
_TASK_FIELDS: Final = ("title", "description", "status", "priority", "parent_id", "notes")
_GOAL_FIELDS: Final = ("title", "description", "status", "priority", "success_criteria", "progress_percent")
_TASK_REQUIRED: Final[dict[str, str]] = {
    "create": "title",
    **dict.fromkeys(("get", "update", "complete", "delete"), "task_id"),
}
_GOAL_REQUIRED: Final[dict[str, str]] = {
    "create": "title",
    **dict.fromkeys(("get", "update", "delete", "progress"), "goal_id"),
    "add_milestone": "goal_id title",
    **dict.fromkeys(("complete_milestone", "delete_milestone"), "milestone_id"),
}


class TaskRequest(Request):
    model_config = examples(
        {"action": "create", "title": "Renew the certificate", "priority": "high"},
        {"action": "list"},
        {"action": "complete", "task_id": "task_01jd8x4v9q2m5n7p3r6s8t0w1y", "notes": "done by the new script"},
    )

    action: TaskAction = Field(description="Operation to perform.")
    task_id: Label | None = Field(default=None, description="Task id; for get, update, complete and delete.")
    title: Title | None = Field(default=None, description="Short title; required for create.")
    description: Text | None = Field(default=None, description="Description; an empty string clears it.")
    status: TaskStatus | None = Field(
        default=None, description="Status; default pending. For list: only tasks with this status."
    )
    priority: TaskPriority | None = Field(
        default=None, description="Priority; default medium. For list: only tasks with this priority."
    )
    parent_id: Annotated[str, Field(max_length=500)] | None = Field(
        default=None,
        description="Id of the parent task; for update an empty string removes the parent. For list: only subtasks of "
        "this task.",
    )
    notes: Text | None = Field(
        default=None, description="Notes on progress; they replace earlier notes, an empty string clears them."
    )
    include_completed: bool = Field(default=False, description="For list: include completed tasks.")
    with_subtasks: bool = Field(
        default=False,
        description="For delete: delete subtasks too; otherwise a task with subtasks is not deleted.",
    )
    limit: int = Field(default=20, ge=1, le=MAX_LISTED, description="For list: maximum number of results.")
    cursor: Cursor | None = Field(default=None, description="For list: next_cursor of the previous page.")
    offset: Offset = Field(default=0, description="For list: number of results to skip, as an alternative to cursor.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_required(self, self.action, _TASK_REQUIRED, _TASK_FIELDS)
        return self


class TaskView(Result):
    """A task."""

    id: str
    title: str
    description: str | None
    status: TaskStatus
    priority: TaskPriority
    parent_id: str | None = Field(description="Id of the parent task.")
    notes: str | None
    scope: Literal["global", "project"]
    project: str | None = Field(description="Id of its project; null for a global task.")
    subtasks: int = Field(description="Number of direct subtasks.")
    open_subtasks: int = Field(description="Number of direct subtasks that are not completed.")
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None


class TaskResult(Result):
    """Result; only the fields of the action are present."""

    action: TaskAction
    task: TaskView | None = Field(
        default=None, exclude_if=is_absent, description="The task after the action; for delete, the deleted task."
    )
    tasks: list[TaskView] | None = Field(
        default=None, exclude_if=is_absent, description="For list: tasks by descending priority, then age."
    )
    total: int | None = Field(
        default=None, exclude_if=is_absent, description="For list: number of results on all pages."
    )
    next_cursor: str | None = Field(
        default=None,
        exclude_if=is_absent,
        description="For list: pass it as cursor to get the next page; absent on the last page.",
    )
    deleted: list[str] | None = Field(
        default=None, exclude_if=is_absent, description="For delete: ids of the deleted task and subtasks."
    )
    masked: list[str] | None = Field(
        default=None, exclude_if=is_absent, description="Kinds of secrets that were masked in the texts."
    )


class GoalRequest(Request):
    model_config = examples(
        {"action": "create", "title": "Version 2", "priority": "high", "success_criteria": "All clients have moved."},
        {"action": "add_milestone", "goal_id": "goal_01jd8x4v9q2m5n7p3r6s8t0w1y", "title": "Beta", "weight": 2},
        {"action": "list", "include_finished": True},
    )

    action: GoalAction = Field(description="Operation to perform. progress returns the progress of a goal, or sets it.")
    goal_id: Label | None = Field(
        default=None, description="Goal id; for get, update, delete, add_milestone and progress."
    )
    title: Title | None = Field(default=None, description="Short title; required for create and add_milestone.")
    description: Text | None = Field(default=None, description="Description; an empty string clears it.")
    status: GoalStatus | None = Field(
        default=None, description="Status; default planning. For list: only goals with this status."
    )
    priority: GoalPriority | None = Field(
        default=None, description="Priority; default medium. For list: only goals with this priority."
    )
    success_criteria: Text | None = Field(
        default=None, description="Criteria by which the goal counts as reached; an empty string clears it."
    )
    progress_percent: Annotated[float, Field(ge=0, le=100)] | None = Field(
        default=None, description="Progress, 0 to 100; only for goals without milestones."
    )
    include_finished: bool = Field(default=False, description="For list: include completed and abandoned goals.")
    milestone_id: Label | None = Field(
        default=None, description="Milestone id; for complete_milestone and delete_milestone."
    )
    weight: Annotated[float, Field(gt=0, le=1_000)] = Field(
        default=1, description="For add_milestone: weight relative to the other milestones."
    )
    limit: int = Field(default=10, ge=1, le=MAX_LISTED, description="For list: maximum number of results.")
    cursor: Cursor | None = Field(default=None, description="For list: next_cursor of the previous page.")
    offset: Offset = Field(default=0, description="For list: number of results to skip, as an alternative to cursor.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_required(self, self.action, _GOAL_REQUIRED, _GOAL_FIELDS)
        return self


class MilestoneView(Result):
    """A milestone of a goal."""

    id: str
    title: str
    weight: float
    completed: bool
    completed_at: datetime | None
    created_at: datetime


class GoalView(Result):
    """A goal."""

    id: str
    title: str
    description: str | None
    status: GoalStatus
    priority: GoalPriority
    success_criteria: str | None
    progress_percent: float = Field(
        description="Share of completed milestones by weight; without milestones, the given progress."
    )
    progress_from: Literal["milestones", "given"] = Field(description="Source of progress_percent.")
    ready_to_complete: bool = Field(
        description="True if progress is 100 and the goal is not finished: update its status if it is reached."
    )
    milestones: list[MilestoneView] = Field(description="Milestones in the order in which they were added.")
    scope: Literal["global", "project"]
    project: str | None = Field(description="Id of its project; null for a global goal.")
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None


class GoalResult(Result):
    """Result; only the fields of the action are present."""

    action: GoalAction
    goal: GoalView | None = Field(
        default=None, exclude_if=is_absent, description="The goal after the action; for delete, the deleted goal."
    )
    goals: list[GoalView] | None = Field(
        default=None, exclude_if=is_absent, description="For list: goals by descending priority, then age."
    )
    total: int | None = Field(
        default=None, exclude_if=is_absent, description="For list: number of results on all pages."
    )
    next_cursor: str | None = Field(
        default=None,
        exclude_if=is_absent,
        description="For list: pass it as cursor to get the next page; absent on the last page.",
    )
    masked: list[str] | None = Field(
        default=None, exclude_if=is_absent, description="Kinds of secrets that were masked in the texts."
    )


@tool("planning", destructive=True, reading_operations=READING)
async def task(request: TaskRequest, tasks: TaskService, projects: ProjectService, context: CallContext) -> TaskResult:
    """Create, list, get, update, complete or delete tasks.

    A task belongs to the active project or is global; list returns both, by default only open tasks. A task can have
    subtasks in the same project.
    """
    project_id = await project_id_of(request.project, projects, context, make=request.action == "create")
    visibility, task_id = Visibility(project_id), request.task_id or ""
    result = TaskResult(action=request.action)
    match request.action:
        case "create":
            written = await tasks.create(_new_task(request), project_id, context.client)
            result.task, result.masked = _task(written.task), list(written.masked)
        case "list":
            only = TaskFilter(
                status=request.status,
                priority=request.priority,
                parent_id=request.parent_id or None,
                with_completed=request.include_completed,
            )
            page = await tasks.page(visibility, only, request.limit, _parse_cursor(request.cursor), request.offset)
            result.tasks, result.total = [_task(one) for one in page.tasks], page.total
            result.next_cursor = _cursor(page.last)
        case "get":
            result.task = _task(await tasks.get(visibility, task_id))
        case "update" | "complete":
            written = await tasks.change(visibility, task_id, _task_change(request), context.client)
            result.task, result.masked = _task(written.task), list(written.masked)
        case "delete":
            deleted = await tasks.delete(visibility, task_id, with_subtasks=request.with_subtasks)
            result.task, result.deleted = _task(deleted[0]), [one.id for one in deleted]
    return result


@tool("planning", destructive=True, reading_operations=READING)
async def goal(request: GoalRequest, goals: GoalService, projects: ProjectService, context: CallContext) -> GoalResult:
    """Create, list, get, update or delete goals and their milestones.

    A goal belongs to the active project or is global; list returns both, by default only unfinished goals. Progress is
    the weighted share of completed milestones; without milestones, set it with progress_percent.
    """
    project_id = await project_id_of(request.project, projects, context, make=request.action == "create")
    visibility, client = Visibility(project_id), context.client
    goal_id, milestone_id = request.goal_id or "", request.milestone_id or ""
    result = GoalResult(action=request.action)
    match request.action:
        case "create":
            written = await goals.create(_new_goal(request), project_id, client)
            result.goal, result.masked = _goal(written.goal), list(written.masked)
        case "list":
            only = GoalFilter(status=request.status, priority=request.priority, with_finished=request.include_finished)
            page = await goals.page(visibility, only, request.limit, _parse_cursor(request.cursor), request.offset)
            result.goals, result.total = [_goal(one) for one in page.goals], page.total
            result.next_cursor = _cursor(page.last)
        case "update":
            written = await goals.change(visibility, goal_id, _goal_change(request), client)
            result.goal, result.masked = _goal(written.goal), list(written.masked)
        case "progress" if request.progress_percent is not None:
            change = GoalChange(given_progress=request.progress_percent)
            result.goal = _goal((await goals.change(visibility, goal_id, change, client)).goal)
        case "get" | "progress":
            result.goal = _goal(await goals.get(visibility, goal_id))
        case "delete":
            result.goal = _goal(await goals.delete(visibility, goal_id))
        case "add_milestone":
            written = await goals.add_milestone(visibility, goal_id, request.title or "", request.weight, client)
            result.goal, result.masked = _goal(written.goal), list(written.masked)
        case "complete_milestone":
            result.goal = _goal(await goals.complete_milestone(visibility, milestone_id, request.goal_id, client))
        case "delete_milestone":
            result.goal = _goal(await goals.delete_milestone(visibility, milestone_id, request.goal_id))
    return result


def _check_required(request: Request, action: str, required: dict[str, str], changeable: Sequence[str]) -> None:
    missing = [name for name in required.get(action, "").split() if getattr(request, name) is None]
    if missing:
        raise ValueError(f"{action} needs {' and '.join(missing)}")
    if action == "update" and all(getattr(request, name) is None for name in changeable):
        raise ValueError(f"update needs something to change: {', '.join(changeable)}")


def _parse_cursor(cursor: str | None) -> PagePosition | None:
    if cursor is None:
        return None
    rank, _, number = cursor.partition(".")
    return PagePosition(int(rank), int(number))


def _cursor(place: PagePosition | None) -> str | None:
    return None if place is None else f"{place.rank}.{place.number}"


def _new_task(request: TaskRequest) -> TaskDetails:
    return TaskDetails(
        title=request.title or "",
        description=request.description,
        status=request.status or TaskStatus.PENDING,
        priority=request.priority or TaskPriority.MEDIUM,
        parent_id=request.parent_id,
        notes=request.notes,
    )


def _task_change(request: TaskRequest) -> TaskChange:
    return TaskChange(
        title=request.title,
        description=request.description,
        status=TaskStatus.COMPLETED if request.action == "complete" else request.status,
        priority=request.priority,
        parent_id=request.parent_id,
        notes=request.notes,
    )


def _new_goal(request: GoalRequest) -> GoalDetails:
    return GoalDetails(
        title=request.title or "",
        description=request.description,
        status=request.status or GoalStatus.PLANNING,
        priority=request.priority or GoalPriority.MEDIUM,
        success_criteria=request.success_criteria,
        given_progress=request.progress_percent or 0,
    )


def _goal_change(request: GoalRequest) -> GoalChange:
    return GoalChange(
        title=request.title,
        description=request.description,
        status=request.status,
        priority=request.priority,
        success_criteria=request.success_criteria,
        given_progress=request.progress_percent,
    )


def _task(task: Task) -> TaskView:
    return TaskView(
        id=task.id,
        title=task.title,
        description=task.description,
        status=task.status,
        priority=task.priority,
        parent_id=task.parent_id,
        notes=task.notes,
        subtasks=task.subtasks,
        open_subtasks=task.open_subtasks,
        **_common(task),
    )


def _goal(goal: Goal) -> GoalView:
    return GoalView(
        id=goal.id,
        title=goal.title,
        description=goal.description,
        status=goal.status,
        priority=goal.priority,
        success_criteria=goal.success_criteria,
        progress_percent=goal.progress_percent,
        progress_from=goal.progress_from,
        ready_to_complete=goal.ready_to_complete,
        milestones=[MilestoneView.model_validate(one, from_attributes=True) for one in goal.milestones],
        **_common(goal),
    )


def _common(planned: Task | Goal) -> dict[str, Any]:
    return {
        "scope": "project" if planned.project_id else "global",
        "project": planned.project_id,
        "created_at": planned.created_at,
        "updated_at": planned.updated_at,
        "completed_at": planned.completed_at,
    }
