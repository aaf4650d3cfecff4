"""Forgetting a memory together with what was made of it, so that its words do not live on there."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.facts.service import FACT_KINDS, changed, is_extracted
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter, MemoryWrite
from scrubjay.features.memory.service import MemoryService, unknown_memory
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.summaries.models import KEY_PREFIXES, LEVEL_TAGS, Level

AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was erased."""

    memory: Memory
    also: Sequence[str]
    """The ids of what was made of it: summaries that may quote it, facts that nothing else states."""


class Eraser:
    """Erases what somebody wants forgotten. What only fades leaves its summaries and facts: they are to outlive it."""

    def __init__(self, memories: MemoryService, kept: MemoryStore) -> None:
        self._memories = memories
        self._kept = kept

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
        """The ids of what is to go with it; facts that others state too are changed to say so, and stay."""
        facts, restated = await self._facts(memory, visibility)
        if restated:
            await self._kept.put(restated)
        return [*facts, *await self._summaries(memory, visibility)]

    async def _summaries(self, memory: Memory, visibility: Visibility) -> list[str]:
        """The summary of its session if it was made later, and the days and weeks that are made of what goes."""
        parts: list[str] = [memory.id] if memory.kind is Kind.SUMMARY else []
        if memory.kind is not Kind.SUMMARY and memory.session_id is not None:
            key = KEY_PREFIXES[Level.SESSION] + memory.session_id
            only = MemoryFilter(key=key, scope=memory.scope, kinds=(Kind.SUMMARY,))
            found = await self._kept.find(visibility, only, limit=1)
            parts = [summary.id for summary in found if summary.updated_at >= memory.recorded_at]
        for level in (Level.DAY, Level.WEEK):
            if parts:
                only = MemoryFilter(scope=memory.scope, kinds=(Kind.SUMMARY,), tags=(LEVEL_TAGS[level],))
                parts += [one.id async for one in self._all(visibility, only) if _sources(one) & {*parts}]
        return [part for part in parts if part != memory.id]

    async def _facts(self, turn: Memory, visibility: Visibility) -> tuple[list[str], list[MemoryWrite]]:
        """Facts that only this turn states, and the others as those state them that stay."""
        alone: list[str] = []
        restated: list[MemoryWrite] = []
        if turn.kind is not Kind.TURN or turn.session_id is None:
            return alone, restated
        # As of the moment it was said: what took its place since is another fact.
        moment = turn.occurred_at or turn.recorded_at
        only = MemoryFilter(scope=turn.scope, from_session=turn.session_id, kinds=FACT_KINDS, as_of=moment)
        async for fact in self._all(visibility, only):
            if not is_extracted(fact) or turn.id not in _sources(fact):
                continue
            others = [
                other
                for one in fact.provenance["from"]
                if one != turn.id and (other := await self._kept.get(visibility, one)) is not None
            ]
            if others:
                said = {**fact.provenance, "from": [other.id for other in others]}
                restated.append(changed(fact, provenance=said, session_id=others[0].session_id))
            else:
                alone.append(fact.id)
        return alone, restated

    async def _all(self, visibility: Visibility, only: MemoryFilter) -> AsyncIterator[Memory]:
        offset = 0
        while True:
            page = await self._kept.page(visibility, only, newest_first=True, limit=AT_ONCE, offset=offset)
            for memory in page.memories:
                yield memory
            offset += len(page.memories)
            if not page.memories or offset >= page.total:
                return


def _sources(memory: Memory) -> set[str]:
    return {*memory.provenance.get("from", ())}
