"""Tool declarations of skills, cached on disk so that they can be listed before the skill runs."""

import contextlib
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import ValidationError

from scrubjay.core.temporary_files import temporary_beside

MAX_TOOLS = 500
MAX_BYTES = 4 * 1024 * 1024
MAX_LEFT_OUT, NAME_CHARACTERS = 100, 80

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
# Fields that the protocol requires around a list of tools.
_PAGE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@dataclass(frozen=True, slots=True)
class SkillTool:
    """A tool as the skill declares it."""

    skill: str
    own_name: str
    declared: Mapping[str, Any]
    """MCP declaration as JSON: name, description, inputSchema, annotations and so on."""

    @property
    def name(self) -> str:
        """Prefixed name under which we offer it."""
        return f"{self.skill}_{self.own_name}"


@dataclass(frozen=True, slots=True)
class ToolListing:
    """The usable tools of a skill, and the rejected ones."""

    tools: Sequence[SkillTool]
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Reasons of rejected tools, by the skill's own tool name."""


def parse_tools(skill: str, declared: Any) -> ToolListing:
    """Parse a list of tool declarations; raise `ValueError` if it is not one."""
    if not isinstance(declared, list):
        raise ValueError("not a list of tools")
    found: dict[str, SkillTool] = {}
    left_out: dict[str, str] = {}
    for entry in cast(list[Any], declared):
        declaration: dict[str, Any] = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
        if not isinstance(name := declaration.get("name"), str):
            raise ValueError("a tool has no name")
        try:
            found[name] = SkillTool(skill, name, _normalize(skill, declaration, found))
        except _UnusableTool as problem:
            if len(left_out) < MAX_LEFT_OUT:
                left_out[name[:NAME_CHARACTERS]] = str(problem)
    return ToolListing(list(found.values()), left_out)


class _UnusableTool(Exception):
    """A tool that cannot be offered; the message is the reason."""


def _normalize(skill: str, declaration: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return the declaration in a form valid in all protocol revisions; an invalid one would break the whole list."""
    name = declaration["name"]
    if name in known:
        raise _UnusableTool("duplicate tool name")
    if not name or not _NAME.fullmatch(f"{skill}_{name}"):
        raise _UnusableTool("the prefixed name must be 1 to 128 letters, digits, _, - or .")
    if len(known) >= MAX_TOOLS:
        raise _UnusableTool(f"a skill may have at most {MAX_TOOLS} tools")
    schema: Any = declaration.get("inputSchema", {})
    if isinstance(schema, dict):  # many servers omit the type
        schema = {"type": "object", **cast(dict[str, Any], schema)}
    tool = {**declaration, "inputSchema": schema}
    if _problem(tool, LATEST_HANDSHAKE_VERSION):
        tool.pop("outputSchema", None)  # types other than object are only valid since revision 2026-07-28
    for version in (LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION):
        if problem := _problem(tool, version):
            raise _UnusableTool(f"invalid declaration: {problem}")
    return tool


def _problem(tool: Mapping[str, Any], version: str) -> str | None:
    try:
        validate_server_result("tools/list", version, {"tools": [tool], **_PAGE})
    except ValidationError as error:
        return first_error(error, skip=2)
    return None


def first_error(error: ValidationError, skip: int = 0) -> str:
    """Return location and message of the first error, without the input."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, first['loc'][skip:]))}: {first['msg']}"


class SchemaCache:
    """A cache with one file per skill, valid only for the configuration that it was written for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, skill: str, config: str) -> ToolListing | None:
        """Return the cached tools for this configuration, or None."""
        try:
            cached = json.loads((self._folder / f"{skill}.json").read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(cached, dict) or cast(dict[str, Any], cached).get("config_hash") != config:
            return None
        try:
            listing = parse_tools(skill, cast(dict[str, Any], cached).get("tools"))
        except ValueError:
            return None
        left_out = cast(dict[str, Any], cached).get("left_out")
        return ToolListing(listing.tools, cast(dict[str, str], left_out)) if isinstance(left_out, dict) else listing

    def write(self, skill: str, config: str, listing: ToolListing) -> None:
        """Cache the tools. Disk errors are ignored, because the tools can be requested again."""
        tools = [dict(tool.declared) for tool in listing.tools]
        text = json.dumps({"config_hash": config, "tools": tools, "left_out": dict(listing.left_out)})
        if len(text) > MAX_BYTES:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = temporary_beside(self._folder / f"{skill}.json")
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            temporary.replace(self._folder / f"{skill}.json")
