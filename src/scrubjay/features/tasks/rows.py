"""Conversion between tasks, goals and their columns, and the quota for both."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from scrubjay.core.policies import StorageQuota
from scrubjay.db.sqlite.columns import json_text, microseconds, moment, optional_microseconds, optional_moment
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.tasks.models import (
    Goal,
    GoalPriority,
    GoalStatus,
    Milestone,
    PagePosition,
    Task,
    TaskPriority,
    TaskStatus,
)

_TASK_SQL = load_queries(__file__)
_GOAL_SQL = load_queries(__file__, "goal_queries")

# The rank column holds the position of the priority in these.
TASK_RANKS: tuple[TaskPriority, ...] = tuple(TaskPriority)
GOAL_RANKS: tuple[GoalPriority, ...] = tuple(GoalPriority)


def page_values(after: PagePosition | None, limit: int, offset: int = 0) -> dict[str, int | None]:
    """Return query values of a page; one extra row is read to detect further pages."""
    rank, seq = after if after is not None else (None, None)
    return {"after_rank": rank, "after_seq": seq, "limit": limit + 1, "offset": offset}


def refuse_plans_beyond(connection: Connection, allowance: StorageQuota | None) -> None:
    """Raise `QuotaExceeded`, which rolls back the transaction, if the client exceeds its quota of plans.

    Tasks, goals and milestones are counted together, separately from memories.
    """
    if allowance is not None:
        allowance.check_count(planned_by(connection, allowance.client), "tasks, goals and milestones")


def planned_by(connection: Connection, client: str) -> int:
    """Return the number of tasks, goals and milestones of this client."""
    return connection.value(_TASK_SQL["planned"], {"client": client})


def task_values(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "project_id": task.project_id,
        "title": task.title,
        "description": task.description,
        "status": task.status.value,
        "rank": TASK_RANKS.index(task.priority),
        "notes": task.notes,
        "client": task.client or "",
        "created_at": microseconds(task.created_at),
        "updated_at": microseconds(task.updated_at),
        "completed_at": optional_microseconds(task.completed_at),
    }


def task_from(row: Sequence[Any]) -> tuple[int, Task]:
    """Return row number and task from a row of the fragment `columns` in `queries.sql`."""
    (
        seq,
        task_id,
        project_id,
        title,
        description,
        status,
        rank,
        parent_id,
        notes,
        client,
        created_at,
        updated_at,
        completed_at,
        subtasks,
        open_subtasks,
    ) = row
    return seq, Task(
        id=task_id,
        project_id=project_id,
        title=title,
        description=description,
        status=TaskStatus(status),
        priority=TASK_RANKS[int(rank)],
        parent_id=parent_id,
        notes=notes,
        client=client or None,
        created_at=moment(created_at),
        updated_at=moment(updated_at),
        completed_at=optional_moment(completed_at),
        subtasks=subtasks,
        open_subtasks=open_subtasks,
    )


def goals_from(connection: Connection, rows: Sequence[Sequence[Any]]) -> list[tuple[int, Goal]]:
    """Return row numbers and goals with milestones, from rows of the fragment `columns` in `goal_queries.sql`."""
    found = {row[0]: _goal_from(row) for row in rows}
    milestones: dict[int, list[Milestone]] = {}
    for goal_seq, *row in connection.execute(_GOAL_SQL["milestones"], {"goals": json_text([*found])}):
        milestones.setdefault(goal_seq, []).append(_milestone_from(row))
    return [(seq, replace(goal, milestones=tuple(milestones.get(seq, ())))) for seq, goal in found.items()]


def goal_values(goal: Goal) -> dict[str, Any]:
    return {
        "id": goal.id,
        "project_id": goal.project_id,
        "title": goal.title,
        "description": goal.description,
        "status": goal.status.value,
        "rank": GOAL_RANKS.index(goal.priority),
        "success_criteria": goal.success_criteria,
        "given_progress": goal.given_progress,
        "client": goal.client or "",
        "created_at": microseconds(goal.created_at),
        "updated_at": microseconds(goal.updated_at),
        "completed_at": optional_microseconds(goal.completed_at),
    }


def milestone_values(milestone: Milestone) -> dict[str, Any]:
    return {
        **asdict(milestone),
        "client": milestone.client or "",
        "created_at": microseconds(milestone.created_at),
        "completed_at": optional_microseconds(milestone.completed_at),
    }


def _goal_from(row: Sequence[Any]) -> Goal:
    (
        _,
        goal_id,
        project_id,
        title,
        description,
        status,
        rank,
        success_criteria,
        given_progress,
        client,
        created_at,
        updated_at,
        completed_at,
    ) = row
    return Goal(
        id=goal_id,
        project_id=project_id,
        title=title,
        description=description,
        status=GoalStatus(status),
        priority=GOAL_RANKS[int(rank)],
        success_criteria=success_criteria,
        given_progress=given_progress,
        client=client or None,
        created_at=moment(created_at),
        updated_at=moment(updated_at),
        completed_at=optional_moment(completed_at),
    )


def _milestone_from(row: Sequence[Any]) -> Milestone:
    milestone_id, title, weight, client, created_at, completed_at = row
    return Milestone(
        id=milestone_id,
        title=title,
        weight=weight,
        client=client or None,
        created_at=moment(created_at),
        completed_at=optional_moment(completed_at),
    )
