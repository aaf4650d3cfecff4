"""How the chat is to be: what the operator wants of all, and what whoever chats adds for a project or a session."""

from typing import Final

from scrubjay.core.callers import Caller
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.write_rules import Writing, WritingRules
from scrubjay.features.chat.persona_models import Layer, Persona
from scrubjay.features.chat.persona_store import PersonaStore

# As much as a language model can heed, of each layer.
MOST_CHARACTERS: Final = 8_000
MOST_LAYERS: Final = 1_000


class Personas:
    """The layers of everybody. What one adds, only they and those who share their key chat with."""

    def __init__(self, store: PersonaStore, rules: WritingRules, *, base: str, clock: Clock = system_clock) -> None:
        self._store = store
        self._rules = rules
        self._base = base
        self._clock = clock

    async def get(self, caller: Caller, project_id: str | None, session_id: str) -> Persona:
        places = {Layer.SESSION: session_id}
        if project_id is not None:
            places[Layer.PROJECT] = project_id
        layers = await self._store.layers(caller.owns_as, places)
        return Persona(base=self._base, project=layers.get(Layer.PROJECT), session=layers.get(Layer.SESSION))

    async def set(self, caller: Caller, layer: Layer, place: str, content: str | None, client: str | None) -> list[str]:
        """Keep a layer, or take it away when there is nothing in it; the kinds of secrets that were masked."""
        writing = Writing(self._rules, client)
        if not content or not content.strip():
            await self._store.remove(caller.owns_as, layer, place)
            return []
        text = writing.text(content.strip()) or ""
        await self._store.put(caller.owns_as, layer, place, text, self._clock(), most=MOST_LAYERS)
        return writing.masked
