"""Assemble discussions between agents."""

from scrubjay.core.write_rules import WritingRules
from scrubjay.features.delegation.coding_agent import CodingAgent
from scrubjay.features.delegation.events import AgentEvents
from scrubjay.features.discussions.service import DiscussionService
from scrubjay.features.discussions.store import DiscussionStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def discussions(services: Services) -> DiscussionService:
    runtime = services.ready(Runtime)
    return DiscussionService(
        await services.get(DiscussionStore),
        await services.get(CodingAgent),
        await services.get(AgentEvents),
        await services.get(WritingRules),
        home=str(runtime.home),
        clock=runtime.clock,
    )
