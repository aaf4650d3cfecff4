"""Storage interface to find sessions and periods that need a summary."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.summaries.models import Level, PendingPeriod, PendingSession


class SummaryStore(Protocol):
    """Compares turns with the stored summaries, inside the database.

    A visibility of None means everything, for maintenance only. `with_model` also returns those that were summarised by
    rules because the language model was temporarily unavailable.
    """

    async def sessions(
        self, visibility: Visibility | None, *, with_model: bool, ended_before: datetime | None = None
    ) -> Sequence[PendingSession]:
        """Return sessions without an up-to-date summary, first ended first.

        With `ended_before`, only sessions whose last turn was stored before that time.
        """
        ...

    async def session(self, visibility: Visibility, session_id: str) -> Sequence[PendingSession]:
        """Return this session once for each scope in which it has visible turns."""
        ...

    async def latest(self, project_id: str | None, limit: int) -> Sequence[tuple[str, datetime]]:
        """Return the sessions of this project, or of none, with recent turns, and the time of the last one.

        Most recent first, without private turns. Only the latest memories of the store are searched, so that the cost
        does not grow with the store.
        """
        ...

    async def periods(
        self, visibility: Visibility | None, level: Level, *, with_model: bool, before: datetime
    ) -> Sequence[PendingPeriod]:
        """Return days or weeks before this time that have summarised parts but no up-to-date summary, earliest first.

        Summaries that are private to a session are not parts of a period.
        """
        ...
