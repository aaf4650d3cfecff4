"""What a backend must offer to keep how the chat is to be."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from scrubjay.features.chat.persona_models import Layer


class PersonaStore(Protocol):
    """Keeps the layers of everybody who chats; nobody sees those of another."""

    async def layers(self, owner: str, places: Mapping[Layer, str]) -> Mapping[Layer, str]:
        """Those of these layers that there are."""
        ...

    async def put(self, owner: str, layer: Layer, place: str, content: str, at: datetime, *, most: int) -> None:
        """Keep one in the place of what was there. `QuotaExceeded` when an owner would have more than so many."""
        ...

    async def remove(self, owner: str, layer: Layer, place: str) -> bool:
        """Erase one; whether there was one."""
        ...
