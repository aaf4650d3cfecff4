"""What a backend must offer to keep tasks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from scrubjay.core.policies import Allowance
from scrubjay.core.scopes import Visibility
from scrubjay.features.tasks.models import Place, Task, TaskChange, TaskFilter, TaskPage


class TaskStore(Protocol):
    """Keeps tasks, each of one project or of all.

    Whoever sees a task may change it. A change takes what it does not name as it is at that moment, so that two who
    change different fields at once both have their way; of two who change the same field, the later has it.
    """

    async def add(self, task: Task, allowance: Allowance | None = None) -> Task:
        """Keep a task. `NotFound` when there is no such project, or no such parent of the same project."""
        ...

    async def get(self, visibility: Visibility, task_id: str) -> Task | None: ...

    async def page(
        self, visibility: Visibility, only: TaskFilter, limit: int, after: Place | None = None, offset: int = 0
    ) -> TaskPage:
        """The most urgent first, then the oldest; behind a place, when it is given, and without the first few."""
        ...

    async def change(self, visibility: Visibility, task_id: str, change: TaskChange, at: datetime) -> Task | None:
        """Change a task; as it is then, or None when there is none to be seen.

        `NotFound` when there is no such parent of the same project, `Conflict` when a task would be a part of itself.
        """
        ...

    async def delete(self, visibility: Visibility, task_id: str, *, with_subtasks: bool = False) -> Sequence[Task]:
        """Erase a task; what it was, and then its parts. None of it when there is none to be seen.

        `Conflict` when it has parts, and these are not to go as well.
        """
        ...
