"""How often memories are answers, gathered in memory and kept from time to time."""

import logging
from collections import Counter
from collections.abc import Iterable

import anyio

from scrubjay.core.clock import Clock
from scrubjay.core.errors import ScrubjayError
from scrubjay.features.memory.store import MemoryStore

logger = logging.getLogger("scrubjay.features.memory")

KEEP_SECONDS = 5.0
KEEP_AT_ONCE = 1_000


class Uses:
    """Counts answers without making any of them wait for the disk.

    What was counted last is lost when the process is killed: it is worth less than a write for each answer.
    """

    def __init__(self, store: MemoryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._unsaved: Counter[str] = Counter()
        self._some = anyio.Event()
        self._many = anyio.Event()

    def note(self, memory_ids: Iterable[str]) -> None:
        """Count each of these once more."""
        self._unsaved.update(memory_ids)
        if self._unsaved:
            self._some.set()
        if len(self._unsaved) >= KEEP_AT_ONCE:
            self._many.set()

    async def keep(self) -> None:
        """Go on for ever: a while after the first answer, or when there are many, write all of them."""
        while True:
            await self._some.wait()
            with anyio.move_on_after(KEEP_SECONDS):
                await self._many.wait()
            await self.flush()

    async def flush(self) -> None:
        """Write what was counted; what cannot be written is given up, and a warning says so."""
        taken, self._unsaved = self._unsaved, Counter()
        self._some, self._many = anyio.Event(), anyio.Event()
        if not taken:
            return
        try:
            await self._store.note_uses(taken, self._clock())
        except ScrubjayError as error:
            logger.warning("uses of memories could not be kept", extra={"problem": error.message})
