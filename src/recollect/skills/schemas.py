"""What a skill's tools are, remembered on disk so that they can be listed before the skill runs."""

import contextlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from recollect.domain.identifiers import new_id

MOST_TOOLS = 500
MOST_BYTES = 4 * 1024 * 1024

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


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


def tools_of(skill: str, declared: Any) -> list[SkillTool] | None:
    """The tools that a list of declarations tells of; None when it is no such list. Those without use are left out."""
    if not isinstance(declared, list):
        return None
    found: list[SkillTool] = []
    for entry in cast(list[Any], declared)[:MOST_TOOLS]:
        if not isinstance(entry, dict):
            return None
        facts = cast(dict[str, Any], entry)
        name, schema = facts.get("name"), facts.get("inputSchema", {"type": "object"})
        if not isinstance(name, str) or not isinstance(schema, dict):
            return None
        made = SkillTool(skill, name, {**facts, "inputSchema": schema})
        if _NAME.fullmatch(made.name):
            found.append(made)
    return found


class SchemaCache:
    """A file for each skill. It counts only for the configuration that it was learned from."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, skill: str, config: str) -> Sequence[SkillTool] | None:
        """What is known of the skill with this configuration; None when that is nothing."""
        try:
            kept = json.loads((self._folder / f"{skill}.json").read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(kept, dict) or cast(dict[str, Any], kept).get("config_hash") != config:
            return None
        return tools_of(skill, cast(dict[str, Any], kept).get("tools"))

    def write(self, skill: str, config: str, tools: Iterable[SkillTool]) -> None:
        """Keep what was learned; a disk that cannot is passed over, for it is only learned again."""
        text = json.dumps({"config_hash": config, "tools": [dict(tool.declared) for tool in tools]})
        if len(text) > MOST_BYTES:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside = self._folder / f".{skill}.{new_id('tmp')}"
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            beside.replace(self._folder / f"{skill}.json")
