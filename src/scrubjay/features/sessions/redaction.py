"""What of a kept call its reader may see: not more than the tools that the reader's key opens would tell."""

from collections.abc import Sequence
from dataclasses import replace

from scrubjay.core.callers import Caller
from scrubjay.features.sessions.models import ToolCall
from scrubjay.tooling.registry import Registry


def may_see_contents(caller: Caller, registry: Registry, tool: str) -> bool:
    """Whether the history shows this caller what such a call was given and answered; an agent's own tools have no
    family, and are part of its session."""
    family = registry.family_of(tool)
    return family is None or caller.may_call(family, read_only=True)


def seen_by(caller: Caller, registry: Registry, calls: Sequence[ToolCall]) -> list[ToolCall]:
    """These calls, without the contents of those whose tools are closed to the caller."""
    return [
        call if may_see_contents(caller, registry, call.tool) else replace(call, arguments={}, result="", withheld=True)
        for call in calls
    ]
