"""Permission rules and the verdict on a call."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Effect(StrEnum):
    """Effect of a rule; of several matching rules, the first in this order decides."""

    DENY = "deny"
    ASK = "ask"
    ALLOW = "allow"


class MatchType(StrEnum):
    """How a rule's pattern is compared with the tool's input."""

    EXACT = "exact"
    PREFIX = "prefix"
    GLOB = "glob"
    REGEX = "regex"


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRule:
    """One permission rule."""

    id: str
    effect: Effect
    tool_name: str
    """Tool name; `*` matches any characters."""
    match_type: MatchType
    pattern: str
    field: str | None = None
    """Input field to compare, with dots for nested fields; None for the whole input as canonical JSON."""
    project_id: str | None = None
    """None for a global rule."""
    note: str | None = None
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True)
class PermissionVerdict:
    """Decision of the rules on one tool call."""

    effect: Effect | None
    """None if no rule applies; the agent then decides as without rules."""
    reason: str
    rule: PermissionRule | None = None
    others: Sequence[PermissionRule] = ()
    """Further matching rules that do not decide."""
