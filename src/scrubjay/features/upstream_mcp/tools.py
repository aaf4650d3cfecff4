"""Tools that show, reload and validate skills."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from scrubjay.features.upstream_mcp.catalog import RefusedSkill
from scrubjay.features.upstream_mcp.configuration import CommandSkill
from scrubjay.features.upstream_mcp.lifecycle import SkillRunner
from scrubjay.features.upstream_mcp.service import Skills
from scrubjay.tooling.declaration import Request, Result, examples, tool


class SkillsStatusRequest(Request):
    pass


class SkillView(Result):
    """One skill."""

    status: Literal["stopped", "starting", "running", "paused", "invalid"] = Field(
        description="stopped: starts with the next call of its tools. paused: failed too often, not started for now."
    )
    alive: bool
    transport: Literal["stdio", "http"] | None = None
    tool_count: int
    tools: list[str] = Field(description="Prefixed names of its tools.")
    left_out: dict[str, str] = Field(
        default_factory=dict[str, str], description="Tools that cannot be called, with the reason."
    )
    pid: int | None = Field(default=None, description="Process id while it runs.")
    running_calls: int = 0
    restarts: int = Field(default=0, description="Number of restarts after it ended unexpectedly.")
    last_error: str | None = None
    reason: str | None = Field(default=None, description="Why an invalid skill is never started.")


class SkillsStatusResult(Result):
    reloading: bool
    last_reload: datetime | None
    last_reload_duration_ms: float | None
    reload_count: int
    lock_held: bool
    draining: bool = Field(description="True while a reload waits for running calls.")
    total_tools: int
    total_skills: int
    file_problem: str | None = Field(description="Why skills.json could not be read.")
    skills: dict[str, SkillView]


class MimoReloadSkillsRequest(Request):
    model_config = examples({}, {"force": True})

    force: bool = Field(default=False, description="Abort running calls instead of waiting for them.")


class MimoReloadSkillsResult(Result):
    status: Literal["reloaded"]
    skills: int = Field(description="Number of valid skills.")
    tools: int = Field(description="Number of known tools of these skills.")
    added: list[str]
    removed: list[str]
    changed: list[str]
    invalid: dict[str, str] = Field(description="Invalid skills, which are never started, with the reason.")
    learning: list[str] = Field(
        description="Skills that are being started to list their tools; the tools appear shortly."
    )
    duration_ms: float


class ValidateSkillRequest(Request):
    model_config = examples({"name": "files", "config": {"command": "npx", "args": ["-y", "some-mcp-server"]}})

    name: str = Field(min_length=1, max_length=100, description="Name of the skill; the prefix of its tools.")
    config: dict[str, Any] = Field(description="Configuration as in skills.json: command, args, env; or url, headers.")


class ValidateSkillResult(Result):
    valid: bool
    reason: str | None = Field(description="Code of the first problem.")
    message: str | None = Field(description="Description of the first problem.")
    call_timeout_seconds: float | None = Field(description="Maximum duration of one call.")


@tool("skills", read_only=True, core=False)
async def skills_status(request: SkillsStatusRequest, skills: Skills) -> SkillsStatusResult:
    """Show the skills (other MCP servers whose tools this server offers): state, tools and errors."""
    views = {runner.name: _view(runner, skills.left_out(runner.name)) for runner in skills.runners.values()}
    for refused in skills.refused:
        views[refused.name] = SkillView(
            status="invalid", alive=False, tool_count=0, tools=[], reason=refused.reason, last_error=refused.message
        )
    reloads = skills.reloads
    return SkillsStatusResult(
        reloading=reloads.reloading,
        last_reload=reloads.last_reload,
        last_reload_duration_ms=reloads.last_milliseconds,
        reload_count=reloads.count,
        lock_held=reloads.reloading,
        draining=reloads.reloading and bool(skills.running_calls),
        total_tools=sum(view.tool_count for view in views.values()),
        total_skills=len(views),
        file_problem=skills.file_problem,
        skills=views,
    )


@tool("skills", core=False)
async def mimo_reload_skills(request: MimoReloadSkillsRequest, skills: Skills) -> MimoReloadSkillsResult:
    """Read skills.json again and restart all skills after running calls have ended (at most 30 seconds).

    A changed file takes effect only through this tool. If calls do not end in time or the file is invalid, nothing
    changes.
    """
    done = await skills.reload(force=request.force)
    return MimoReloadSkillsResult(
        status="reloaded",
        skills=len(skills.runners),
        tools=len(skills.tools()),
        added=list(done.added),
        removed=list(done.removed),
        changed=list(done.changed),
        invalid={refused.name: refused.reason for refused in skills.refused},
        learning=list(done.learning),
        duration_ms=done.milliseconds,
    )


@tool("skills", read_only=True, core=False)
async def validate_skill(request: ValidateSkillRequest, skills: Skills) -> ValidateSkillResult:
    """Validate a skill configuration as written in skills.json, without starting or storing it."""
    found = skills.validate(request.name, request.config)
    if isinstance(found, RefusedSkill):
        return ValidateSkillResult(valid=False, reason=found.reason, message=found.message, call_timeout_seconds=None)
    return ValidateSkillResult(valid=True, reason=None, message=None, call_timeout_seconds=found.config.call_seconds)


def _view(runner: SkillRunner, left_out: Mapping[str, str]) -> SkillView:
    names = [found.name for found in runner.tools if found.own_name not in left_out]
    return SkillView(
        status=runner.state.value,
        alive=runner.state == "running",
        transport="stdio" if isinstance(runner.entry.config, CommandSkill) else "http",
        tool_count=len(names),
        tools=names,
        left_out=dict(left_out),
        pid=runner.pid,
        running_calls=runner.running_calls,
        restarts=runner.restarts,
        last_error=runner.last_error,
    )
