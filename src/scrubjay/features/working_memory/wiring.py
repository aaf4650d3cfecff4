"""Assemble working memory, its consolidation and the thinking tools."""

from functools import partial

from scrubjay.core.policies import SecretsPolicy
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.working_memory.consolidation import Consolidator
from scrubjay.features.working_memory.service import WorkingMemory
from scrubjay.features.working_memory.settings import WorkingSettings
from scrubjay.features.working_memory.store import WorkingStore
from scrubjay.features.working_memory.thinking import ThinkingService
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def consolidator(services: Services) -> Consolidator:
    return Consolidator(
        await services.get(WorkingStore),
        partial(services.get, MemoryService),
        threshold=services.ready(WorkingSettings).threshold,
        clock=services.ready(Runtime).clock,
    )


@WIRING.provides
async def working_memory(services: Services) -> WorkingMemory:
    chosen = services.ready(WorkingSettings)
    return WorkingMemory(
        await services.get(WorkingStore),
        await services.get(Consolidator),
        capacity=chosen.capacity,
        ttl_seconds=chosen.ttl_seconds,
        secrets=services.ready(SecretsPolicy),
        clock=services.ready(Runtime).clock,
    )


@WIRING.provides
async def thinking(services: Services) -> ThinkingService:
    return ThinkingService(await services.get(WorkingMemory))
