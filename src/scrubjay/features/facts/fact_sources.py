"""Search for the extracted facts that a turn supports."""

from scrubjay.core.scopes import Visibility
from scrubjay.features.facts.service import FACT_KINDS
from scrubjay.features.memory.derived import get_source_ids, is_extracted, update_fields
from scrubjay.features.memory.erasure import DerivedMemories, iterate_memories
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.memory.writes import MemoryWrite


class DerivedFactFinder:
    """A `memory.erasure.DerivedFinder` for extracted facts."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def find_derived(self, memory: Memory, visibility: Visibility) -> DerivedMemories:
        """Return the facts that only this turn states, and updates that remove it from the sources of the others."""
        unsupported: list[str] = []
        updates: list[MemoryWrite] = []
        if memory.kind is not MemoryKind.TURN or memory.session_id is None:
            return DerivedMemories(unsupported)
        # As of the time of the turn: facts that superseded one later have other sources.
        moment = memory.occurred_at or memory.recorded_at
        facts = MemoryFilter(scope=memory.scope, from_session=memory.session_id, kinds=FACT_KINDS, as_of=moment)
        async for fact in iterate_memories(self._store, visibility, facts):
            if not is_extracted(fact) or memory.id not in get_source_ids(fact):
                continue
            others = [
                other
                for one in fact.provenance["from"]
                if one != memory.id and (other := await self._store.get(visibility, one)) is not None
            ]
            if others:
                provenance = {**fact.provenance, "from": [other.id for other in others]}
                updates.append(update_fields(fact, provenance=provenance, session_id=others[0].session_id))
            else:
                unsupported.append(fact.id)
        return DerivedMemories(unsupported, updates)
