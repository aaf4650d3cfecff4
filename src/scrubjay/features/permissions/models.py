"""Rules about what agents may do with their tools, and which of them decides."""

import json
import posixpath
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.lazy_regex import late

# Where tools are given commands of a shell. By these and not by their names, of which every agent has others.
COMMANDS = ("command", "cmd", "script")
# Claude Code's way to ask for a command that nothing holds back; no broad rule means that.
UNBOUND = "dangerouslyDisableSandbox"
# More than an agent can mean, and as much as all rules can be compared with in a moment.
MOST_CHARACTERS, MOST_PARTS, MOST_COMPARISONS = 1_000_000, 1_000, 500_000
# What it may take to read a regular expression; usual ones take a tenth.
MOST_REGEX_SECONDS = 0.015
# What makes one command into several, or lets it write or read elsewhere.
_JOINS = late(r"[;&|`<>\n\r]|\$\(")
_PARTS = late(r"[;&|`()\n\r]+|\$\(")
# A way that goes up again, maybe out of the folder that it begins with.
_UPWARDS = late(r"""(?:^|[/\\"])\.\.(?:[/\\"]|$)""")
OWN_NAME = "scrubjay"


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
    call = _Call.of(given)
    if call is None or call.comparisons(rules) > MOST_COMPARISONS:
        if any(rule.effect is not Effect.ALLOW for rule in rules):
            return Verdict(Effect.ASK, "this is too long to be compared with the rules that deny or ask")
        return Verdict(None, "this is too long to be compared with the rules")
    matching = [rule for rule in rules if _matches(rule, call)]
    matching.sort(key=lambda rule: ([*Effect].index(rule.effect), rule.project_id is None))
    if not matching:
        return Verdict(None, _nothing_said(rules, call))
    decider, *others = matching
    return Verdict(decider.effect, _reason(decider), decider, others)


def canonical(value: Any) -> str:
    """The value as JSON that is the same in whatever order its fields were given."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def refuse_unusable(match_type: MatchType, pattern: str) -> None:
    """Raise `InvalidRequest` for a pattern that cannot be compared."""
    if match_type is MatchType.REGEX:
        import secrets  # which hooks have no time for

        try:
            _compile(_whole(pattern))
            _compile(pattern)  # by itself too: it must not close our group
        except ValueError as error:
            raise InvalidRequest(
                f"pattern: is no regular expression that can be used here ({error})",
                hint="the syntax is that of Rust's regex crate, without look-around and backreferences",
            ) from None
        # An agent waits while it is read. Read once more beside something new, for what was read before is kept.
        started = time.thread_time()
        _compile(f"(?:{pattern})|{secrets.token_hex()}")
        if time.thread_time() - started > MOST_REGEX_SECONDS:
            raise InvalidRequest("pattern: takes too long to be read", hint="repeat less, or use [a-z] instead of \\w")


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


@dataclass(frozen=True, slots=True)
class _Call:
    """What a tool is given, read once for all rules."""

    given: Mapping[str, Any]
    whole: str
    """As canonical JSON."""
    commands: Sequence[str]
    """What a shell is to run, where a tool is given something like that."""
    parts: Sequence[str]
    """The commands taken apart: each would be run."""
    all_parts: str

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "_Call | None":
        """None when it is too long to be compared in a moment."""
        whole = canonical(given)
        if len(whole) > MOST_CHARACTERS:
            return None
        texts = [_texts(given[name]) for name in COMMANDS if name in given]
        parts = {part.strip(): None for some in texts for text in some for part in (text, *_PARTS.split(text))}
        if len(parts) > MOST_PARTS:
            return None
        kept = [part for part in parts if part]
        return cls(given, whole, [some[0] for some in texts], kept, "\0".join(kept))

    def text(self, field: str | None) -> str | None:
        """What a rule is compared with; None when there is no such field."""
        if field is None:
            return self.whole
        value: Any = self.given
        for name in field.split("."):
            if not isinstance(value, Mapping) or name not in value:
                return None
            value = value[name]  # pyright: ignore[reportUnknownVariableType]
        return value if isinstance(value, str) else canonical(value)

    def comparisons(self, rules: Sequence[PermissionRule]) -> int:
        """How often a rule has to be compared with a part of a command."""
        return len(self.parts) * sum(_is_by_part(rule) and self.may_hold(rule) for rule in rules)

    def may_hold(self, rule: PermissionRule) -> bool:
        """Whether a part of a command could fit; most rules have words that are in none of them."""
        match rule.match_type:
            case MatchType.REGEX:
                return True
            case MatchType.GLOB:
                return all(piece in self.all_parts for piece in rule.pattern.split("*"))
            case MatchType.EXACT | MatchType.PREFIX:
                return rule.pattern in self.all_parts

    @property
    def is_plain(self) -> bool:
        """Whether it has no command, or only one that is held back and could not change the rules themselves."""
        if self.commands and self.given.get(UNBOUND):
            return False
        return not any(_JOINS.search(command) or OWN_NAME in command.lower() for command in self.commands)


def _texts(command: Any) -> list[str]:
    """A command as text; of one that is a list of words also each of them: `["bash", "-c", "rm x"]`."""
    if isinstance(command, list) and all(isinstance(word, str) for word in command):  # pyright: ignore[reportUnknownVariableType]
        words: list[str] = command  # pyright: ignore[reportUnknownVariableType]
        return [" ".join(words), *words]
    return [command if isinstance(command, str) else canonical(command)]


def _matches(rule: PermissionRule, call: _Call) -> bool:
    text = call.text(rule.field)
    if text is None:
        return False
    if rule.effect is Effect.ALLOW:
        if not _fits(rule, text):
            return False
        leads_up = (
            (not call.commands or rule.field is not None) and rule.field not in COMMANDS and _UPWARDS.search(text)
        )
        return rule.match_type is MatchType.EXACT or (call.is_plain and not leads_up)
    if _fits(rule, text):
        return True
    if _is_by_part(rule):
        return call.may_hold(rule) and any(_fits(rule, part) for part in call.parts)
    # A file that is forbidden is forbidden also on a longer way.
    return rule.field is not None and "/" in text and _fits(rule, _straight(text))


def _is_by_part(rule: PermissionRule) -> bool:
    """A command that is forbidden is forbidden also behind another one."""
    return rule.effect is not Effect.ALLOW and rule.field in COMMANDS


def _straight(path: str) -> str:
    return re.sub("^/+", "/", posixpath.normpath(path))


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
    """A function that fails unless the whole text matches."""
    return _compile(_whole(pattern))


def _whole(pattern: str) -> str:
    return rf"(?s)\A(?:{pattern})\z"


def _compile(pattern: str) -> Any:
    """A function that fails unless the pattern is found.

    By the engine in pydantic's core, whose time grows with the text and never with the tries that Python's would need.
    """
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        schema = core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")
        return SchemaValidator(schema).validate_python
    except SchemaError as error:
        raise ValueError(str(error).rpartition("error: ")[2].strip()) from None


def _reason(rule: PermissionRule) -> str:
    what = f"{rule.field} of {rule.tool_name}" if rule.field else f"the input of {rule.tool_name}"
    where = "in this project" if rule.project_id else "everywhere"
    note = f": {rule.note}" if rule.note else ""
    return f"rule {rule.id} ({rule.effect} {where}, {what} by {rule.match_type} {rule.pattern!r}){note}"


def _nothing_said(rules: Sequence[PermissionRule], call: _Call) -> str:
    if not call.is_plain and any(rule.effect is Effect.ALLOW for rule in rules):
        return (
            "no rule matches; only an exact rule can allow a command of several parts, one without a sandbox, or one "
            "of scrubjay itself"
        )
    return "no rule matches"
