"""What a backend must offer to find out what is to be summarised."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.summaries.models import Level, PeriodToSummarise, SessionToSummarise


class SummaryStore(Protocol):
    """Compares turns with the summaries of them that are kept as memories. Nothing is read into memory for that.

    A visibility of None means everything, for maintenance only. What was summarised by rules because a language model
    could not be had for the moment is found again `with_model`.
    """

    async def sessions(
        self, visibility: Visibility | None, *, with_model: bool, settled_before: datetime | None = None
    ) -> Sequence[SessionToSummarise]:
        """Sessions that have turns but no summary, or turns that are not in it; the one that ended first before others.

        With `settled_before` only those of which nothing was kept since then.
        """
        ...

    async def session(self, visibility: Visibility, session_id: str) -> Sequence[SessionToSummarise]:
        """This session, if it has turns that can be seen; once for each scope in which it has some."""
        ...

    async def periods(
        self, visibility: Visibility | None, level: Level, *, with_model: bool, before: datetime
    ) -> Sequence[PeriodToSummarise]:
        """Days or weeks before that moment whose parts have summaries but that have none, or one of other parts.

        What is private to a session is part of none. Earliest first.
        """
        ...
