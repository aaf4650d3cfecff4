"""The tools of skills as tools of ours: under their prefixed names, forwarded to where they come from."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from scrubjay.features.upstream_mcp.schemas import SkillTool
from scrubjay.features.upstream_mcp.service import Skills
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.remote_tools import ForeignAnswer, ForeignTool, foreign_tool

FAMILY = "skill:"


def tools_of_skills(found: Sequence[SkillTool], skills: Callable[[], Awaitable[Skills]]) -> list[ForeignTool]:
    """Each skill's tools are a family of their own, so that a key can open one skill and no other."""
    return [
        foreign_tool(tool.name, f"{FAMILY}{tool.skill}", tool.declared, _forwarding(tool, skills)) for tool in found
    ]


def _forwarding(
    tool: SkillTool, skills: Callable[[], Awaitable[Skills]]
) -> Callable[[Mapping[str, Any], CallContext], Awaitable[ForeignAnswer]]:
    async def forward(arguments: Mapping[str, Any], context: CallContext) -> ForeignAnswer:
        async def told(progress: float, total: float | None, message: str | None) -> None:
            await context.reporter.report(progress, total, message or "")

        answer = await (await skills()).call(tool.skill, tool.own_name, arguments, told)
        return ForeignAnswer.model_validate(answer, by_alias=True)

    return forward
