"""The tools that a client is shown."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio

from recollect.toolkit.declaration import Tool
from recollect.toolkit.registry import Registry, Toolset


class Listing:
    """A chosen part of the registry, most used first. Fixed at the first look, so that every client sees one order."""

    def __init__(
        self, registry: Registry, toolset: Toolset, uses: Callable[[], Awaitable[Mapping[str, int]]] | None = None
    ) -> None:
        toolset.checked(registry)  # a wrong spec is refused now, not at the first look
        self._registry = registry
        self._toolset = toolset
        self._uses = uses
        self._tools: Sequence[Tool] | None = None
        self._looking = anyio.Lock()

    async def tools(self) -> Sequence[Tool]:
        async with self._looking:
            if self._tools is None:
                uses: Mapping[str, int] = await self._uses() if self._uses else {}
                self._tools = self._toolset.select(self._registry, uses)
        return self._tools
