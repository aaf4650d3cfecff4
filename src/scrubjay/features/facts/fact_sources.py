"""Find the extracted facts that a turn supports."""

from scrubjay.core.scopes import Visibility
from scrubjay.features.facts.service import FACT_KINDS
from scrubjay.features.memory.derived import changed, is_extracted, sources_of
from scrubjay.features.memory.erasure import DerivedFrom, all_of
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter, MemoryWrite
from scrubjay.features.memory.store import MemoryStore


class FactSources:
    """Satisfies `memory.erasure.DerivedFinder`."""

    def __init__(self, kept: MemoryStore) -> None:
        self._kept = kept

    async def made_of(self, memory: Memory, visibility: Visibility) -> DerivedFrom:
        """Return the facts that only this turn states, and the others without it as a source."""
        alone: list[str] = []
        restated: list[MemoryWrite] = []
        if memory.kind is not Kind.TURN or memory.session_id is None:
            return DerivedFrom(alone)
        # As of the moment it was said: a fact that replaced one since is another fact.
        moment = memory.occurred_at or memory.recorded_at
        only = MemoryFilter(scope=memory.scope, from_session=memory.session_id, kinds=FACT_KINDS, as_of=moment)
        async for fact in all_of(self._kept, visibility, only):
            if not is_extracted(fact) or memory.id not in sources_of(fact):
                continue
            others = [
                other
                for one in fact.provenance["from"]
                if one != memory.id and (other := await self._kept.get(visibility, one)) is not None
            ]
            if others:
                said = {**fact.provenance, "from": [other.id for other in others]}
                restated.append(changed(fact, provenance=said, session_id=others[0].session_id))
            else:
                alone.append(fact.id)
        return DerivedFrom(alone, restated)
