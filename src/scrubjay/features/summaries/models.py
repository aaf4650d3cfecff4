"""What a session, a day or a week came to, and what that is told from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from typing import ClassVar

from scrubjay.core.scopes import Scope


class Level(IntEnum):
    """What a summary is of."""

    SESSION = 1
    DAY = 2
    WEEK = 3


class SummaryCategory(StrEnum):
    """What sort of work it was."""

    BUGFIX = "bugfix"
    FEATURE = "feature"
    REFACTORING = "refactoring"
    DOCUMENTATION = "documentation"
    NEW_APP = "new-app"
    ANALYSIS = "analysis"
    OTHER = "other"


class Method(StrEnum):
    """Who wrote a summary."""

    EXTRACTIVE = "extractive"
    """Sentences that were said, chosen by rules, and scores counted by rules."""
    LLM = "llm"


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody asked an agent, what it thought, and what it answered."""

    prompt: str
    thought: str
    response: str


@dataclass(frozen=True, slots=True)
class Told:
    """Something else that was kept in a session."""

    text: str
    importance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a session's summary is made of."""

    turns: Sequence[Turn]
    facts: Sequence[Told] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """How the work went, each from 0 to 100."""

    quality: int
    """Flow and focus."""
    productivity: int
    """Goals reached."""
    impact: int
    """Significance."""
    complexity: int
    """Touch points and depth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What it came to."""

    title: str
    text: str
    category: SummaryCategory
    scores: Scores
    technologies: tuple[str, ...]
    method: Method
    model: str | None = None
    """The language model that wrote it."""
    by_rule: tuple[str, ...] = ()
    """What the language model left out and rules made up for."""
    evidence: Mapping[str, float] = field(default_factory=dict[str, float])
    """What was counted for scores that rules gave."""


@dataclass(frozen=True, slots=True)
class SessionToSummarise:
    """A session whose summary is missing, or older than what was said."""

    scope: Scope
    project_id: str | None
    name: str
    """The session's id."""
    turns: int
    through: str
    """The greatest id of its turns."""
    level: ClassVar = Level.SESSION


@dataclass(frozen=True, slots=True)
class PeriodToSummarise:
    """A day or a week that is over and whose summary is missing, or older than what it is made of."""

    scope: Scope
    project_id: str | None
    level: Level
    name: str
    """Such as 2026-05-01 or 2026-W18."""
    parts: int
    changed_at: int
    """When one of its parts changed last, as the store counts time."""

    @property
    def span(self) -> tuple[datetime, datetime]:
        """From when until when, in UTC."""
        start = datetime.fromisoformat(self.name).replace(tzinfo=UTC)
        return start, start + timedelta(days=7 if self.level is Level.WEEK else 1)


# The beginning of a summary's key, which ends with the session's id or the period's name.
KEY_PREFIXES = {Level.SESSION: "summary:", Level.DAY: "summary-day:", Level.WEEK: "summary-week:"}
# The tag that tells a summary's level where summaries are filtered.
LEVEL_TAGS = {level: f"summary-of-{level.name.lower()}" for level in Level}
