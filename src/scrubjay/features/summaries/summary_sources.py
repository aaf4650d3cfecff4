"""Search for the summaries that may quote a memory."""

from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.derived import get_source_ids
from scrubjay.features.memory.erasure import DerivedMemories, iterate_memories
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.summaries.models import KEY_PREFIXES, LEVEL_TAGS, Level


class DerivedSummaryFinder:
    """A `memory.erasure.DerivedFinder` for summaries."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def find_derived(self, memory: Memory, visibility: Visibility) -> DerivedMemories:
        """Return the summary of its session, if made later, and those of days and weeks made from erased summaries."""
        parts: list[str] = [memory.id] if memory.kind is MemoryKind.SUMMARY else []
        if memory.kind is not MemoryKind.SUMMARY and memory.session_id is not None:
            key = KEY_PREFIXES[Level.SESSION] + memory.session_id
            of_session = MemoryFilter(key=key, scope=memory.scope, kinds=(MemoryKind.SUMMARY,))
            found = await self._store.find(visibility, of_session, limit=1)
            parts = [summary.id for summary in found if summary.updated_at >= memory.recorded_at]
        for level in (Level.DAY, Level.WEEK):
            if parts:
                of_level = MemoryFilter(scope=memory.scope, kinds=(MemoryKind.SUMMARY,), tags=(LEVEL_TAGS[level],))
                parts += [
                    one.id
                    async for one in iterate_memories(self._store, visibility, of_level)
                    if get_source_ids(one) & {*parts}
                ]
        return DerivedMemories([part for part in parts if part != memory.id])
