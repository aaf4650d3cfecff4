"""The tools that `tools/list` shows."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio

from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.registry import Registry, Toolset


class Listing:
    """The selected tools, most used first; fixed at the first listing, so that all clients see one order."""

    def __init__(
        self, registry: Registry, toolset: Toolset, uses: Callable[[], Awaitable[Mapping[str, int]]] | None = None
    ) -> None:
        self._wanted = toolset.checked(registry)  # reject a wrong spec now, not at the first listing
        self._registry = registry
        self._uses = uses
        self._counts: Mapping[str, int] | None = None
        self._tools: Sequence[Tool] = []
        self._revision: int | None = None
        self._lock = anyio.Lock()

    async def tools(self) -> Sequence[Tool]:
        async with self._lock:
            if self._counts is None:
                self._counts = await self._uses() if self._uses else {}
            if self._revision != self._registry.revision:
                self._tools = Toolset.chosen(self._wanted, self._registry, self._counts)
                self._revision = self._registry.revision
        return self._tools
