"""Resolving all uses of an index together again, when nothing in it has changed for a while."""

import logging
from dataclasses import dataclass, field

import anyio

from scrubjay.code_index.index.indexer import Indexer
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.progress import SilentReporter

logger = logging.getLogger("scrubjay.code_index")

QUIET_SECONDS = 20.0
"""So long nothing must have changed: while somebody writes, the next change is seconds away."""


@dataclass
class Settling:
    """Knows which indexes were mended by this process, and settles each when it is time."""

    indexer: Indexer
    quiet_seconds: float = QUIET_SECONDS
    _mended_at: dict[str, float] = field(default_factory=dict[str, float])
    _mended: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        self.indexer.when_mended = self.note

    def note(self, index_id: str) -> None:
        """An index was mended just now."""
        self._mended_at[index_id] = anyio.current_time()
        self._mended.set()

    async def keep(self) -> None:
        """Settle whatever is mended, for ever."""
        while True:
            if not self._mended_at:
                self._mended = anyio.Event()
                await self._mended.wait()
            index_id, at = min(self._mended_at.items(), key=lambda one: one[1])
            await anyio.sleep_until(at + self.quiet_seconds)
            if self._mended_at.get(index_id) != at:
                continue  # it was mended again meanwhile
            del self._mended_at[index_id]
            try:
                await self.indexer.settle(index_id, SilentReporter())
            except ScrubjayError as error:
                logger.warning("an index was not settled", extra={"index": index_id, "problem": error.message})
