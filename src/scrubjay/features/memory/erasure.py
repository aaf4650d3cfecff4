"""Erasure of a memory together with the memories derived from it, which may quote it."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import Memory, MemoryFilter
from scrubjay.features.memory.service import MemoryService, unknown_memory
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.memory.writes import MemoryWrite

PAGE_SIZE: Final = 500


@dataclass(frozen=True, slots=True)
class ErasedMemory:
    """An erased memory."""

    memory: Memory
    derived: Sequence[str]
    """Ids of the derived memories erased with it: summaries that may quote it, facts that nothing else states."""


@dataclass(frozen=True, slots=True)
class DerivedMemories:
    """The memories derived from one that is to be erased."""

    erased: Sequence[str]
    """Ids of those without another source."""
    updates: Sequence[MemoryWrite] = ()
    """Writes that remove it from the sources of the others."""


class DerivedFinder(Protocol):
    """Finds the memories that a feature has derived from a memory."""

    async def find_derived(self, memory: Memory, visibility: Visibility) -> DerivedMemories: ...


class Eraser:
    """Erases memories on request, with the memories derived from them.

    Automatic forgetting does not use it: summaries and facts outlive the turns that they were made from.
    """

    def __init__(self, memories: MemoryService, kept: MemoryStore, finders: Sequence[DerivedFinder]) -> None:
        """Create an eraser. `finders` are called in this order."""
        self._memories = memories
        self._store = kept
        self._finders = finders

    async def forget(self, memory_id: str, visibility: Visibility) -> ErasedMemory:
        """Erase one memory by its id, with the memories derived from it, in one transaction."""
        memory = await self._memories.get(memory_id, visibility)
        erased = await self._store.delete(visibility, [memory.id, *await self._erase_derived(memory, visibility)])
        if not erased or erased[0].id != memory.id:
            raise unknown_memory(memory_id)
        # A memory derived during the deletion was not found above. Now none can be added, because its source is gone.
        if late := await self._erase_derived(memory, visibility):
            erased = [*erased, *await self._store.delete(visibility, late)]
        return ErasedMemory(erased[0], [one.id for one in erased[1:]])

    async def forget_key(self, key: str, visibility: Visibility, scope: Scope | None) -> ErasedMemory:
        """Erase the memory with this key. Raises `NotFound`, or `InvalidRequest` if several scopes use the key."""
        found = await self._store.find(visibility, MemoryFilter(key=key, scope=scope), limit=2)
        if len(found) == 1:
            return await self.forget(found[0].id, visibility)
        return ErasedMemory(await self._memories.forget_key(key, visibility, scope), [])  # raises the right error

    async def _erase_derived(self, memory: Memory, visibility: Visibility) -> list[str]:
        """Return the ids of derived memories to erase; update those that have other sources."""
        erased: list[str] = []
        for finder in self._finders:
            found = await finder.find_derived(memory, visibility)
            if found.updates:
                await self._store.put(found.updates)
            erased += found.erased
        return erased


async def iterate_memories(kept: MemoryStore, visibility: Visibility, only: MemoryFilter) -> AsyncIterator[Memory]:
    """Yield all memories that match the filter, newest first, reading page by page."""
    offset = 0
    while True:
        page = await kept.page(visibility, only, newest_first=True, limit=PAGE_SIZE, offset=offset)
        for memory in page.memories:
            yield memory
        offset += len(page.memories) + page.damaged
        if not page.memories or offset >= page.total:
            return
