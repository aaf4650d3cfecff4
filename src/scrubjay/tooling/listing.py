"""The tools that a client is shown."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio

from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.registry import Registry, Toolset


class Listing:
    """A chosen part of the registry, most used first as of the first look, so that every client sees one order."""

    def __init__(
        self, registry: Registry, toolset: Toolset, uses: Callable[[], Awaitable[Mapping[str, int]]] | None = None
    ) -> None:
        self._wanted = toolset.checked(registry)  # a wrong spec is refused now, not at the first look
        self._registry = registry
        self._uses = uses
        self._counts: Mapping[str, int] | None = None
        self._tools: Sequence[Tool] = []
        self._revision: int | None = None
        self._looking = anyio.Lock()

    async def tools(self) -> Sequence[Tool]:
        async with self._looking:
            if self._counts is None:
                self._counts = await self._uses() if self._uses else {}
            if self._revision != self._registry.revision:
                self._tools = Toolset.chosen(self._wanted, self._registry, self._counts)
                self._revision = self._registry.revision
        return self._tools
