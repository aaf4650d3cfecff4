"""Read the configured skills from files and validate each on its own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from scrubjay.core.errors import Misconfigured
from scrubjay.features.upstream_mcp.configuration import SkillConfig, SkillPolicy, config_hash
from scrubjay.features.upstream_mcp.paths import MANIFEST
from scrubjay.features.upstream_mcp.schemas import ToolListing, parse_tools
from scrubjay.features.upstream_mcp.validation import InvalidSkill, RefusalReason, validate_config, validate_name

MAX_BYTES = 16 * 1024 * 1024
MAX_SKILLS = 1000


@dataclass(frozen=True, slots=True)
class ValidSkill:
    """A skill that may be started."""

    name: str
    config: SkillConfig
    hash: str
    listing: ToolListing | None = None
    """The tools that a manifest declares, if any."""


@dataclass(frozen=True, slots=True)
class RefusedSkill:
    """A skill that is never started, with the reason."""

    name: str
    reason: RefusalReason
    message: str


Skill = ValidSkill | RefusedSkill


def read_skills(file: Path, policy: SkillPolicy) -> Sequence[Skill]:
    """Return all skills of the file and of the manifest beside it.

    If a skill is in both, the file wins, and the manifest contributes its tools if both configurations are equal.
    Raise `Misconfigured` if a file cannot be parsed.
    """
    written, manifest = _entries(file), _entries(file.with_name(MANIFEST))
    entries = {**manifest, **written}
    if len(entries) > MAX_SKILLS:
        raise Misconfigured(f"{file} has more than {MAX_SKILLS} skills", hint="remove some")
    skills = {name: read_skill(name, raw, policy) for name, raw in entries.items()}
    for name in manifest.keys() & written.keys():
        skill, beside = skills[name], read_skill(name, manifest[name], policy)
        if isinstance(skill, ValidSkill) and isinstance(beside, ValidSkill) and skill.hash == beside.hash:
            skills[name] = replace(skill, listing=skill.listing or beside.listing)
    return list(skills.values())


def read_skill(name: str, raw: Any, policy: SkillPolicy) -> Skill:
    """Validate one skill, given as a configuration or as `{"config": ..., "tools": [...]}` like in a manifest."""
    try:
        validate_name(name)
        listing: ToolListing | None = None
        if isinstance(raw, dict) and "config" in raw:
            entry = cast(dict[str, Any], raw)
            if extra := sorted(set(entry) - {"config", "tools"}):
                raise InvalidSkill(
                    RefusalReason.EXTRA_FIELDS, f"unknown field {extra[0][:80]!r}; expected config, tools"
                )
            raw = entry["config"]
            if "tools" in entry:
                try:
                    listing = parse_tools(name, entry["tools"])
                except ValueError:
                    raise InvalidSkill(
                        RefusalReason.INVALID_TYPE, "tools must be a list of objects that have a name"
                    ) from None
        return ValidSkill(name, validate_config(raw, policy), config_hash(raw), listing)
    except InvalidSkill as problem:
        return RefusedSkill(name[:80], problem.reason, problem.message)


def _entries(file: Path) -> Mapping[str, Any]:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise Misconfigured(f"{file} is larger than {MAX_BYTES} bytes")
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise Misconfigured(
            f"{file} cannot be read: {error}", hint="see the example in docs/upstream-mcp.md"
        ) from error
    if not isinstance(found, dict):
        raise Misconfigured(f"{file} must hold one JSON object with a field per skill", hint="see docs/upstream-mcp.md")
    return cast(dict[str, Any], found)
