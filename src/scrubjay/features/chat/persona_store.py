"""Storage interface of persona layers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from scrubjay.features.chat.persona_models import PersonaLayer


class PersonaStore(Protocol):
    """Stores persona layers by owner."""

    async def layers(self, owner: str, scope_ids: Mapping[PersonaLayer, str]) -> Mapping[PersonaLayer, str]:
        """Return the stored contents of these layers; `scope_ids` has the session id and the project id."""
        ...

    async def put(
        self, owner: str, layer: PersonaLayer, scope_id: str, content: str, at: datetime, *, max_layers: int
    ) -> None:
        """Store a layer, replacing the previous content. `QuotaExceeded` above `max_layers` of this owner."""
        ...

    async def remove(self, owner: str, layer: PersonaLayer, scope_id: str) -> bool:
        """Erase a layer; return False when there was none."""
        ...
