"""Assemble the upstream MCP servers whose tools are offered next to our own."""

import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from scrubjay.core.error_location import error_fields
from scrubjay.features.upstream_mcp.catalog import RefusedSkill
from scrubjay.features.upstream_mcp.configuration import COMMANDS, OTHER_COMMANDS, VARIABLES, SkillPolicy
from scrubjay.features.upstream_mcp.forwarded_tools import forward_tools
from scrubjay.features.upstream_mcp.host import SkillHost
from scrubjay.features.upstream_mcp.process import ProcessOptions
from scrubjay.features.upstream_mcp.schemas import SkillTool
from scrubjay.features.upstream_mcp.service import SkillRules, Skills
from scrubjay.features.upstream_mcp.settings import SkillSettings
from scrubjay.isolation.limits import Bounds
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.security_events import security_event
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()

logger = logging.getLogger("scrubjay.features.upstream_mcp")


@WIRING.provides
async def skills(services: Services) -> Skills:
    return services.ready(SkillHost).skills


def make_skills(services: Services) -> Skills:
    """Return the upstream servers; each is started on first use."""
    chosen, runtime = services.ready(SkillSettings), services.ready(Runtime)
    rules = SkillRules(
        file=runtime.home / chosen.file,
        cache_folder=runtime.home / "derived" / "skills",
        policy=SkillPolicy(
            {**dict.fromkeys(chosen.commands, OTHER_COMMANDS), **COMMANDS}, VARIABLES | set(chosen.variables)
        ),
        process_options=ProcessOptions(
            runtime.home, Bounds(memory_bytes=chosen.memory_bytes), runtime.max_message_bytes
        ),
        max_processes=chosen.max_processes,
        pause_seconds=chosen.pause_seconds,
    )
    publish = _Publisher(services).publish
    return Skills(rules, runtime.tasks, publish, report=_report_refused, clock=runtime.clock)


class _Publisher:
    """Puts the tools of upstream servers into the registry and notifies the subscribers of `SkillHost`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def publish(self, found: Sequence[SkillTool]) -> Sequence[SkillTool]:
        """Replace the tools that were published before; return those whose names were taken."""
        services = self._services

        async def get() -> Skills:
            return services.ready(SkillHost).skills

        tools = forward_tools(found, get)
        taken = {id(tool) for tool in services.ready(Registry).replace_upstream(tools)}
        for notify in services.ready(SkillHost).subscribers:
            services.ready(Runtime).tasks.start_soon(_notify, notify)
        return [declared for declared, tool in zip(found, tools, strict=True) if id(tool) in taken]


async def _notify(notify: Callable[[], Coroutine[Any, Any, None]]) -> None:
    try:
        await notify()
    except Exception as error:  # a client that is disconnecting must not end the server
        logger.warning("clients were not notified of changed tools", extra=error_fields(error))


def _report_refused(skill: RefusedSkill) -> None:
    security_event("skill_refused", tool=skill.name, reason=skill.reason.value)
