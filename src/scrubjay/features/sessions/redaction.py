"""Redact recorded calls of tools that the reader's key does not grant access to."""

from collections.abc import Sequence
from dataclasses import replace

from scrubjay.core.callers import Caller
from scrubjay.features.sessions.models import ToolCall
from scrubjay.tooling.registry import Registry

_MCP_PREFIX = "mcp__"


def may_see_contents(caller: Caller, registry: Registry, tool: str) -> bool:
    """Return True when the caller may read arguments and results of a tool's calls.

    Calls of tools of a coding agent itself are always readable. Agents report calls of MCP tools as
    `mcp__SERVER__TOOL`, and users choose the name of the server: a name that ends with one of our tools counts as it.
    """
    if tool.startswith(_MCP_PREFIX):
        parts = tool.split("__")
        names = ["__".join(parts[start:]) for start in range(2, len(parts))]
        tool = next((name for name in names if registry.is_known(name)), tool)
    return not registry.is_known(tool) or registry.may_read_results(caller, tool)


def redact_calls(caller: Caller, registry: Registry, calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the calls, without arguments and results that the caller may not read."""
    return [
        call if may_see_contents(caller, registry, call.tool) else replace(call, arguments={}, result="", withheld=True)
        for call in calls
    ]
