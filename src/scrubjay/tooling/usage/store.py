"""What a backend must offer to keep how often tools are used."""

from collections.abc import Mapping
from typing import Protocol


class UsageStore(Protocol):
    """Keeps a count per tool."""

    async def add(self, calls: Mapping[str, int]) -> None:
        """Count these calls of tools on top of those counted before."""
        ...

    async def counts(self) -> Mapping[str, int]:
        """How often each tool was called, as far as it was kept."""
        ...
