"""Export and import of tasks and goals in SQLite."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from scrubjay.db.sqlite.columns import json_text, json_value
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.tasks.models import Goal, Task
from scrubjay.features.tasks.rows import goal_values, goals_from, milestone_values, task_from, task_values
from scrubjay.features.transfer.models import PlanKind, TransferPlan

_SQL = load_queries(__file__, "plan_queries")
_TASKS, _GOALS = load_queries(__file__, "../tasks/queries"), load_queries(__file__, "../tasks/goal_queries")
_COUNT: Mapping[PlanKind, str] = {"tasks": _SQL["count_tasks"], "goals": _SQL["count_goals"]}
_ERASE: Mapping[PlanKind, str] = {"tasks": _SQL["erase_tasks"], "goals": _SQL["erase_goals"]}
# Goals whose milestones are read together.
_GOALS_AT_ONCE = 200

PlanRow = dict[str, Any]
"""Table values of a task or goal; also the staged format."""


def count_plans(connection: Connection, sorts: Collection[PlanKind]) -> Mapping[PlanKind, int]:
    return {sort: connection.value(_COUNT[sort]) for sort in sorts}


def read_plans(connection: Connection, sorts: Collection[PlanKind]) -> Iterator[TransferPlan]:
    """Yield all plans of these sorts, parent tasks before their children."""
    if "tasks" in sorts:
        for row in connection.stream(_SQL["tasks"]):
            yield task_from(row)[1]
    if "goals" in sorts:
        rows = connection.execute(_SQL["goals"])
        for start in range(0, len(rows), _GOALS_AT_ONCE):
            for _, goal in goals_from(connection, rows[start : start + _GOALS_AT_ONCE]):
                yield goal


def plan_ids(plan: TransferPlan) -> list[str]:
    return [plan.id] if isinstance(plan, Task) else [plan.id, *(one.id for one in plan.milestones)]


def known_plans(connection: Connection, ids: Sequence[str]) -> set[str]:
    return {one for (one,) in connection.execute(_SQL["known"], {"ids": json_text(list(ids))})}


def plan_row(plan: TransferPlan) -> PlanRow:
    if isinstance(plan, Goal):
        return {"goal": goal_values(plan), "milestones": [milestone_values(one) for one in plan.milestones]}
    return {"task": task_values(plan) | {"parent_id": plan.parent_id}}


def insert_plans(connection: Connection, rows: Sequence[PlanRow]) -> Mapping[PlanKind, int]:
    """Insert the plans whose ids (and milestone ids) are free; return the inserted counts."""
    inserted: dict[PlanKind, int] = {"tasks": 0, "goals": 0}
    for row in rows:
        ids = [row["task"]["id"]] if "task" in row else [row["goal"]["id"], *(one["id"] for one in row["milestones"])]
        if len(set(ids)) < len(ids) or known_plans(connection, ids):
            continue
        if "task" in row:
            _insert_task(connection, row["task"])
            inserted["tasks"] += 1
        else:
            _insert_goal(connection, row["goal"], row["milestones"])
            inserted["goals"] += 1
    return inserted


def stage_plans(connection: Connection, import_id: str, rows: Sequence[PlanRow]) -> None:
    for row in rows:
        connection.execute(_SQL["stage"], {"import_id": import_id, "content": json_text(row)})


def replace_plans(
    connection: Connection, import_id: str, sorts: Collection[PlanKind]
) -> tuple[Mapping[PlanKind, int], int, int]:
    """Replace all plans of these sorts by the staged ones; return inserted, skipped and erased counts."""
    erased = sum(count_plans(connection, sorts).values())
    for sort in sorts:
        connection.execute(_ERASE[sort])
    inserted: Counter[PlanKind] = Counter()
    staged = after = 0
    while rows := connection.execute(_SQL["staged"], {"import_id": import_id, "after": after}):
        inserted.update(insert_plans(connection, [json_value(content) for _, content in rows]))
        staged, after = staged + len(rows), rows[-1][0]
    clear_staged_plans(connection, import_id)
    return inserted, staged - inserted.total(), erased


def clear_staged_plans(connection: Connection, import_id: str) -> None:
    connection.execute(_SQL["clear"], {"import_id": import_id})


def _insert_task(connection: Connection, values: dict[str, Any]) -> None:
    given = {"parent_id": values["parent_id"], "project_id": values["project_id"]}
    # A subtask whose parent was not imported becomes a task of its own.
    parent = None if given["parent_id"] is None else connection.value(_SQL["parent"], given)
    connection.execute(_TASKS["add"], values | {"parent_seq": parent})


def _insert_goal(connection: Connection, values: dict[str, Any], milestones: Sequence[dict[str, Any]]) -> None:
    connection.execute(_GOALS["add"], values)
    seq = connection.value(_SQL["goal_place"], {"id": values["id"]})
    for milestone in milestones:
        connection.execute(_GOALS["add_milestone"], milestone | {"goal_seq": seq})
