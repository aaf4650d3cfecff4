"""Forgetting a memory together with what was made of it, so that its words do not live on there."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryWrite
from scrubjay.features.memory.service import MemoryService, unknown_memory
from scrubjay.features.memory.store import MemoryStore

AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was erased."""

    memory: Memory
    also: Sequence[str]
    """The ids of what was made of it: summaries that may quote it, facts that nothing else states."""


@dataclass(frozen=True, slots=True)
class DerivedFrom:
    """The memories that were made of one that is to be erased."""

    erased: Sequence[str]
    """Ids of those that have no other source."""
    restated: Sequence[MemoryWrite] = ()
    """Writes that take it out of the sources of the others."""


class DerivedFinder(Protocol):
    """Finds the memories that a feature has made of other memories."""

    async def made_of(self, memory: Memory, visibility: Visibility) -> DerivedFrom: ...


class Eraser:
    """Erases what somebody wants forgotten. What only fades leaves its summaries and facts: they are to outlive it."""

    def __init__(self, memories: MemoryService, kept: MemoryStore, finders: Sequence[DerivedFinder]) -> None:
        """`finders` are asked in this order."""
        self._memories = memories
        self._kept = kept
        self._finders = finders

    async def forget(self, memory_id: str, visibility: Visibility) -> Forgotten:
        """Erase one memory by its id, and in the same step what was made of it."""
        memory = await self._memories.get(memory_id, visibility)
        erased = await self._kept.delete(visibility, [memory.id, *await self._made_of(memory, visibility)])
        if not erased or erased[0].id != memory.id:
            raise unknown_memory(memory_id)
        # What was kept just before it went was not seen above; now that it is gone, nothing more is made of it.
        if late := await self._made_of(memory, visibility):
            erased = [*erased, *await self._kept.delete(visibility, late)]
        return Forgotten(erased[0], [one.id for one in erased[1:]])

    async def forget_key(self, key: str, visibility: Visibility, scope: Scope | None) -> Forgotten:
        """The same for the one memory under this key."""
        found = await self._kept.find(visibility, MemoryFilter(key=key, scope=scope), limit=2)
        if len(found) == 1:
            return await self.forget(found[0].id, visibility)
        return Forgotten(await self._memories.forget_key(key, visibility, scope), [])  # which says why it cannot

    async def _made_of(self, memory: Memory, visibility: Visibility) -> list[str]:
        """Return the ids of memories to erase with it; write those again that others also support."""
        erased: list[str] = []
        for finder in self._finders:
            found = await finder.made_of(memory, visibility)
            if found.restated:
                await self._kept.put(found.restated)
            erased += found.erased
        return erased


async def all_of(kept: MemoryStore, visibility: Visibility, only: MemoryFilter) -> AsyncIterator[Memory]:
    """Yield every memory that the filter lets through, newest first, read page by page."""
    offset = 0
    while True:
        page = await kept.page(visibility, only, newest_first=True, limit=AT_ONCE, offset=offset)
        for memory in page.memories:
            yield memory
        offset += len(page.memories)
        if not page.memories or offset >= page.total:
            return
