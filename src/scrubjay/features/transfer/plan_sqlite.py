"""Tasks and goals that move out of a SQLite store and into it."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text, json_value
from scrubjay.features.tasks.models import Goal, Task
from scrubjay.features.tasks.rows import goal_values, goals_from, milestone_values, task_from, task_values
from scrubjay.features.transfer.models import MovedPlan, PlanSort

_SQL = load_queries(__file__, "plan_queries")
_TASKS, _GOALS = load_queries(__file__, "../tasks/queries"), load_queries(__file__, "../tasks/goal_queries")
_COUNT: Mapping[PlanSort, str] = {"tasks": _SQL["count_tasks"], "goals": _SQL["count_goals"]}
_ERASE: Mapping[PlanSort, str] = {"tasks": _SQL["erase_tasks"], "goals": _SQL["erase_goals"]}
# So many goals are read with their milestones at once.
_GOALS_AT_ONCE = 200

PlanRow = dict[str, Any]
"""A task or a goal as its tables take it, and as it waits."""


def count_plans(connection: Connection, sorts: Collection[PlanSort]) -> Mapping[PlanSort, int]:
    return {sort: connection.value(_COUNT[sort]) for sort in sorts}


def plans_out(connection: Connection, sorts: Collection[PlanSort]) -> Iterator[MovedPlan]:
    """All of these sorts; a task after the one that it is a part of."""
    if "tasks" in sorts:
        for row in connection.stream(_SQL["tasks"]):
            yield task_from(row)[1]
    if "goals" in sorts:
        rows = connection.execute(_SQL["goals"])
        for start in range(0, len(rows), _GOALS_AT_ONCE):
            for _, goal in goals_from(connection, rows[start : start + _GOALS_AT_ONCE]):
                yield goal


def ids_of(plan: MovedPlan) -> list[str]:
    return [plan.id] if isinstance(plan, Task) else [plan.id, *(one.id for one in plan.milestones)]


def known_plans(connection: Connection, ids: Sequence[str]) -> set[str]:
    return {one for (one,) in connection.execute(_SQL["known"], {"ids": json_text(list(ids))})}


def plan_row(plan: MovedPlan) -> PlanRow:
    if isinstance(plan, Goal):
        return {"goal": goal_values(plan), "milestones": [milestone_values(one) for one in plan.milestones]}
    return {"task": task_values(plan) | {"parent_id": plan.parent_id}}


def keep_plans(connection: Connection, rows: Sequence[PlanRow]) -> Mapping[PlanSort, int]:
    """Keep those whose ids, and whose milestones' ids, are not there yet; how many these were."""
    kept: dict[PlanSort, int] = {"tasks": 0, "goals": 0}
    for row in rows:
        ids = [row["task"]["id"]] if "task" in row else [row["goal"]["id"], *(one["id"] for one in row["milestones"])]
        if len(set(ids)) < len(ids) or known_plans(connection, ids):
            continue
        if "task" in row:
            _keep_task(connection, row["task"])
            kept["tasks"] += 1
        else:
            _keep_goal(connection, row["goal"], row["milestones"])
            kept["goals"] += 1
    return kept


def stage_plans(connection: Connection, import_id: str, rows: Sequence[PlanRow]) -> None:
    for row in rows:
        connection.execute(_SQL["stage"], {"import_id": import_id, "content": json_text(row)})


def exchange_plans(
    connection: Connection, import_id: str, sorts: Collection[PlanSort]
) -> tuple[Mapping[PlanSort, int], int, int]:
    """Let what waits take the place of all of these sorts: how many were kept, were not, and had to go."""
    erased = sum(count_plans(connection, sorts).values())
    for sort in sorts:
        connection.execute(_ERASE[sort])
    kept: Counter[PlanSort] = Counter()
    staged = after = 0
    while rows := connection.execute(_SQL["staged"], {"import_id": import_id, "after": after}):
        kept.update(keep_plans(connection, [json_value(content) for _, content in rows]))
        staged, after = staged + len(rows), rows[-1][0]
    clear_staged_plans(connection, import_id)
    return kept, staged - kept.total(), erased


def clear_staged_plans(connection: Connection, import_id: str) -> None:
    connection.execute(_SQL["clear"], {"import_id": import_id})


def _keep_task(connection: Connection, values: dict[str, Any]) -> None:
    given = {"parent_id": values["parent_id"], "project_id": values["project_id"]}
    # A part whose whole did not come along stands for itself.
    parent = None if given["parent_id"] is None else connection.value(_SQL["parent"], given)
    connection.execute(_TASKS["add"], values | {"parent_seq": parent})


def _keep_goal(connection: Connection, values: dict[str, Any], milestones: Sequence[dict[str, Any]]) -> None:
    connection.execute(_GOALS["add"], values)
    seq = connection.value(_SQL["goal_place"], {"id": values["id"]})
    for milestone in milestones:
        connection.execute(_GOALS["add_milestone"], milestone | {"goal_seq": seq})
