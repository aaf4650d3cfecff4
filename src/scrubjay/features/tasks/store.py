"""Interface that a store backend implements for tasks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from scrubjay.core.policies import StorageQuota
from scrubjay.core.scopes import Visibility
from scrubjay.features.tasks.models import PagePosition, Task, TaskChange, TaskFilter, TaskPage


class TaskStore(Protocol):
    """Stores tasks, each of one project or global.

    A visible task may be changed. A change writes only its own fields, so that concurrent changes of different fields
    are both kept; for the same field the last one wins.
    """

    async def add(self, task: Task, allowance: StorageQuota | None = None) -> Task:
        """Insert a task; raise `NotFound` if the project, or the parent in this project, does not exist."""
        ...

    async def get(self, visibility: Visibility, task_id: str) -> Task | None: ...

    async def page(
        self, visibility: Visibility, only: TaskFilter, limit: int, after: PagePosition | None = None, offset: int = 0
    ) -> TaskPage:
        """Return tasks by descending priority, then age, after a position or after skipping `offset`."""
        ...

    async def change(self, visibility: Visibility, task_id: str, change: TaskChange, at: datetime) -> Task | None:
        """Change a task and return it, or None if it is not visible.

        Raise `NotFound` if the parent is not in the same project, `Conflict` if a task would be its own subtask.
        """
        ...

    async def delete(self, visibility: Visibility, task_id: str, *, with_subtasks: bool = False) -> Sequence[Task]:
        """Delete a task; return it and its subtasks, or nothing if it is not visible.

        Raise `Conflict` if it has subtasks and `with_subtasks` is false.
        """
        ...
