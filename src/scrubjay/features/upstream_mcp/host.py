"""The upstream MCP servers of one process; their code is imported only if some are configured or requested."""

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrubjay.core.lazy import lazy_module
from scrubjay.features.upstream_mcp.paths import skills_configured
from scrubjay.features.upstream_mcp.settings import SkillSettings
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services

if TYPE_CHECKING:
    from scrubjay.features.upstream_mcp import service, wiring
else:
    wiring = lazy_module("scrubjay.features.upstream_mcp.wiring")


class SkillHost:
    """Holds the upstream servers and the subscribers to changes of their tools."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._has_started_listing = False
        self.subscribers: set[Callable[[], Coroutine[Any, Any, None]]] = set()

    @cached_property
    def skills(self) -> "service.Skills":
        """The upstream servers; each is started on first use."""
        return wiring.make_skills(self._services)

    def announce(self) -> None:
        """Publish the known tools of configured servers."""
        if self._are_configured:
            self.skills.announce()

    def discover_tools(self) -> None:
        """List the tools of servers whose tools are unknown, in the background; only the first call has an effect."""
        if not self._has_started_listing and self._are_configured:
            self._has_started_listing = True
            self._services.ready(Runtime).tasks.start_soon(self.skills.discover_tools)

    @property
    def _are_configured(self) -> bool:
        return skills_configured(self._services.ready(Runtime).home / self._services.ready(SkillSettings).file)
