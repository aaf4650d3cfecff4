"""Goals: what is to be reached, and the milestones on the way."""

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
    GoalFilter,
    GoalPage,
    GoalPriority,
    GoalStatus,
    Milestone,
    Place,
)

# All of them come with their goal, so there are as many as can be taken in.
MOST_MILESTONES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGoal:
    """What somebody wants to reach."""

    title: str
    description: str | None = None
    status: GoalStatus = GoalStatus.PLANNING
    priority: GoalPriority = GoalPriority.MEDIUM
    success_criteria: str | None = None
    given_progress: float = 0.0


@dataclass(frozen=True, slots=True)
class WrittenGoal:
    """A goal as it was written."""

    goal: Goal
    masked: Sequence[str]
    """The kinds of the secrets that a mark stands for now."""


class GoalService:
    """The goals of one store."""

    def __init__(self, store: GoalStore, rules: WritingRules, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._rules = rules
        self._clock = clock

    async def create(self, new: NewGoal, project_id: str | None, client: str | None) -> WrittenGoal:
        """Keep a goal of this project, or of none."""
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
        self, visibility: Visibility, only: GoalFilter, limit: int, after: Place | None = None, offset: int = 0
    ) -> GoalPage:
        """The most important first, then the oldest."""
        return await self._store.page(visibility, only, limit, after, offset)

    async def change(self, visibility: Visibility, goal_id: str, change: GoalChange, client: str | None) -> WrittenGoal:
        """Change what is named in it. `Conflict` when progress is given, and milestones say what it is."""
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
        """Erase a goal with its milestones."""
        return _found(await self._store.delete(visibility, goal_id), goal_id)

    async def add_milestone(
        self, visibility: Visibility, goal_id: str, title: str, weight: float, client: str | None
    ) -> WrittenGoal:
        """One more milestone on the way to a goal, which from now on say how far it is."""
        writing = Writing(self._rules, client)
        milestone = Milestone(
            id=new_id("milestone"),
            title=writing.text(title) or title,
            weight=weight,
            client=client,
            created_at=self._clock(),
        )
        goal = await self._store.add_milestone(
            visibility, goal_id, milestone, most=MOST_MILESTONES, allowance=writing.allowance
        )
        return WrittenGoal(_found(goal, goal_id), writing.masked)

    async def complete_milestone(
        self, visibility: Visibility, milestone_id: str, goal_id: str | None, client: str | None
    ) -> Goal:
        """A milestone was reached. The goal stays as it is; whether all are reached, it tells itself."""
        Writing(self._rules, client)
        goal = await self._store.complete_milestone(visibility, milestone_id, self._clock(), goal_id=goal_id)
        return _with_milestone(goal, milestone_id)

    async def delete_milestone(self, visibility: Visibility, milestone_id: str, goal_id: str | None) -> Goal:
        """Erase a milestone; the goal without it."""
        goal = await self._store.delete_milestone(visibility, milestone_id, self._clock(), goal_id=goal_id)
        return _with_milestone(goal, milestone_id)


def _found(goal: Goal | None, goal_id: str) -> Goal:
    if goal is None:
        raise NotFound(
            f"there is no goal {goal_id[:80]!r} of this project, nor a global one",
            hint='action "list" shows those there are; include_finished shows all',
        )
    return goal


def _with_milestone(goal: Goal | None, milestone_id: str) -> Goal:
    if goal is None:
        raise NotFound(
            f"there is no milestone {milestone_id[:80]!r} of a goal here",
            hint='action "get" shows the milestones of a goal',
        )
    return goal
