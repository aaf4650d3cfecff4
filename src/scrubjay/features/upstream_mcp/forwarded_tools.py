"""Registration of skill tools under prefixed names; calls are forwarded to the skill."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from scrubjay.features.upstream_mcp.schemas import SkillTool
from scrubjay.features.upstream_mcp.service import Skills
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.remote_tools import ForeignAnswer, ForeignTool, foreign_tool

FAMILY = "skill:"


def forward_tools(found: Sequence[SkillTool], skills: Callable[[], Awaitable[Skills]]) -> list[ForeignTool]:
    """Return a forwarding tool for each; each skill is a tool family, so that a key can be limited to one skill."""
    return [foreign_tool(tool.name, f"{FAMILY}{tool.skill}", tool.declared, _forwarder(tool, skills)) for tool in found]


def _forwarder(
    tool: SkillTool, skills: Callable[[], Awaitable[Skills]]
) -> Callable[[Mapping[str, Any], CallContext], Awaitable[ForeignAnswer]]:
    async def forward(arguments: Mapping[str, Any], context: CallContext) -> ForeignAnswer:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            await context.reporter.report(progress, total, message or "")

        answer = await (await skills()).call(tool.skill, tool.own_name, arguments, report)
        return ForeignAnswer.model_validate(answer, by_alias=True)

    return forward
