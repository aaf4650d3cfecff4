"""Tasks and their subtasks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import NotFound
from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Visibility
from scrubjay.core.write_rules import Writing, WritingRules
from scrubjay.features.tasks.models import (
    PagePosition,
    Task,
    TaskChange,
    TaskDetails,
    TaskFilter,
    TaskPage,
    TaskStatus,
)
from scrubjay.features.tasks.store import TaskStore


@dataclass(frozen=True, slots=True)
class WrittenTask:
    """A stored task, and what was masked in it."""

    task: Task
    masked: Sequence[str]
    """Kinds of the secrets that were masked."""


class TaskService:
    """The tasks of one store."""

    def __init__(self, store: TaskStore, rules: WritingRules, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._rules = rules
        self._clock = clock

    async def create(self, new: TaskDetails, project_id: str | None, client: str | None) -> WrittenTask:
        """Create a task in this project, or a global one; a subtask must be in its parent's project."""
        writing, now = Writing(self._rules, client), self._clock()
        if new.parent_id:
            project_id = (await self.get(Visibility(project_id), new.parent_id)).project_id
        task = Task(
            id=new_id("task"),
            project_id=project_id,
            title=writing.text(new.title) or new.title,
            description=writing.text(new.description) or None,
            status=new.status,
            priority=new.priority,
            parent_id=new.parent_id or None,
            notes=writing.text(new.notes) or None,
            client=client,
            created_at=now,
            updated_at=now,
            completed_at=now if new.status is TaskStatus.COMPLETED else None,
        )
        return WrittenTask(await self._store.add(task, writing.allowance), writing.masked)

    async def get(self, visibility: Visibility, task_id: str) -> Task:
        return _found(await self._store.get(visibility, task_id), task_id)

    async def page(
        self, visibility: Visibility, only: TaskFilter, limit: int, after: PagePosition | None = None, offset: int = 0
    ) -> TaskPage:
        """Return tasks by descending priority, then age."""
        if only.parent_id is not None:
            await self.get(visibility, only.parent_id)
        return await self._store.page(visibility, only, limit, after, offset)

    async def change(self, visibility: Visibility, task_id: str, change: TaskChange, client: str | None) -> WrittenTask:
        """Change the given fields."""
        writing = Writing(self._rules, client)
        guarded = replace(
            change,
            title=writing.text(change.title),
            description=writing.text(change.description),
            notes=writing.text(change.notes),
        )
        task = _found(await self._store.change(visibility, task_id, guarded, self._clock()), task_id)
        return WrittenTask(task, writing.masked)

    async def delete(self, visibility: Visibility, task_id: str, *, with_subtasks: bool) -> Sequence[Task]:
        """Delete a task; return it and its subtasks. Raise `Conflict` if it has any and `with_subtasks` is false."""
        gone = await self._store.delete(visibility, task_id, with_subtasks=with_subtasks)
        _found(gone[0] if gone else None, task_id)
        return gone


def _found(task: Task | None, task_id: str) -> Task:
    if task is None:
        raise NotFound(
            f"task {task_id[:80]!r} not found in this project or globally",
            hint='use action "list" with include_completed to see all tasks',
        )
    return task
