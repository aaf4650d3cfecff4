"""Assemble the persona service of the chat."""

from scrubjay.core.write_rules import WritingRules
from scrubjay.features.chat.persona_models import BasePersona
from scrubjay.features.chat.persona_service import PersonaService
from scrubjay.features.chat.persona_store import PersonaStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def personas(services: Services) -> PersonaService:
    return PersonaService(
        await services.get(PersonaStore),
        await services.get(WritingRules),
        base=services.ready(BasePersona).text,
        clock=services.ready(Runtime).clock,
    )
