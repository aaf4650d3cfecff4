"""Schedule the full relink that follows incremental links, once an index has been quiet for a while."""

import logging
from dataclasses import dataclass, field

import anyio

from scrubjay.code_index.index.indexer import Indexer
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.progress import SilentReporter

logger = logging.getLogger("scrubjay.code_index")

QUIET_SECONDS = 20.0
"""Seconds without changes before the relink starts: during editing, the next change is seconds away."""


@dataclass
class FullRelinkScheduler:
    """Track the indexes this process linked incrementally, and relink each one when it is quiet."""

    indexer: Indexer
    minimum_interval: float = QUIET_SECONDS
    _linked_at: dict[str, float] = field(default_factory=dict[str, float])
    _wake: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        self.indexer.on_incremental_link = self.note

    def note(self, index_id: str) -> None:
        """Record that an index was just linked incrementally."""
        self._linked_at[index_id] = anyio.current_time()
        self._wake.set()

    async def run(self) -> None:
        """Relink the recorded indexes as they become quiet; never returns."""
        while True:
            if not self._linked_at:
                self._wake = anyio.Event()
                await self._wake.wait()
            index_id, at = min(self._linked_at.items(), key=lambda one: one[1])
            await anyio.sleep_until(at + self.minimum_interval)
            if self._linked_at.get(index_id) != at:
                continue  # it changed again during the wait
            del self._linked_at[index_id]
            try:
                await self.indexer.relink(index_id, SilentReporter())
            except ScrubjayError as error:
                logger.warning("full relink failed", extra={"index": index_id, "problem": error.message})
