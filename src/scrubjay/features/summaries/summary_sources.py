"""Find the summaries that a memory may be quoted in."""

from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.derived import sources_of
from scrubjay.features.memory.erasure import DerivedFrom, all_of
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.summaries.models import KEY_PREFIXES, LEVEL_TAGS, Level


class SummarySources:
    """Satisfies `memory.erasure.DerivedFinder`."""

    def __init__(self, kept: MemoryStore) -> None:
        self._kept = kept

    async def made_of(self, memory: Memory, visibility: Visibility) -> DerivedFrom:
        """Return the summary of its session if it was made later, and the days and weeks made of erased summaries."""
        parts: list[str] = [memory.id] if memory.kind is Kind.SUMMARY else []
        if memory.kind is not Kind.SUMMARY and memory.session_id is not None:
            key = KEY_PREFIXES[Level.SESSION] + memory.session_id
            only = MemoryFilter(key=key, scope=memory.scope, kinds=(Kind.SUMMARY,))
            found = await self._kept.find(visibility, only, limit=1)
            parts = [summary.id for summary in found if summary.updated_at >= memory.recorded_at]
        for level in (Level.DAY, Level.WEEK):
            if parts:
                only = MemoryFilter(scope=memory.scope, kinds=(Kind.SUMMARY,), tags=(LEVEL_TAGS[level],))
                parts += [one.id async for one in all_of(self._kept, visibility, only) if sources_of(one) & {*parts}]
        return DerivedFrom([part for part in parts if part != memory.id])
