"""Tasks in SQLite."""

from collections.abc import Sequence
from datetime import datetime

from scrubjay.core.errors import Conflict, NotFound
from scrubjay.core.policies import StorageQuota
from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.projects.rows import require_project
from scrubjay.features.tasks.models import PagePosition, Task, TaskChange, TaskFilter, TaskPage
from scrubjay.features.tasks.rows import TASK_RANKS, page_values, refuse_plans_beyond, task_from, task_values

_SQL = load_queries(__file__)


class SqliteTasks:
    """Implements `TaskStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def add(self, task: Task, allowance: StorageQuota | None = None) -> Task:
        def work(connection: Connection) -> Task:
            require_project(connection, task.project_id)
            connection.execute(_SQL["add"], task_values(task) | {"parent_seq": _parent(connection, task)})
            refuse_plans_beyond(connection, allowance)
            return task

        return await self._writer.write(work)

    async def get(self, visibility: Visibility, task_id: str) -> Task | None:
        found = await self._readers.read(lambda connection: _task(connection, visibility, task_id))
        return found[1] if found else None

    async def page(
        self, visibility: Visibility, only: TaskFilter, limit: int, after: PagePosition | None = None, offset: int = 0
    ) -> TaskPage:
        values = {
            "project": visibility.project_id,
            "status": only.status,
            "rank": None if only.priority is None else TASK_RANKS.index(only.priority),
            "parent": only.parent_id,
            "all": only.with_completed,
        }

        def work(connection: Connection) -> TaskPage:
            rows = connection.execute(_SQL["page"], values | page_values(after, limit, offset))
            found = [task_from(row) for row in rows]
            last = (
                PagePosition(TASK_RANKS.index(found[limit - 1][1].priority), found[limit - 1][0])
                if found[limit:]
                else None
            )
            return TaskPage([task for _, task in found[:limit]], connection.value(_SQL["count"], values), last)

        return await self._readers.read(work)

    async def change(self, visibility: Visibility, task_id: str, change: TaskChange, at: datetime) -> Task | None:
        def work(connection: Connection) -> Task | None:
            if (found := _task(connection, visibility, task_id)) is None:
                return None
            seq, task = found
            changed = change.of(task, at)
            parent = _parent(connection, changed)
            if parent is not None and connection.value(_SQL["is_part"], {"seq": parent, "whole": seq}):
                raise Conflict(
                    f"{task.id} would be its own subtask", hint="choose a parent that is not a subtask of this task"
                )
            connection.execute(_SQL["change"], task_values(changed) | {"parent_seq": parent, "seq": seq})
            return changed

        return await self._writer.write(work)

    async def delete(self, visibility: Visibility, task_id: str, *, with_subtasks: bool = False) -> Sequence[Task]:
        def work(connection: Connection) -> Sequence[Task]:
            if (found := _task(connection, visibility, task_id)) is None:
                return []
            seq, task = found
            if task.subtasks and not with_subtasks:
                raise Conflict(
                    f"{task.id} has {task.subtasks} sub-tasks",
                    hint="delete or move these first, or set with_subtasks to delete them too",
                    details={"subtasks": task.subtasks, "open_subtasks": task.open_subtasks},
                )
            gone = [task_from(row)[1] for row in connection.execute(_SQL["parts"], {"seq": seq})]
            connection.execute(_SQL["erase"], {"seq": seq})
            return gone

        return await self._writer.erase(work)


def _task(connection: Connection, visibility: Visibility, task_id: str) -> tuple[int, Task] | None:
    rows = connection.execute(_SQL["get"], {"id": task_id, "project": visibility.project_id})
    return task_from(rows[0]) if rows else None


def _parent(connection: Connection, task: Task) -> int | None:
    """Return the row number of the parent, which must be in the same project."""
    if task.parent_id is None:
        return None
    found = connection.execute(_SQL["parent"], {"id": task.parent_id, "project_id": task.project_id})
    if not found:
        raise NotFound(
            f"parent task {task.parent_id[:80]!r} not found",
            hint="the parent must be in the same project; the parent of a global task must be global",
        )
    return found[0][0]
