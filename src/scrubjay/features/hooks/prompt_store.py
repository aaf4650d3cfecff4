"""Interface that a store backend implements for prompts that wait for their answer."""

from datetime import datetime
from typing import Protocol


class PromptStore(Protocol):
    """Stores the last prompt of each client until the agent has answered it."""

    async def put(self, client: str, prompt: str, asked_at: datetime) -> None:
        """Store the last prompt of a client, replacing an earlier one."""
        ...

    async def take(self, client: str) -> str | None:
        """Return the last prompt of a client and delete it; None if there is none."""
        ...

    async def delete_before(self, moment: datetime) -> None:
        """Delete the prompts that are older than `moment`."""
        ...
