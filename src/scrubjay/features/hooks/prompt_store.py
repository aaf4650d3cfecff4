"""What a backend must offer to keep what agents were asked until they have answered."""

from datetime import datetime
from typing import Protocol


class PromptStore(Protocol):
    """Keeps the last prompt of each client."""

    async def put(self, client: str, prompt: str, asked_at: datetime) -> None:
        """From now on this is what the client was asked last."""
        ...

    async def take(self, client: str) -> str | None:
        """What the client was asked last, once: it is no longer kept then."""
        ...

    async def forget_before(self, moment: datetime) -> None:
        """Let go of what was asked before and never answered."""
        ...
