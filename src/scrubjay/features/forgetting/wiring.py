"""Assemble forgetting."""

from scrubjay.features.forgetting.service import Forgetter
from scrubjay.features.forgetting.settings import ForgettingSettings
from scrubjay.features.forgetting.store import ForgettingStore
from scrubjay.features.memory.store import MemoryStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def forgetter(services: Services) -> Forgetter:
    return Forgetter(
        await services.get(MemoryStore),
        await services.get(ForgettingStore),
        services.ready(ForgettingSettings).rules(),
        clock=services.ready(Runtime).clock,
    )
