"""Decide on a tool call by the permission rules."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from scrubjay.core.lazy_regex import lazy_pattern
from scrubjay.features.permissions.command_rules import (
    CommandMatcher,
    Match,
    find_coverage,
    find_loose_coverage,
    surrounding_risk,
)
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule, PermissionVerdict
from scrubjay.features.permissions.patterns import canonical, fits, matches_glob
from scrubjay.features.permissions.shell_commands import RunCommand, commands_of, commands_of_words
from scrubjay.features.permissions.shell_lexer import Script, parse_script, words_of

# Input fields that hold shell commands. Tools are recognised by these, because tool names differ between agents.
COMMANDS = ("command", "cmd", "script")
# Claude Code's field for a command outside the sandbox; a broad allow rule must not cover it.
UNSANDBOXED = "dangerouslyDisableSandbox"
# Beyond any realistic call, and small enough to be compared with all rules quickly.
MAX_CHARACTERS, MAX_PARTS, MAX_COMPARISONS = 1_000_000, 1_000, 500_000
MAX_COMMAND_CHARACTERS, MAX_WORDS, MAX_WORD_COMPARISONS = 250_000, 10_000, 50_000
OWN_NAME = "scrubjay"
# Operators of a command that cannot be read with certainty; then each part of its text is compared too.
_PARTS = lazy_pattern(r"[;&|`()\n\r]+|\$\(")
# A word that every shell reads as itself.
_PLAIN_WORD = lazy_pattern(r"[\w./:=+@%,-]+")
# A path with `..`, which may leave the folder it begins with.
_PARENT_FOLDER = lazy_pattern(r"""(?:^|[/\\"])\.\.(?:[/\\"]|$)""")


def decide(rules: Iterable[PermissionRule], tool: str, given: Mapping[str, Any]) -> PermissionVerdict:
    """Decide on this call: deny before ask before allow, project rules before global ones."""
    rules = [rule for rule in rules if matches_glob(rule.tool_name, tool)]
    if not rules:
        return PermissionVerdict(None, "no rule matches")
    call = _PreparedCall.of(given)
    if call is None or call.is_too_much(rules):
        if any(rule.effect is not Effect.ALLOW for rule in rules):
            return PermissionVerdict(Effect.ASK, "the input is too long to be compared with the rules that deny or ask")
        return PermissionVerdict(None, "the input is too long to be compared with the rules")
    found = {rule.id: call.match(rule) for rule in rules if rule.effect is not Effect.ALLOW}
    allowance = call.allowance([rule for rule in rules if rule.effect is Effect.ALLOW])
    certain = [rule for rule in rules if found.get(rule.id) is Match.YES]
    matching = sorted([*certain, *allowance.rules], key=_precedence)
    possible = sorted((rule for rule in rules if found.get(rule.id) is Match.MAYBE), key=_precedence)
    if matching and (certain or allowance.is_exact):
        decider, *others = matching
        return PermissionVerdict(decider.effect, _reason(decider), decider, others)
    if call.problem is not None and any(rule.field in COMMANDS or _is_by_part(rule) for rule in rules):
        return PermissionVerdict(Effect.ASK, f"the command cannot be read with certainty: {call.problem}")
    if possible:
        reason = f"a word of the command is not known, so this rule may match: {_reason(possible[0])}"
        return PermissionVerdict(Effect.ASK, reason, possible[0], [*possible[1:], *matching])
    if allowance.risk is not None:
        return PermissionVerdict(Effect.ASK, allowance.risk)
    if matching:
        decider, *others = matching
        return PermissionVerdict(decider.effect, _reason(decider), decider, others)
    return PermissionVerdict(None, call.no_match_reason(rules))


def _precedence(rule: PermissionRule) -> tuple[int, bool]:
    return [*Effect].index(rule.effect), rule.project_id is None


@dataclass(frozen=True, slots=True)
class _Allowance:
    """What the rules that allow say about a call."""

    rules: Sequence[PermissionRule] = ()
    """The rules that together allow the call; empty if they do not."""
    is_exact: bool = False
    """True if a rule names the whole input."""
    risk: str | None = None
    """Why the user must be asked although the rules name each command."""


@dataclass(frozen=True, slots=True)
class _PreparedCall:
    """Input of a tool, prepared once for all rules."""

    given: Mapping[str, Any]
    whole: str
    """As canonical JSON."""
    runs: Sequence[RunCommand]
    """The commands that the input runs."""
    has_commands: bool
    problem: str | None
    """Why the commands cannot be read with certainty."""
    parts: Sequence[str]
    """The commands as text, whole and one by one."""
    all_parts: str
    matcher: CommandMatcher
    is_plain_list: bool
    """True unless a command is a list with words that a shell would change."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "_PreparedCall | None":
        """Prepare the input; return None if it is too long to compare quickly."""
        whole = canonical(given)
        if len(whole) > MAX_CHARACTERS:
            return None
        runs: list[RunCommand] = []
        texts: list[str] = []
        problem, is_plain_list = None, True
        for name in COMMANDS:
            if name not in given:
                continue
            value: Any = given[name]
            script = Script()
            if isinstance(value, list) and all(isinstance(word, str) for word in value):  # pyright: ignore[reportUnknownVariableType]
                words: list[str] = value  # pyright: ignore[reportUnknownVariableType]
                texts += [part for text in (" ".join(words), *words) for part in (text, *_PARTS.split(text))]
                is_plain_list = is_plain_list and all(_PLAIN_WORD.fullmatch(word) for word in words)
                runs += islice(commands_of_words(words_of(words), script), MAX_PARTS + 1) if words else ()
            else:
                text = value if isinstance(value, str) else canonical(value)
                if len(text) > MAX_COMMAND_CHARACTERS:
                    return None
                script = parse_script(text)
                if sum(len(command.words) for command in script.commands) > MAX_WORDS:
                    return None
                runs += islice(commands_of(script), MAX_PARTS + 1)
                texts += [text, *(_PARTS.split(text) if script.problem else ())]
            problem = problem or script.problem
        if len(runs) > MAX_PARTS or sum(len(run.words) for run in runs) > 2 * MAX_WORDS:
            return None
        matcher = CommandMatcher(runs)
        parts = [part for part in dict.fromkeys(part.strip() for part in (*texts, *matcher.texts)) if part]
        if len(parts) > MAX_PARTS * 5:
            return None
        has_commands = any(name in given for name in COMMANDS)
        return cls(given, whole, runs, has_commands, problem, parts, "\0".join(parts), matcher, is_plain_list)

    def is_too_much(self, rules: Sequence[PermissionRule]) -> bool:
        """Return True if the comparison with these rules would take too long."""
        by_part = [rule for rule in rules if _is_by_part(rule)]
        if len(self.parts) * sum(self._may_match(rule) for rule in by_part) > MAX_COMPARISONS:
            return True
        return sum(self.matcher.comparisons(rule) for rule in by_part) > MAX_WORD_COMPARISONS

    def match(self, rule: PermissionRule) -> Match:
        """Return whether a rule that denies or asks matches."""
        text = self._text(rule.field)
        if text is None:
            return Match.NO
        if fits(rule, text):
            return Match.YES
        if _is_by_part(rule):
            if self._may_match(rule) and any(fits(rule, part) for part in self.parts):
                return Match.YES
            return self.matcher.match(rule)
        # A denied file is denied under every spelling of its path.
        is_other_spelling = rule.field is not None and "/" in text and fits(rule, _normalized(text))
        return Match.YES if is_other_spelling else Match.NO

    def allowance(self, rules: Sequence[PermissionRule]) -> _Allowance:
        """Return whether these rules allow the call: each of its commands must be covered by one of them."""
        exact = [rule for rule in rules if rule.match_type is MatchType.EXACT and self._fits_whole(rule)]
        if exact:
            return _Allowance(exact, is_exact=True)
        if not self.has_commands:
            return _Allowance([rule for rule in rules if self._fits_whole(rule) and not self._leaves_folder(rule)])
        if self._is_reserved or not self.is_plain_list:
            return _Allowance()
        outer = [run for run in self.runs if not run.is_inner and (run.words or surrounding_risk(run) is not None)]
        by_text = [rule for rule in rules if self._fits_loosely(rule, outer)]
        if by_text:
            return _Allowance(by_text)
        by_words = [rule for rule in rules if rule.field in COMMANDS and self._text(rule.field) is not None]
        deciding: dict[str, PermissionRule] = {}
        risk, is_allowed = None, bool(outer)
        for run in outer:
            found = [(rule, coverage) for rule in by_words if (coverage := find_coverage(rule, run))]
            covering = [rule for rule, coverage in found if coverage.risk is None]
            deciding |= {rule.id: rule for rule in covering}
            is_allowed = is_allowed and bool(covering)
            if found and not covering:
                risk = risk or f"{_reason(found[0][0])} does not cover {found[0][1].risk}"
        return _Allowance([*deciding.values()] if is_allowed else (), risk=risk)

    def no_match_reason(self, rules: Sequence[PermissionRule]) -> str:
        """Return why no rule applies."""
        if not self.has_commands or not any(rule.effect is Effect.ALLOW for rule in rules):
            return "no rule matches"
        if self._is_reserved:
            return (
                "no rule matches; only an exact rule can allow a command outside the sandbox, or one of scrubjay itself"
            )
        if len(self.runs) > 1:
            return "no rule matches; a command of several parts is allowed only if each of them is"
        return "no rule matches"

    def _text(self, field: str | None) -> str | None:
        """Return the text that a rule is compared with, or None if the field is missing."""
        if field is None:
            return self.whole
        value: Any = self.given
        for name in field.split("."):
            if not isinstance(value, Mapping) or name not in value:
                return None
            value = value[name]  # pyright: ignore[reportUnknownVariableType]
        return value if isinstance(value, str) else canonical(value)

    def _may_match(self, rule: PermissionRule) -> bool:
        """Return False if no text of a command can match; a cheap test that excludes most rules."""
        match rule.match_type:
            case MatchType.REGEX:
                return True
            case MatchType.GLOB:
                return all(piece in self.all_parts for piece in rule.pattern.split("*"))
            case MatchType.EXACT | MatchType.PREFIX:
                return rule.pattern in self.all_parts

    @property
    def _is_reserved(self) -> bool:
        """True if the call leaves the sandbox, or may change the rules themselves."""
        if self.given.get(UNSANDBOXED):
            return True
        texts = (word.text for run in self.runs for word in run.words)
        return OWN_NAME in self.all_parts.lower() or any(OWN_NAME in text.lower() for text in texts)

    def _fits_whole(self, rule: PermissionRule) -> bool:
        text = self._text(rule.field)
        return text is not None and fits(rule, text)

    def _fits_loosely(self, rule: PermissionRule, outer: Sequence[RunCommand]) -> bool:
        """Return True if the rule matches another field or JSON, and the only command does nothing further."""
        is_json = rule.field not in COMMANDS or isinstance(self.given.get(rule.field), list)
        if not is_json or len(self.runs) != 1 or self.problem is not None or self._leaves_folder(rule):
            return False
        return self._fits_whole(rule) and find_loose_coverage(rule, outer[0]).risk is None

    def _leaves_folder(self, rule: PermissionRule) -> bool:
        """Return True if a path in the text may leave the folder that the rule allows."""
        if self.has_commands and (rule.field is None or rule.field in COMMANDS):
            return False
        return _PARENT_FOLDER.search(self._text(rule.field) or "") is not None


def _is_by_part(rule: PermissionRule) -> bool:
    """Return True if each command is compared: a denied command is denied after another one too.

    A glob or a regular expression on the whole input is compared with its commands too: in JSON, a second space or a
    quote would hide a command from it.
    """
    is_whole = rule.field is None and rule.match_type in (MatchType.GLOB, MatchType.REGEX)
    return rule.effect is not Effect.ALLOW and (is_whole or rule.field in COMMANDS)


def _normalized(path: str) -> str:
    return re.sub("^/+", "/", posixpath.normpath(path))


def _reason(rule: PermissionRule) -> str:
    what = f"{rule.field} of {rule.tool_name}" if rule.field else f"the input of {rule.tool_name}"
    where = "in this project" if rule.project_id else "everywhere"
    note = f": {rule.note}" if rule.note else ""
    return f"rule {rule.id} ({rule.effect} {where}, {what} by {rule.match_type} {rule.pattern!r}){note}"
