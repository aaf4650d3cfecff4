"""Assemble memory: the service, its quota and write rules, correction, rebuilding and compaction."""

from functools import partial

from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.write_rules import WritingRules
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.memory.compaction import Compactor
from scrubjay.features.memory.corrections import MemoryCorrector
from scrubjay.features.memory.drafts import DraftLinker
from scrubjay.features.memory.link_review import LinkReviewer
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.rebuild import Rebuilder
from scrubjay.features.memory.secret_policy import guard, guard_data
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.settings import QuotaSettings
from scrubjay.features.memory.store import MemoryStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def quota(services: Services) -> Quota:
    chosen = services.ready(QuotaSettings)
    return Quota(memories_per_client=chosen.memories_per_client, writes_per_minute=chosen.writes_per_minute)


@WIRING.provides
async def memory_service(services: Services) -> MemoryService:
    runtime = services.ready(Runtime)
    service = MemoryService(
        await services.get(MemoryStore),
        await services.get(ModelRegistry),
        clock=runtime.clock,
        secrets=services.ready(SecretsPolicy),
        quota=await services.get(Quota),
        linker=await services.get(DraftLinker),
        link_reviewer=await services.get(LinkReviewer),
    )
    runtime.tasks.start_soon(service.uses.run)
    services.on_close(service.uses.flush)
    return service


@WIRING.provides
async def write_rules(services: Services) -> WritingRules:
    """Return the write rules of memories, which other features apply to what clients write."""
    secrets, own_quota = services.ready(SecretsPolicy), await services.get(Quota)
    return WritingRules(
        guard=partial(guard, policy=secrets),
        guard_data=partial(guard_data, policy=secrets),
        admit=own_quota.admit,
        allowance=own_quota.allowance,
    )


@WIRING.provides
async def corrections(services: Services) -> MemoryCorrector:
    return MemoryCorrector(await services.get(MemoryService))


@WIRING.provides
async def rebuilder(services: Services) -> Rebuilder:
    return Rebuilder(await services.get(MemoryStore), await services.get(MemoryService))


@WIRING.provides
async def compactor(services: Services) -> Compactor:
    return Compactor(await services.get(MemoryStore))
