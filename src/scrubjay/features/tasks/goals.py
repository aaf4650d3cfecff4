"""Goals and their milestones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import NotFound
from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Visibility
from scrubjay.core.write_rules import Writing, WritingRules
from scrubjay.features.tasks.goal_store import GoalStore
from scrubjay.features.tasks.models import (
    Goal,
    GoalChange,
    GoalDetails,
    GoalFilter,
    GoalPage,
    GoalStatus,
    Milestone,
    PagePosition,
)

# Milestones are always returned with their goal, so their number is limited.
MAX_MILESTONES = 100


@dataclass(frozen=True, slots=True)
class WrittenGoal:
    """A stored goal, and what was masked in it."""

    goal: Goal
    masked: Sequence[str]
    """Kinds of the secrets that were masked."""


class GoalService:
    """The goals of one store."""

    def __init__(self, store: GoalStore, rules: WritingRules, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._rules = rules
        self._clock = clock

    async def create(self, new: GoalDetails, project_id: str | None, client: str | None) -> WrittenGoal:
        """Create a goal in this project, or a global one."""
        writing, now = Writing(self._rules, client), self._clock()
        goal = Goal(
            id=new_id("goal"),
            project_id=project_id,
            title=writing.text(new.title) or new.title,
            description=writing.text(new.description) or None,
            status=new.status,
            priority=new.priority,
            success_criteria=writing.text(new.success_criteria) or None,
            given_progress=new.given_progress,
            client=client,
            created_at=now,
            updated_at=now,
            completed_at=now if new.status is GoalStatus.COMPLETED else None,
        )
        return WrittenGoal(await self._store.add(goal, writing.allowance), writing.masked)

    async def get(self, visibility: Visibility, goal_id: str) -> Goal:
        return _found(await self._store.get(visibility, goal_id), goal_id)

    async def page(
        self, visibility: Visibility, only: GoalFilter, limit: int, after: PagePosition | None = None, offset: int = 0
    ) -> GoalPage:
        """Return goals by descending priority, then age."""
        return await self._store.page(visibility, only, limit, after, offset)

    async def change(self, visibility: Visibility, goal_id: str, change: GoalChange, client: str | None) -> WrittenGoal:
        """Change the given fields; raise `Conflict` if progress is given and the goal has milestones."""
        writing = Writing(self._rules, client)
        guarded = replace(
            change,
            title=writing.text(change.title),
            description=writing.text(change.description),
            success_criteria=writing.text(change.success_criteria),
        )
        goal = _found(await self._store.change(visibility, goal_id, guarded, self._clock()), goal_id)
        return WrittenGoal(goal, writing.masked)

    async def delete(self, visibility: Visibility, goal_id: str) -> Goal:
        """Delete a goal with its milestones."""
        return _found(await self._store.delete(visibility, goal_id), goal_id)

    async def add_milestone(
        self, visibility: Visibility, goal_id: str, title: str, weight: float, client: str | None
    ) -> WrittenGoal:
        """Add a milestone; from then on milestones determine the progress."""
        writing = Writing(self._rules, client)
        milestone = Milestone(
            id=new_id("milestone"),
            title=writing.text(title) or title,
            weight=weight,
            client=client,
            created_at=self._clock(),
        )
        goal = await self._store.add_milestone(
            visibility, goal_id, milestone, most=MAX_MILESTONES, allowance=writing.allowance
        )
        return WrittenGoal(_found(goal, goal_id), writing.masked)

    async def complete_milestone(
        self, visibility: Visibility, milestone_id: str, goal_id: str | None, client: str | None
    ) -> Goal:
        """Complete a milestone. The goal's status does not change; see `ready_to_complete`."""
        Writing(self._rules, client)
        goal = await self._store.complete_milestone(visibility, milestone_id, self._clock(), goal_id=goal_id)
        return _with_milestone(goal, milestone_id)

    async def delete_milestone(self, visibility: Visibility, milestone_id: str, goal_id: str | None) -> Goal:
        """Delete a milestone and return the goal."""
        goal = await self._store.delete_milestone(visibility, milestone_id, self._clock(), goal_id=goal_id)
        return _with_milestone(goal, milestone_id)


def _found(goal: Goal | None, goal_id: str) -> Goal:
    if goal is None:
        raise NotFound(
            f"goal {goal_id[:80]!r} not found in this project or globally",
            hint='use action "list" with include_finished to see all goals',
        )
    return goal


def _with_milestone(goal: Goal | None, milestone_id: str) -> Goal:
    if goal is None:
        raise NotFound(
            f"milestone {milestone_id[:80]!r} not found",
            hint='use action "get" to see the milestones of a goal',
        )
    return goal
