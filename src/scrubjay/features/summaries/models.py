"""Values of summaries of sessions, days and weeks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from typing import ClassVar

from scrubjay.core.scopes import Scope
from scrubjay.features.summaries.outcome import SessionOutcome


class Level(IntEnum):
    """Period that a summary covers."""

    SESSION = 1
    DAY = 2
    WEEK = 3


class SummaryCategory(StrEnum):
    """Category of work."""

    BUGFIX = "bugfix"
    FEATURE = "feature"
    REFACTORING = "refactoring"
    DOCUMENTATION = "documentation"
    NEW_APP = "new-app"
    ANALYSIS = "analysis"
    OTHER = "other"


class GenerationMethod(StrEnum):
    """How a summary or a fact was made."""

    EXTRACTIVE = "extractive"
    """By rules, from original sentences."""
    LLM = "llm"
    """By a language model."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Prompt, thought and response of a conversation turn."""

    prompt: str
    thought: str
    response: str


@dataclass(frozen=True, slots=True)
class SessionFact:
    """A memory of a session other than a turn."""

    text: str
    importance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMaterial:
    """The turns and facts of a session."""

    turns: Sequence[Turn]
    facts: Sequence[SessionFact] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkScores:
    """Scores of the work, each from 0 to 100."""

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
    """A summary of a session, a day or a week."""

    title: str
    text: str
    category: SummaryCategory
    scores: WorkScores
    technologies: tuple[str, ...]
    method: GenerationMethod
    model: str | None = None
    """Language model that wrote it; None if extractive."""
    rule_fields: tuple[str, ...] = ()
    """Fields that the language model omitted and rules filled in."""
    evidence: Mapping[str, float] = field(default_factory=dict[str, float])
    """Counts behind the scores that rules computed."""
    outcome: SessionOutcome | None = None
    """What the next session needs, by rules; None for a day or a week, and for a summary made elsewhere."""


@dataclass(frozen=True, slots=True)
class PendingSession:
    """A session without an up-to-date summary."""

    scope: Scope
    project_id: str | None
    name: str
    """Id of the session."""
    turns: int
    through: str
    """Highest id of its turns."""
    level: ClassVar = Level.SESSION


@dataclass(frozen=True, slots=True)
class PendingPeriod:
    """A completed day or week without an up-to-date summary."""

    scope: Scope
    project_id: str | None
    level: Level
    name: str
    """Such as 2026-05-01 or 2026-W18."""
    parts: int
    """Number of its summarised sessions or days."""
    changed_at: int
    """Time of the last change of a part, in microseconds since 1970."""

    @property
    def span(self) -> tuple[datetime, datetime]:
        """Start and end in UTC; the end is exclusive."""
        start = datetime.fromisoformat(self.name).replace(tzinfo=UTC)
        return start, start + timedelta(days=7 if self.level is Level.WEEK else 1)


# Prefix of a summary's key, followed by the session's id or the period's name.
KEY_PREFIXES = {Level.SESSION: "summary:", Level.DAY: "summary-day:", Level.WEEK: "summary-week:"}
# Tag of a summary's level, used to filter summaries.
LEVEL_TAGS = {level: f"summary-of-{level.name.lower()}" for level in Level}
