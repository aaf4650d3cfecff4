"""Interface that a store backend implements for goals and milestones."""

from datetime import datetime
from typing import Protocol

from scrubjay.core.policies import StorageQuota
from scrubjay.core.scopes import Visibility
from scrubjay.features.tasks.models import Goal, GoalChange, GoalFilter, GoalPage, Milestone, PagePosition


class GoalStore(Protocol):
    """Stores goals, each of one project or global.

    A visible goal may be changed. A change writes only its own fields, so that concurrent changes of different fields
    are both kept; for the same field the last one wins. Methods return None if the goal is not visible.
    """

    async def add(self, goal: Goal, allowance: StorageQuota | None = None) -> Goal:
        """Insert a goal without milestones; raise `NotFound` if its project does not exist."""
        ...

    async def get(self, visibility: Visibility, goal_id: str) -> Goal | None: ...

    async def page(
        self, visibility: Visibility, only: GoalFilter, limit: int, after: PagePosition | None = None, offset: int = 0
    ) -> GoalPage:
        """Return goals by descending priority, then age, after a position or after skipping `offset`."""
        ...

    async def change(self, visibility: Visibility, goal_id: str, change: GoalChange, at: datetime) -> Goal | None:
        """Change a goal and return it; raise `Conflict` as `GoalChange.of` does."""
        ...

    async def delete(self, visibility: Visibility, goal_id: str) -> Goal | None:
        """Delete a goal with its milestones and return it."""
        ...

    async def add_milestone(
        self,
        visibility: Visibility,
        goal_id: str,
        milestone: Milestone,
        *,
        most: int,
        allowance: StorageQuota | None = None,
    ) -> Goal | None:
        """Add a milestone and return the goal; raise `QuotaExceeded` if it already has `most`."""
        ...

    async def complete_milestone(
        self, visibility: Visibility, milestone_id: str, at: datetime, *, goal_id: str | None = None
    ) -> Goal | None:
        """Complete a milestone, keeping an earlier completion time; return the goal."""
        ...

    async def delete_milestone(
        self, visibility: Visibility, milestone_id: str, at: datetime, *, goal_id: str | None = None
    ) -> Goal | None:
        """Delete a milestone and return the goal."""
        ...
