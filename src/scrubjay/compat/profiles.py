"""Tool profiles: the tool list of each seed system, so that its clients can use Scrubjay unchanged."""

from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.compat.do_memory import tool_names as do_memory
from scrubjay.compat.mimir import tool_names as mimir
from scrubjay.compat.mimo import tool_names as mimo
from scrubjay.compat.mira import tool_names as mira
from scrubjay.compat.neo import tool_names as neo
from scrubjay.core.errors import InvalidRequest
from scrubjay.tooling.registry import Registry

PROFILES: Final[Mapping[str, Sequence[str]]] = {
    "mimo": mimo.TOOLS,
    "do-memory": do_memory.TOOLS,
    "mira": mira.TOOLS,
    "mimir": mimir.TOOLS,
    "neo": neo.TOOLS,
}

# Tools whose documented answer is the bare result, although they run as jobs here.
_FLAT_JOBS: Final[Mapping[str, frozenset[str]]] = {"neo": neo.FLAT_JOBS}


def flat_jobs_of(profile: str | None) -> frozenset[str]:
    """Return the tools of a profile that wait for their job and answer with its result alone."""
    return _FLAT_JOBS.get(profile or "", frozenset())


def tools_of(profile: str, registry: Registry) -> str:
    """Return the served tools of a profile as a toolset expression. Raises `InvalidRequest` for an unknown profile."""
    if profile not in PROFILES:
        raise InvalidRequest(f"unknown profile {profile!r}", hint=f"use one of {', '.join(PROFILES)}")
    return ",".join(f"={name}" for name in PROFILES[profile] if name in registry)
