"""Rules about what agents may do with their tools, and which of them decides."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from recollect.domain.errors import InvalidRequest

# Tools that run commands of a shell, as agents call them.
SHELLS = frozenset({"Bash", "bash", "shell", "local_shell", "run_shell_command", "run_terminal_cmd", "runInTerminal"})
COMMAND = "command"
# What makes one command into several, or lets it write or read elsewhere.
_JOINS = re.compile(r"[;&|`<>\n\r]|\$\(")
_PARTS = re.compile(r"[;&|`()\n\r]+|\$\(")
OWN_NAME = "recollect"


class Effect(StrEnum):
    """What a rule says; of several that match, the first of these decides."""

    DENY = "deny"
    ASK = "ask"
    ALLOW = "allow"


class MatchType(StrEnum):
    """How a rule's pattern is compared with what a tool is given."""

    EXACT = "exact"
    PREFIX = "prefix"
    GLOB = "glob"
    REGEX = "regex"


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRule:
    """One rule: for which tool, what to compare, and what follows."""

    id: str
    effect: Effect
    tool_name: str
    """The tool's name, in which `*` stands for any characters."""
    match_type: MatchType
    pattern: str
    field: str | None = None
    """The field of the tool's input to compare, dots leading inwards; None for all of it as canonical JSON."""
    project_id: str | None = None
    """None for a rule that holds everywhere."""
    note: str | None = None
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say of one call of a tool."""

    effect: Effect | None
    """None when no rule applies: whoever asked decides as if there were no rules."""
    reason: str
    rule: PermissionRule | None = None
    others: Sequence[PermissionRule] = ()
    """Further rules that match, but do not decide."""


def decide(rules: Iterable[PermissionRule], tool: str, given: Mapping[str, Any]) -> Verdict:
    """Which rule decides on this call: deny before ask before allow, a project's own before those of all."""
    rules = [rule for rule in rules if matches_glob(rule.tool_name, tool)]
    matching = [rule for rule in rules if _matches(rule, tool, given)]
    matching.sort(key=lambda rule: ([*Effect].index(rule.effect), rule.project_id is None))
    if not matching:
        return Verdict(None, _nothing_said(rules, tool, given))
    decider, *others = matching
    return Verdict(decider.effect, _reason(decider), decider, others)


def canonical(value: Any) -> str:
    """The value as JSON that is the same in whatever order its fields were given."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def refuse_unusable(match_type: MatchType, pattern: str) -> None:
    """Raise `InvalidRequest` for a pattern that cannot be compared."""
    if match_type is MatchType.REGEX:
        try:
            _compiled(pattern)
        except ValueError as error:
            raise InvalidRequest(
                f"pattern: is no regular expression that can be used here ({error})",
                hint="the syntax is that of Rust's regex crate, without look-around and backreferences",
            ) from None


def matches_glob(pattern: str, text: str) -> bool:
    """Whether the whole text matches, where `*` is any characters. Takes no longer than reading both."""
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    *middle, last = others
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    place, end = len(first), len(text) - len(last)
    for part in middle:
        place = text.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True


def _matches(rule: PermissionRule, tool: str, given: Mapping[str, Any]) -> bool:
    text = _text(rule.field, given)
    if text is None:
        return False
    command = _command(tool, given)
    if rule.effect is Effect.ALLOW:
        return _fits(rule, text) and (rule.match_type is MatchType.EXACT or command is None or _is_plain(command))
    if _fits(rule, text):
        return True
    # A command that is forbidden is forbidden also behind another one.
    return rule.field == COMMAND and command is not None and any(_fits(rule, part) for part in _parts(command))


def _text(field: str | None, given: Mapping[str, Any]) -> str | None:
    """What a rule is compared with; None when there is no such field."""
    value: Any = given
    for name in field.split(".") if field else ():
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]  # pyright: ignore[reportUnknownVariableType]
    return value if isinstance(value, str) else canonical(value)


def _command(tool: str, given: Mapping[str, Any]) -> str | None:
    """The command that a shell is to run; None for any other tool."""
    if tool not in SHELLS or COMMAND not in given:
        return None
    value = given[COMMAND]
    return value if isinstance(value, str) else canonical(value)


def _is_plain(command: str) -> bool:
    """Whether it is one command, and none that could change the rules themselves."""
    return _JOINS.search(command) is None and OWN_NAME not in command.lower()


def _parts(command: str) -> list[str]:
    return [part.strip() for part in _PARTS.split(command) if part.strip()]


def _fits(rule: PermissionRule, text: str) -> bool:
    match rule.match_type:
        case MatchType.EXACT:
            return text == rule.pattern or (rule.field is None and text == _canonical_text(rule.pattern))
        case MatchType.PREFIX:
            return text.startswith(rule.pattern)
        case MatchType.GLOB:
            return matches_glob(rule.pattern, text)
        case MatchType.REGEX:
            return _found(rule.pattern, text)


def _canonical_text(pattern: str) -> str | None:
    """A pattern that is JSON itself, with its fields in canonical order."""
    try:
        return canonical(json.loads(pattern))
    except (ValueError, RecursionError):
        return None


def _found(pattern: str, text: str) -> bool:
    from pydantic_core import ValidationError

    try:
        _compiled(pattern)(text.encode("utf-8", "replace").decode())  # half a character must not hide the rest
    except ValidationError:
        return False
    return True


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    """A function that fails unless the whole text matches.

    By the engine in pydantic's core, whose time grows with the text and never with the tries that Python's would need.
    """
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        for text in (pattern, rf"(?s)\A(?:{pattern})\z"):  # by itself too: it must not close our group
            schema = core_schema.str_schema(pattern=text, regex_engine="rust-regex")
            validator = SchemaValidator(schema)
    except SchemaError as error:
        raise ValueError(str(error).rpartition("error: ")[2].strip()) from None
    return validator.validate_python


def _reason(rule: PermissionRule) -> str:
    what = f"{rule.field} of {rule.tool_name}" if rule.field else f"the input of {rule.tool_name}"
    where = "in this project" if rule.project_id else "everywhere"
    note = f": {rule.note}" if rule.note else ""
    return f"rule {rule.id} ({rule.effect} {where}, {what} by {rule.match_type} {rule.pattern!r}){note}"


def _nothing_said(rules: Sequence[PermissionRule], tool: str, given: Mapping[str, Any]) -> str:
    command = _command(tool, given)
    if command is not None and not _is_plain(command) and any(rule.effect is Effect.ALLOW for rule in rules):
        return "no rule matches; only an exact rule can allow a command of several parts, or one of recollect itself"
    return "no rule matches"
