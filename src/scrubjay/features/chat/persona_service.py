"""Read and change personas: the operator's base, and the layers that callers add for a project or a session."""

from typing import Final

from scrubjay.core.callers import Caller
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.write_rules import Writing, WritingRules
from scrubjay.features.chat.persona_models import Persona, PersonaLayer
from scrubjay.features.chat.persona_store import PersonaStore

# Longer instructions are poorly followed by language models.
MAX_LAYER_CHARACTERS: Final = 8_000
MAX_LAYERS: Final = 1_000


class PersonaService:
    """Manages persona layers. A layer applies only to chats of the caller, or of callers that share the key."""

    def __init__(self, store: PersonaStore, rules: WritingRules, *, base: str, clock: Clock = system_clock) -> None:
        self._store = store
        self._rules = rules
        self._base = base
        self._clock = clock

    async def get(self, caller: Caller, project_id: str | None, session_id: str) -> Persona:
        scope_ids = {PersonaLayer.SESSION: session_id}
        if project_id is not None:
            scope_ids[PersonaLayer.PROJECT] = project_id
        layers = await self._store.layers(caller.owner_id, scope_ids)
        return Persona(
            base=self._base, project=layers.get(PersonaLayer.PROJECT), session=layers.get(PersonaLayer.SESSION)
        )

    async def set(
        self, caller: Caller, layer: PersonaLayer, scope_id: str, content: str | None, client: str | None
    ) -> list[str]:
        """Store a layer, or remove it when `content` is empty; return the kinds of secrets that were masked."""
        writing = Writing(self._rules, client)
        if not content or not content.strip():
            await self._store.remove(caller.owner_id, layer, scope_id)
            return []
        text = writing.text(content.strip()) or ""
        await self._store.put(caller.owner_id, layer, scope_id, text, self._clock(), max_layers=MAX_LAYERS)
        return writing.masked
