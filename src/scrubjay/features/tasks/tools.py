"""What is to be done: tasks and their parts, goals and the milestones on the way."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from scrubjay.core.scopes import Visibility
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.tasks.goals import GoalService, NewGoal
from scrubjay.features.tasks.models import (
    Goal,
    GoalChange,
    GoalFilter,
    GoalPriority,
    GoalStatus,
    Place,
    Task,
    TaskChange,
    TaskFilter,
    TaskPriority,
    TaskStatus,
)
from scrubjay.features.tasks.service import NewTask, TaskService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent as _absent

MAX_TITLE, MAX_TEXT = 500, 20_000
MOST_LISTED = 200
READING: Final = ("list", "get")

TaskAction = Literal["create", "list", "get", "update", "complete", "delete"]
GoalAction = Literal[
    "create", "list", "get", "update", "delete", "add_milestone", "complete_milestone", "delete_milestone", "progress"
]
Title = Annotated[str, Field(min_length=1, max_length=MAX_TITLE)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Offset = Annotated[int, Field(ge=0, le=1_000_000_000)]
Cursor = Annotated[str, Field(pattern=r"^[0-3]\.[0-9]{1,18}$")]

# What can be changed, and what an action cannot do without.
_TASK_FIELDS: Final = ("title", "description", "status", "priority", "parent_id", "notes")
_GOAL_FIELDS: Final = ("title", "description", "status", "priority", "success_criteria", "progress_percent")
_TASK_NEEDS: Final[dict[str, str]] = {
    "create": "title",
    **dict.fromkeys(("get", "update", "complete", "delete"), "task_id"),
}
_GOAL_NEEDS: Final[dict[str, str]] = {
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

    action: TaskAction = Field(description="What to do.")
    task_id: Label | None = Field(default=None, description="Which task; for get, update, complete and delete.")
    title: Title | None = Field(default=None, description="What is to be done, in a few words; create needs it.")
    description: Text | None = Field(default=None, description="More about it; an empty text removes what is there.")
    status: TaskStatus | None = Field(
        default=None, description="How far it is; by default pending. For list: only tasks of this status."
    )
    priority: TaskPriority | None = Field(
        default=None, description="How soon; by default medium. For list: only tasks of this priority."
    )
    parent_id: Annotated[str, Field(max_length=500)] | None = Field(
        default=None,
        description="The task that it is a part of; for update an empty text makes it a part of none. For list: only "
        "parts of this task.",
    )
    notes: Text | None = Field(
        default=None, description="What is known by now; takes the place of earlier notes, an empty text removes them."
    )
    include_completed: bool = Field(default=False, description="For list: completed tasks as well.")
    with_subtasks: bool = Field(
        default=False,
        description="For delete: its sub-tasks as well; without this a task that has some is not deleted.",
    )
    limit: int = Field(default=20, ge=1, le=MOST_LISTED, description="For list: how many at most.")
    cursor: Cursor | None = Field(default=None, description="For list: the next_cursor of the page before.")
    offset: Offset = Field(default=0, description="For list: how many are passed over, in the place of a cursor.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _refuse_incomplete(self, self.action, _TASK_NEEDS, _TASK_FIELDS)
        return self


class TaskView(Result):
    """A task."""

    id: str
    title: str
    description: str | None
    status: TaskStatus
    priority: TaskPriority
    parent_id: str | None = Field(description="The task that it is a part of.")
    notes: str | None
    scope: Literal["global", "project"]
    project: str | None = Field(description="The id of its project; null for a task that is seen everywhere.")
    subtasks: int = Field(description="How many tasks are parts of it.")
    open_subtasks: int = Field(description="How many of these are not completed.")
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None


class TaskResult(Result):
    """What was done; of the fields below, those that belong to the action."""

    action: TaskAction
    task: TaskView | None = Field(
        default=None, exclude_if=_absent, description="The task as it is now; for delete, as it was."
    )
    tasks: list[TaskView] | None = Field(
        default=None, exclude_if=_absent, description="For list: the most urgent first, then the oldest."
    )
    total: int | None = Field(default=None, exclude_if=_absent, description="For list: how many there are in all.")
    next_cursor: str | None = Field(
        default=None, exclude_if=_absent, description="For list: give it as cursor to go on; absent on the last page."
    )
    deleted: list[str] | None = Field(
        default=None, exclude_if=_absent, description="For delete: the ids of the task and of its sub-tasks."
    )
    masked: list[str] | None = Field(
        default=None, exclude_if=_absent, description="The kinds of secrets that were found in the texts and masked."
    )


class GoalRequest(Request):
    model_config = examples(
        {"action": "create", "title": "Version 2", "priority": "high", "success_criteria": "All clients have moved."},
        {"action": "add_milestone", "goal_id": "goal_01jd8x4v9q2m5n7p3r6s8t0w1y", "title": "Beta", "weight": 2},
        {"action": "list", "include_finished": True},
    )

    action: GoalAction = Field(description="What to do. progress tells how far a goal is, or sets it.")
    goal_id: Label | None = Field(
        default=None, description="Which goal; for get, update, delete, add_milestone and progress."
    )
    title: Title | None = Field(
        default=None, description="What is to be reached, in a few words; create and add_milestone need it."
    )
    description: Text | None = Field(default=None, description="More about it; an empty text removes what is there.")
    status: GoalStatus | None = Field(
        default=None, description="How far it is; by default planning. For list: only goals of this status."
    )
    priority: GoalPriority | None = Field(
        default=None, description="How much it matters; by default medium. For list: only goals of this priority."
    )
    success_criteria: Text | None = Field(
        default=None, description="By what one knows that it is reached; an empty text removes what is there."
    )
    progress_percent: Annotated[float, Field(ge=0, le=100)] | None = Field(
        default=None, description="How far it is, of a goal without milestones: those of one that has some tell it."
    )
    include_finished: bool = Field(default=False, description="For list: completed and abandoned goals as well.")
    milestone_id: Label | None = Field(
        default=None, description="Which milestone; for complete_milestone and delete_milestone."
    )
    weight: Annotated[float, Field(gt=0, le=1_000)] = Field(
        default=1, description="For add_milestone: how much of the way it is, compared with the other milestones."
    )
    limit: int = Field(default=10, ge=1, le=MOST_LISTED, description="For list: how many at most.")
    cursor: Cursor | None = Field(default=None, description="For list: the next_cursor of the page before.")
    offset: Offset = Field(default=0, description="For list: how many are passed over, in the place of a cursor.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _refuse_incomplete(self, self.action, _GOAL_NEEDS, _GOAL_FIELDS)
        return self


class MilestoneView(Result):
    """A part of the way to a goal."""

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
        description="The weights of completed milestones in those of all; without milestones, what was given."
    )
    progress_from: Literal["milestones", "given"] = Field(description="Which of the two it is.")
    ready_to_complete: bool = Field(
        description="Whether all is done and the goal is not finished yet: update its status when it is reached."
    )
    milestones: list[MilestoneView] = Field(description="In the order in which they were added.")
    scope: Literal["global", "project"]
    project: str | None = Field(description="The id of its project; null for a goal that is seen everywhere.")
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None


class GoalResult(Result):
    """What was done; of the fields below, those that belong to the action."""

    action: GoalAction
    goal: GoalView | None = Field(
        default=None, exclude_if=_absent, description="The goal as it is now; for delete, as it was."
    )
    goals: list[GoalView] | None = Field(
        default=None, exclude_if=_absent, description="For list: the most important first, then the oldest."
    )
    total: int | None = Field(default=None, exclude_if=_absent, description="For list: how many there are in all.")
    next_cursor: str | None = Field(
        default=None, exclude_if=_absent, description="For list: give it as cursor to go on; absent on the last page."
    )
    masked: list[str] | None = Field(
        default=None, exclude_if=_absent, description="The kinds of secrets that were found in the texts and masked."
    )


@tool("planning", destructive=True, reading_operations=READING)
async def task(request: TaskRequest, tasks: TaskService, projects: ProjectService, context: CallContext) -> TaskResult:
    """Keep track of what is to be done: create, list, get, update, complete or delete tasks.

    A task belongs to the active project, or to none; both are listed, by default those that are not completed. A task
    can have sub-tasks, which belong where it does.
    """
    project_id = await project_id_of(request.project, projects, context, make=request.action == "create")
    visibility, task_id = Visibility(project_id), request.task_id or ""
    done = TaskResult(action=request.action)
    match request.action:
        case "create":
            written = await tasks.create(_new_task(request), project_id, context.client)
            done.task, done.masked = _task(written.task), list(written.masked)
        case "list":
            only = TaskFilter(
                status=request.status,
                priority=request.priority,
                parent_id=request.parent_id or None,
                with_completed=request.include_completed,
            )
            page = await tasks.page(visibility, only, request.limit, _place(request.cursor), request.offset)
            done.tasks, done.total = [_task(one) for one in page.tasks], page.total
            done.next_cursor = _cursor(page.last)
        case "get":
            done.task = _task(await tasks.get(visibility, task_id))
        case "update" | "complete":
            written = await tasks.change(visibility, task_id, _task_change(request), context.client)
            done.task, done.masked = _task(written.task), list(written.masked)
        case "delete":
            gone = await tasks.delete(visibility, task_id, with_subtasks=request.with_subtasks)
            done.task, done.deleted = _task(gone[0]), [one.id for one in gone]
    return done


@tool("planning", destructive=True, reading_operations=READING)
async def goal(request: GoalRequest, goals: GoalService, projects: ProjectService, context: CallContext) -> GoalResult:
    """Keep track of what is to be reached: create, list, get, update or delete goals, and the milestones on the way.

    A goal belongs to the active project, or to none; both are listed, by default those that are not finished. By their
    weights milestones tell how far their goal is; without any, progress is what was given.
    """
    project_id = await project_id_of(request.project, projects, context, make=request.action == "create")
    visibility, client = Visibility(project_id), context.client
    goal_id, milestone_id = request.goal_id or "", request.milestone_id or ""
    done = GoalResult(action=request.action)
    match request.action:
        case "create":
            written = await goals.create(_new_goal(request), project_id, client)
            done.goal, done.masked = _goal(written.goal), list(written.masked)
        case "list":
            only = GoalFilter(status=request.status, priority=request.priority, with_finished=request.include_finished)
            page = await goals.page(visibility, only, request.limit, _place(request.cursor), request.offset)
            done.goals, done.total = [_goal(one) for one in page.goals], page.total
            done.next_cursor = _cursor(page.last)
        case "update":
            written = await goals.change(visibility, goal_id, _goal_change(request), client)
            done.goal, done.masked = _goal(written.goal), list(written.masked)
        case "progress" if request.progress_percent is not None:
            change = GoalChange(given_progress=request.progress_percent)
            done.goal = _goal((await goals.change(visibility, goal_id, change, client)).goal)
        case "get" | "progress":
            done.goal = _goal(await goals.get(visibility, goal_id))
        case "delete":
            done.goal = _goal(await goals.delete(visibility, goal_id))
        case "add_milestone":
            written = await goals.add_milestone(visibility, goal_id, request.title or "", request.weight, client)
            done.goal, done.masked = _goal(written.goal), list(written.masked)
        case "complete_milestone":
            done.goal = _goal(await goals.complete_milestone(visibility, milestone_id, request.goal_id, client))
        case "delete_milestone":
            done.goal = _goal(await goals.delete_milestone(visibility, milestone_id, request.goal_id))
    return done


def _refuse_incomplete(request: Request, action: str, needs: dict[str, str], changeable: Sequence[str]) -> None:
    missing = [name for name in needs.get(action, "").split() if getattr(request, name) is None]
    if missing:
        raise ValueError(f"{action} needs {' and '.join(missing)}")
    if action == "update" and all(getattr(request, name) is None for name in changeable):
        raise ValueError(f"update needs something to change: {', '.join(changeable)}")


def _place(cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    rank, _, number = cursor.partition(".")
    return Place(int(rank), int(number))


def _cursor(place: Place | None) -> str | None:
    return None if place is None else f"{place.rank}.{place.number}"


def _new_task(request: TaskRequest) -> NewTask:
    return NewTask(
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


def _new_goal(request: GoalRequest) -> NewGoal:
    return NewGoal(
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
        milestones=[
            MilestoneView(
                id=one.id,
                title=one.title,
                weight=one.weight,
                completed=one.completed_at is not None,
                completed_at=one.completed_at,
                created_at=one.created_at,
            )
            for one in goal.milestones
        ],
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
