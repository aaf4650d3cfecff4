"""What is to be summarised, in SQLite."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from scrubjay.core.scopes import Scope, Visibility
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import microseconds, optional_microseconds
from scrubjay.db.sqlite.threads import Readers
from scrubjay.features.summaries.models import KEY_PREFIXES, Level, PeriodToSummarise, SessionToSummarise

_SQL = load_queries(__file__)
# How SQLite writes the names of periods.
_FORMS = {Level.DAY: "%Y-%m-%d", Level.WEEK: "%G-W%V"}


class SqliteSummaries:
    """Satisfies `storage.summaries.SummaryStore`."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    async def sessions(
        self, visibility: Visibility | None, *, with_model: bool, settled_before: datetime | None = None
    ) -> Sequence[SessionToSummarise]:
        return await self._sessions(
            visibility, with_model=with_model, settled_before=optional_microseconds(settled_before), only=None
        )

    async def session(self, visibility: Visibility, session_id: str) -> Sequence[SessionToSummarise]:
        return await self._sessions(visibility, with_model=False, settled_before=None, only=session_id)

    async def periods(
        self, visibility: Visibility | None, level: Level, *, with_model: bool, before: datetime
    ) -> Sequence[PeriodToSummarise]:
        values = _seen_by(visibility) | {
            "with_model": with_model,
            "before": microseconds(before),
            "form": _FORMS[level],
            "part_level": level - 1,
            "prefix": KEY_PREFIXES[level],
        }
        return await self._readers.read(
            lambda connection: [
                PeriodToSummarise(Scope(scope), project_id, level, *rest)
                for scope, project_id, *rest in connection.execute(_SQL["periods"], values)
            ]
        )

    async def _sessions(self, visibility: Visibility | None, **wanted: Any) -> Sequence[SessionToSummarise]:
        values = _seen_by(visibility) | wanted | {"prefix": KEY_PREFIXES[Level.SESSION]}
        return await self._readers.read(
            lambda connection: [
                SessionToSummarise(Scope(scope), *rest) for scope, *rest in connection.execute(_SQL["sessions"], values)
            ]
        )


def _seen_by(visibility: Visibility | None) -> dict[str, Any]:
    seen = visibility or Visibility()
    return {"everything": visibility is None, "project_id": seen.project_id, "session_id": seen.session_id}
