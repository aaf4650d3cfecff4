"""SQLite queries for sessions and periods without an up-to-date summary."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from scrubjay.core.scopes import Scope, Visibility
from scrubjay.db.sqlite.columns import microseconds, moment, optional_microseconds
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers
from scrubjay.features.summaries.models import KEY_PREFIXES, Level, PendingPeriod, PendingSession

_SQL = load_queries(__file__)
# Number of latest memories in which `latest` looks for turns.
LATEST_MEMORIES = 5_000
# Names of periods as formats of strftime.
_FORMS = {Level.DAY: "%Y-%m-%d", Level.WEEK: "%G-W%V"}


class SqliteSummaries:
    """A `SummaryStore` in SQLite."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    async def sessions(
        self, visibility: Visibility | None, *, with_model: bool, ended_before: datetime | None = None
    ) -> Sequence[PendingSession]:
        return await self._sessions(
            visibility, with_model=with_model, ended_before=optional_microseconds(ended_before), only=None
        )

    async def session(self, visibility: Visibility, session_id: str) -> Sequence[PendingSession]:
        return await self._sessions(visibility, with_model=False, ended_before=None, only=session_id)

    async def latest(self, project_id: str | None, limit: int) -> Sequence[tuple[str, datetime]]:
        values = {"project_id": project_id, "session_id": None, "memories": LATEST_MEMORIES, "limit": limit}
        return await self._readers.read(
            lambda connection: [
                (session_id, moment(last_at)) for session_id, last_at in connection.execute(_SQL["latest"], values)
            ]
        )

    async def periods(
        self, visibility: Visibility | None, level: Level, *, with_model: bool, before: datetime
    ) -> Sequence[PendingPeriod]:
        values = _visibility_values(visibility) | {
            "with_model": with_model,
            "before": microseconds(before),
            "form": _FORMS[level],
            "part_level": level - 1,
            "prefix": KEY_PREFIXES[level],
        }
        return await self._readers.read(
            lambda connection: [
                PendingPeriod(Scope(scope), project_id, level, *rest)
                for scope, project_id, *rest in connection.execute(_SQL["periods"], values)
            ]
        )

    async def _sessions(self, visibility: Visibility | None, **values: Any) -> Sequence[PendingSession]:
        values |= _visibility_values(visibility) | {"prefix": KEY_PREFIXES[Level.SESSION]}
        return await self._readers.read(
            lambda connection: [
                PendingSession(Scope(scope), *rest) for scope, *rest in connection.execute(_SQL["sessions"], values)
            ]
        )


def _visibility_values(visibility: Visibility | None) -> dict[str, Any]:
    visible = visibility or Visibility()
    return {"everything": visibility is None, "project_id": visible.project_id, "session_id": visible.session_id}
