"""Storage protocol for tool usage counts."""

from collections.abc import Mapping
from typing import Protocol


class UsageStore(Protocol):
    """Stores a call count per tool."""

    async def add(self, calls: Mapping[str, int]) -> None:
        """Add these counts to the stored ones."""
        ...

    async def counts(self) -> Mapping[str, int]:
        """Return the stored count per tool."""
        ...
