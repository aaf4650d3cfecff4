"""Assemble the coding agent that callers may delegate tasks to."""

from scrubjay.core.environment import all_variables
from scrubjay.features.delegation.coding_agent import AllowedCallers, CodingAgent
from scrubjay.features.delegation.events import AgentEvents, NoAgentEvents
from scrubjay.features.delegation.service import DelegationService
from scrubjay.features.delegation.settings import DelegationSettings
from scrubjay.features.upstream_mcp.configuration import clean_path
from scrubjay.isolation.limits import Bounds
from scrubjay.tooling.key_watch import KeyWatch
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()

# Variables that programs need and that hold no secrets.
_VARIABLES = ("USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")


@WIRING.provides
async def agent_events(services: Services) -> AgentEvents:
    """Return the implementation without listeners; a server with an event stream replaces it."""
    return NoAgentEvents()


@WIRING.provides
async def coding_agents(services: Services) -> DelegationService:
    runtime, events = services.ready(Runtime), await services.get(AgentEvents)
    return DelegationService(
        await services.get(CodingAgent), runtime.tasks, events, services.ready(KeyWatch), runtime.clock
    )


@WIRING.provides
async def coding_agent(services: Services) -> CodingAgent:
    chosen, ours = services.ready(DelegationSettings), all_variables()
    passed_on = {name: ours[name] for name in (*_VARIABLES, *chosen.variables) if name in ours}
    environment = {
        "LANG": "C.UTF-8",
        **passed_on,
        "PATH": clean_path(ours.get("PATH", "")),
        "HOME": ours.get("HOME", "/"),
        "TERM": "xterm-256color",
        # The agent's own Scrubjay must find the message that it is asked to answer.
        "SCRUBJAY_HOME": str(services.ready(Runtime).home),
    }
    return CodingAgent(
        command=chosen.command,
        arguments=chosen.arguments,
        print_arguments=chosen.print_arguments,
        environment=environment,
        bounds=Bounds(memory_bytes=chosen.memory_bytes, open_files=4096),
        allow=AllowedCallers(chosen.allow),
        max_instances=chosen.max_agents,
    )
