"""Putting together the coding agent that others may give tasks and ask."""

import os

from scrubjay.app.settings import Settings
from scrubjay.features.delegation.coding_agent import Allow, CodingAgent
from scrubjay.features.upstream_mcp.configuration import clean_path
from scrubjay.isolation.limits import Bounds

# What every program needs to know of where it is, and none of it is a secret.
_VARIABLES = ("USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")


def coding_agent(settings: Settings) -> CodingAgent:
    chosen, ours = settings.delegating, os.environ
    passed_on = {name: ours[name] for name in (*_VARIABLES, *chosen.variables) if name in ours}
    environment = {
        "LANG": "C.UTF-8",
        **passed_on,
        "PATH": clean_path(ours.get("PATH", "")),
        "HOME": ours.get("HOME", "/"),
        "TERM": "xterm-256color",
        # Its own scrubjay is to find the message that it is asked to answer.
        "SCRUBJAY_HOME": str(settings.home),
    }
    return CodingAgent(
        command=chosen.command,
        arguments=chosen.arguments,
        print_arguments=chosen.print_arguments,
        environment=environment,
        bounds=Bounds(memory_bytes=chosen.memory_bytes, open_files=4096),
        allow=Allow(chosen.allow),
        most=chosen.max_agents,
    )
