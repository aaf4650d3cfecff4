"""What a skill's tools are, remembered on disk so that they can be listed before the skill runs."""

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

from scrubjay.core.ids import new_id

MOST_TOOLS = 500
MOST_BYTES = 4 * 1024 * 1024
MOST_LEFT_OUT, NAME_CHARACTERS = 100, 80

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
# What the protocol wants around a list of tools.
_PAGE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@dataclass(frozen=True, slots=True)
class SkillTool:
    """A tool as its own server declares it."""

    skill: str
    own_name: str
    declared: Mapping[str, Any]
    """As JSON, in the words of MCP: name, description, inputSchema, annotations and so on."""

    @property
    def name(self) -> str:
        """What it is called here."""
        return f"{self.skill}_{self.own_name}"


@dataclass(frozen=True, slots=True)
class ToldTools:
    """What a list of declarations comes to."""

    tools: Sequence[SkillTool]
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why tools cannot be used here, by their own names."""


def tools_of(skill: str, declared: Any) -> ToldTools:
    """The tools that a list of declarations tells of; `ValueError` when it is no such list."""
    if not isinstance(declared, list):
        raise ValueError("it is no list of tools")
    found: dict[str, SkillTool] = {}
    left_out: dict[str, str] = {}
    for entry in cast(list[Any], declared):
        facts: dict[str, Any] = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
        if not isinstance(name := facts.get("name"), str):
            raise ValueError("a tool has no name")
        try:
            found[name] = SkillTool(skill, name, _usable(skill, facts, found))
        except _Unusable as problem:
            if len(left_out) < MOST_LEFT_OUT:
                left_out[name[:NAME_CHARACTERS]] = str(problem)
    return ToldTools(list(found.values()), left_out)


class _Unusable(Exception):
    """Why a tool cannot be used here."""


def _usable(skill: str, facts: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The declaration in a form that clients of both eras can read: one that they cannot would break the whole list."""
    name = facts["name"]
    if name in known:
        raise _Unusable("there is another one of this name")
    if not name or not _NAME.fullmatch(f"{skill}_{name}"):
        raise _Unusable("a name has up to 128 letters, digits, _, - and ., the skill's included")
    if len(known) >= MOST_TOOLS:
        raise _Unusable(f"a skill may have {MOST_TOOLS} tools")
    schema: Any = facts.get("inputSchema", {})
    if isinstance(schema, dict):  # many leave out that arguments are an object
        schema = {"type": "object", **cast(dict[str, Any], schema)}
    tool = {**facts, "inputSchema": schema}
    if _problem(tool, LATEST_HANDSHAKE_VERSION):
        tool.pop("outputSchema", None)  # which may be of any type only since 2026
    for version in (LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION):
        if problem := _problem(tool, version):
            raise _Unusable(f"its declaration is not of the protocol: {problem}")
    return tool


def _problem(tool: Mapping[str, Any], version: str) -> str | None:
    try:
        validate_server_result("tools/list", version, {"tools": [tool], **_PAGE})
    except ValidationError as error:
        return first_problem(error, skip=2)
    return None


def first_problem(error: ValidationError, skip: int = 0) -> str:
    """Where the first thing is wrong and how, without what was given."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, first['loc'][skip:]))}: {first['msg']}"


class SchemaCache:
    """A file for each skill. It counts only for the configuration that it was learned from."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, skill: str, config: str) -> ToldTools | None:
        """What is known of the skill with this configuration; None when that is nothing."""
        try:
            kept = json.loads((self._folder / f"{skill}.json").read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(kept, dict) or cast(dict[str, Any], kept).get("config_hash") != config:
            return None
        try:
            told = tools_of(skill, cast(dict[str, Any], kept).get("tools"))
        except ValueError:
            return None
        left_out = cast(dict[str, Any], kept).get("left_out")
        return ToldTools(told.tools, cast(dict[str, str], left_out)) if isinstance(left_out, dict) else told

    def write(self, skill: str, config: str, told: ToldTools) -> None:
        """Keep what was learned; a disk that cannot is passed over, for it is only learned again."""
        tools = [dict(tool.declared) for tool in told.tools]
        text = json.dumps({"config_hash": config, "tools": tools, "left_out": dict(told.left_out)})
        if len(text) > MOST_BYTES:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside = self._folder / f".{skill}.{new_id('tmp')}"
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            beside.replace(self._folder / f"{skill}.json")
