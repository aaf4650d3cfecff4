"""Goals and their milestones in SQLite."""

from datetime import datetime

from scrubjay.core.errors import QuotaExceeded
from scrubjay.core.policies import StorageQuota
from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.columns import microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.projects.rows import require_project
from scrubjay.features.tasks.models import (
    Goal,
    GoalChange,
    GoalFilter,
    GoalPage,
    Milestone,
    PagePosition,
)
from scrubjay.features.tasks.rows import (
    GOAL_RANKS,
    goal_values,
    goals_from,
    milestone_values,
    page_values,
    refuse_plans_beyond,
)

_SQL = load_queries(__file__, "goal_queries")


class SqliteGoals:
    """Implements `GoalStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def add(self, goal: Goal, allowance: StorageQuota | None = None) -> Goal:
        def work(connection: Connection) -> Goal:
            require_project(connection, goal.project_id)
            connection.execute(_SQL["add"], goal_values(goal))
            refuse_plans_beyond(connection, allowance)
            return goal

        return await self._writer.write(work)

    async def get(self, visibility: Visibility, goal_id: str) -> Goal | None:
        found = await self._readers.read(lambda connection: _goal(connection, visibility, goal_id))
        return found[1] if found else None

    async def page(
        self, visibility: Visibility, only: GoalFilter, limit: int, after: PagePosition | None = None, offset: int = 0
    ) -> GoalPage:
        values = {
            "project": visibility.project_id,
            "status": only.status,
            "rank": None if only.priority is None else GOAL_RANKS.index(only.priority),
            "all": only.with_finished,
        }

        def work(connection: Connection) -> GoalPage:
            found = goals_from(connection, connection.execute(_SQL["page"], values | page_values(after, limit, offset)))
            last = (
                PagePosition(GOAL_RANKS.index(found[limit - 1][1].priority), found[limit - 1][0])
                if found[limit:]
                else None
            )
            return GoalPage([goal for _, goal in found[:limit]], connection.value(_SQL["count"], values), last)

        return await self._readers.read(work)

    async def change(self, visibility: Visibility, goal_id: str, change: GoalChange, at: datetime) -> Goal | None:
        def work(connection: Connection) -> Goal | None:
            if (found := _goal(connection, visibility, goal_id)) is None:
                return None
            seq, goal = found
            changed = change.of(goal, at)
            connection.execute(_SQL["change"], goal_values(changed) | {"seq": seq})
            return changed

        return await self._writer.write(work)

    async def delete(self, visibility: Visibility, goal_id: str) -> Goal | None:
        def work(connection: Connection) -> Goal | None:
            if (found := _goal(connection, visibility, goal_id)) is None:
                return None
            seq, goal = found
            connection.execute(_SQL["erase"], {"seq": seq})
            return goal

        return await self._writer.erase(work)

    async def add_milestone(
        self,
        visibility: Visibility,
        goal_id: str,
        milestone: Milestone,
        *,
        most: int,
        allowance: StorageQuota | None = None,
    ) -> Goal | None:
        def work(connection: Connection) -> Goal | None:
            if (found := _goal(connection, visibility, goal_id)) is None:
                return None
            seq, goal = found
            if len(goal.milestones) >= most:
                raise QuotaExceeded(
                    f"{goal.id} already has {most} milestones", hint="create another goal for further milestones"
                )
            connection.execute(_SQL["add_milestone"], milestone_values(milestone) | {"goal_seq": seq})
            connection.execute(_SQL["touch"], {"seq": seq, "at": microseconds(milestone.created_at)})
            refuse_plans_beyond(connection, allowance)
            return _reload(connection, visibility, goal)

        return await self._writer.write(work)

    async def complete_milestone(
        self, visibility: Visibility, milestone_id: str, at: datetime, *, goal_id: str | None = None
    ) -> Goal | None:
        return await self._writer.write(
            lambda connection: _change_milestone(
                connection, _SQL["complete_milestone"], visibility, milestone_id, at, goal_id=goal_id
            )
        )

    async def delete_milestone(
        self, visibility: Visibility, milestone_id: str, at: datetime, *, goal_id: str | None = None
    ) -> Goal | None:
        return await self._writer.erase(
            lambda connection: _change_milestone(
                connection, _SQL["erase_milestone"], visibility, milestone_id, at, goal_id=goal_id
            )
        )


def _goal(connection: Connection, visibility: Visibility, goal_id: str) -> tuple[int, Goal] | None:
    values = {"id": goal_id, "project": visibility.project_id}
    found = goals_from(connection, connection.execute(_SQL["get"], values))
    return found[0] if found else None


def _reload(connection: Connection, visibility: Visibility, goal: Goal) -> Goal:
    """Read the goal again after a change."""
    found = _goal(connection, visibility, goal.id)
    return found[1] if found else goal


def _change_milestone(
    connection: Connection, query: str, visibility: Visibility, milestone_id: str, at: datetime, *, goal_id: str | None
) -> Goal | None:
    values = {"milestone": milestone_id, "id": goal_id, "project": visibility.project_id}
    found = goals_from(connection, connection.execute(_SQL["of_milestone"], values))
    if not found:
        return None
    ((seq, goal),) = found
    connection.execute(query, {"milestone": milestone_id, "at": microseconds(at)})
    connection.execute(_SQL["touch"], {"seq": seq, "at": microseconds(at)})
    return _reload(connection, visibility, goal)
