"""What a backend must offer to keep goals and their milestones."""

from datetime import datetime
from typing import Protocol

from scrubjay.core.policies import Allowance
from scrubjay.core.scopes import Visibility
from scrubjay.features.tasks.models import Goal, GoalChange, GoalFilter, GoalPage, Milestone, Place


class GoalStore(Protocol):
    """Keeps goals, each of one project or of all.

    Whoever sees a goal may change it. A change takes what it does not name as it is at that moment, so that two who
    change different fields at once both have their way; of two who change the same field, the later has it.
    """

    async def add(self, goal: Goal, allowance: Allowance | None = None) -> Goal:
        """Keep a goal, which has no milestones yet. `NotFound` when there is no such project."""
        ...

    async def get(self, visibility: Visibility, goal_id: str) -> Goal | None: ...

    async def page(
        self, visibility: Visibility, only: GoalFilter, limit: int, after: Place | None = None, offset: int = 0
    ) -> GoalPage:
        """The most important first, then the oldest; behind a place, when it is given, and without the first few."""
        ...

    async def change(self, visibility: Visibility, goal_id: str, change: GoalChange, at: datetime) -> Goal | None:
        """Change a goal; as it is then, or None when there is none to be seen. `Conflict` as the change says."""
        ...

    async def delete(self, visibility: Visibility, goal_id: str) -> Goal | None:
        """Erase a goal with its milestones; what it was, or None when there is none to be seen."""
        ...

    async def add_milestone(
        self,
        visibility: Visibility,
        goal_id: str,
        milestone: Milestone,
        *,
        most: int,
        allowance: Allowance | None = None,
    ) -> Goal | None:
        """Keep one more milestone of a goal; the goal then, or None. `QuotaExceeded` when it has the most it can."""
        ...

    async def complete_milestone(
        self, visibility: Visibility, milestone_id: str, at: datetime, *, goal_id: str | None = None
    ) -> Goal | None:
        """Complete a milestone, if nobody has; the goal then, or None when there is none such, or not of that goal."""
        ...

    async def delete_milestone(
        self, visibility: Visibility, milestone_id: str, at: datetime, *, goal_id: str | None = None
    ) -> Goal | None:
        """Erase a milestone; the goal then, or None when there is none such, or not of that goal."""
        ...
