"""Looking after skills: how they are, reading them anew, trying a configuration out."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from scrubjay.features.upstream_mcp.catalog import RefusedSkill
from scrubjay.features.upstream_mcp.configuration import CommandSkill
from scrubjay.features.upstream_mcp.lifecycle import SkillLife
from scrubjay.features.upstream_mcp.service import Skills
from scrubjay.tooling.declaration import Request, Result, examples, tool


class SkillsStatusRequest(Request):
    pass


class SkillView(Result):
    """One skill."""

    status: Literal["stopped", "starting", "running", "paused", "invalid"] = Field(
        description="stopped: is started when one of its tools is called. paused: failed too often, left alone a while."
    )
    alive: bool
    transport: Literal["stdio", "http"] | None = None
    tool_count: int
    tools: list[str] = Field(description="What its tools are called here.")
    left_out: dict[str, str] = Field(
        default_factory=dict[str, str], description="Tools of it that cannot be called here, and why."
    )
    pid: int | None = Field(default=None, description="Of its program, while it runs.")
    running_calls: int = 0
    restarts: int = Field(default=0, description="How often it died and was started again.")
    last_error: str | None = None
    reason: str | None = Field(default=None, description="Why an invalid one is never started.")


class SkillsStatusResult(Result):
    reloading: bool
    last_reload: datetime | None
    last_reload_duration_ms: float | None
    reload_count: int
    lock_held: bool
    draining: bool = Field(description="Whether a reload waits for running calls.")
    total_tools: int
    total_skills: int
    file_problem: str | None = Field(description="Why skills.json could not be read at all.")
    skills: dict[str, SkillView]


class MimoReloadSkillsRequest(Request):
    model_config = examples({}, {"force": True})

    force: bool = Field(default=False, description="Cut off calls that still run, instead of waiting for them.")


class MimoReloadSkillsResult(Result):
    status: Literal["reloaded"]
    skills: int = Field(description="How many skills there are now that can be used.")
    tools: int = Field(description="How many tools of theirs are known now.")
    added: list[str]
    removed: list[str]
    changed: list[str]
    invalid: dict[str, str] = Field(description="Skills that are never started, with the reason.")
    learning: list[str] = Field(description="Skills that are being asked for their tools now; these come soon.")
    duration_ms: float


class ValidateSkillRequest(Request):
    model_config = examples({"name": "files", "config": {"command": "npx", "args": ["-y", "some-mcp-server"]}})

    name: str = Field(min_length=1, max_length=100, description="What the skill is to be called.")
    config: dict[str, Any] = Field(description="As in skills.json: command, args, env; or url, headers.")


class ValidateSkillResult(Result):
    valid: bool
    reason: str | None = Field(description="A name for what is wrong.")
    message: str | None = Field(description="What is wrong, in words.")
    call_timeout_seconds: float | None = Field(description="How long one of its calls may take.")


@tool("skills", read_only=True, core=False)
async def skills_status(request: SkillsStatusRequest, skills: Skills) -> SkillsStatusResult:
    """Show the skills (other MCP servers whose tools are ours): which run, their tools, and what went wrong."""
    views = {life.name: _view(life, skills.left_out(life.name)) for life in skills.lives.values()}
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
    """Read skills.json again and start all skills afresh, after running calls have ended (at most 30 seconds).

    A changed file is noticed only by this. When calls do not end in time, or the file cannot be read, nothing changes.
    """
    done = await skills.reload(force=request.force)
    return MimoReloadSkillsResult(
        status="reloaded",
        skills=len(skills.lives),
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
    """Check the configuration of a skill as skills.json would have it; nothing is started or kept."""
    found = skills.validate(request.name, request.config)
    if isinstance(found, RefusedSkill):
        return ValidateSkillResult(valid=False, reason=found.reason, message=found.message, call_timeout_seconds=None)
    return ValidateSkillResult(valid=True, reason=None, message=None, call_timeout_seconds=found.config.call_seconds)


def _view(life: SkillLife, left_out: Mapping[str, str]) -> SkillView:
    names = [found.name for found in life.tools if found.own_name not in left_out]
    return SkillView(
        status=life.state.value,
        alive=life.state == "running",
        transport="stdio" if isinstance(life.entry.config, CommandSkill) else "http",
        tool_count=len(names),
        tools=names,
        left_out=dict(left_out),
        pid=life.pid,
        running_calls=life.running_calls,
        restarts=life.restarts,
        last_error=life.last_error,
    )
