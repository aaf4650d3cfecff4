"""The skills that the owner wrote down: read from files, each checked by itself."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from scrubjay.core.errors import Misconfigured
from scrubjay.features.upstream_mcp.configuration import Policy, SkillConfig, config_hash
from scrubjay.features.upstream_mcp.paths import MANIFEST
from scrubjay.features.upstream_mcp.schemas import ToldTools, tools_of
from scrubjay.features.upstream_mcp.validation import InvalidSkill, Reason, checked, checked_name

MOST_BYTES = 16 * 1024 * 1024
MOST_SKILLS = 1000


@dataclass(frozen=True, slots=True)
class ValidSkill:
    """A skill that may be started."""

    name: str
    config: SkillConfig
    hash: str
    told: ToldTools | None = None
    """Its tools, where a manifest tells them."""


@dataclass(frozen=True, slots=True)
class RefusedSkill:
    """A skill that is never started, and why."""

    name: str
    reason: Reason
    message: str


Skill = ValidSkill | RefusedSkill


def read_skills(file: Path, policy: Policy) -> Sequence[Skill]:
    """All skills of the file, and of the manifest beside it; `Misconfigured` when a file is none at all.

    Of a skill that is in both the file counts; the manifest tells its tools as long as it means the same program.
    """
    written, manifest = _entries(file), _entries(file.with_name(MANIFEST))
    entries = {**manifest, **written}
    if len(entries) > MOST_SKILLS:
        raise Misconfigured(f"{file} has more than {MOST_SKILLS} skills", hint="leave some out")
    skills = {name: read_skill(name, raw, policy) for name, raw in entries.items()}
    for name in manifest.keys() & written.keys():
        skill, beside = skills[name], read_skill(name, manifest[name], policy)
        if isinstance(skill, ValidSkill) and isinstance(beside, ValidSkill) and skill.hash == beside.hash:
            skills[name] = replace(skill, told=skill.told or beside.told)
    return list(skills.values())


def read_skill(name: str, raw: Any, policy: Policy) -> Skill:
    """One skill: either its configuration, or `{"config": ..., "tools": [...]}` as a manifest has it."""
    try:
        checked_name(name)
        told: ToldTools | None = None
        if isinstance(raw, dict) and "config" in raw:
            entry = cast(dict[str, Any], raw)
            if extra := sorted(set(entry) - {"config", "tools"}):
                raise InvalidSkill(Reason.EXTRA_FIELDS, f"there is no field {extra[0][:80]!r}, only config, tools")
            raw = entry["config"]
            if "tools" in entry:
                try:
                    told = tools_of(name, entry["tools"])
                except ValueError:
                    raise InvalidSkill(Reason.INVALID_TYPE, "tools must be a list of tools with a name each") from None
        return ValidSkill(name, checked(raw, policy), config_hash(raw), told)
    except InvalidSkill as problem:
        return RefusedSkill(name[:80], problem.reason, problem.message)


def _entries(file: Path) -> Mapping[str, Any]:
    try:
        if file.stat().st_size > MOST_BYTES:
            raise Misconfigured(f"{file} is larger than {MOST_BYTES} bytes")
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}", hint="docs/skills.md shows how it looks") from error
    if not isinstance(found, dict):
        raise Misconfigured(f"{file} must hold one object, of skills by their names", hint="see docs/skills.md")
    return cast(dict[str, Any], found)
