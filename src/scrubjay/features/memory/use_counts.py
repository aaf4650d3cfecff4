"""Counts of how often each memory was recalled, buffered in memory and written periodically."""

import logging
from collections import Counter
from collections.abc import Iterable

import anyio

from scrubjay.core.clock import Clock
from scrubjay.core.errors import ScrubjayError
from scrubjay.features.memory.store import MemoryStore

logger = logging.getLogger("scrubjay.features.memory")

FLUSH_SECONDS = 5.0
FLUSH_COUNT = 1_000


class UseCounter:
    """Counts recalls without a disk write for each of them.

    The counts of the last seconds are lost if the process is killed.
    """

    def __init__(self, store: MemoryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._unsaved: Counter[str] = Counter()
        self._any_pending = anyio.Event()
        self._many_pending = anyio.Event()

    def count(self, memory_ids: Iterable[str]) -> None:
        """Add one use to each of these memories."""
        self._unsaved.update(memory_ids)
        if self._unsaved:
            self._any_pending.set()
        if len(self._unsaved) >= FLUSH_COUNT:
            self._many_pending.set()

    async def run(self) -> None:
        """Write pending counts after FLUSH_SECONDS, or when FLUSH_COUNT memories are pending, in an endless loop."""
        while True:
            await self._any_pending.wait()
            with anyio.move_on_after(FLUSH_SECONDS):
                await self._many_pending.wait()
            await self.flush()

    async def flush(self) -> None:
        """Write the pending counts; if that fails, log a warning and drop them."""
        pending, self._unsaved = self._unsaved, Counter()
        self._any_pending, self._many_pending = anyio.Event(), anyio.Event()
        if not pending:
            return
        try:
            await self._store.add_uses(pending, self._clock())
        except ScrubjayError as error:
            logger.warning("use counts were not stored", extra={"problem": error.message})
