"""Storage interface of patterns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import Episode, OutcomeType, TaskType
from scrubjay.features.episodes.patterns.models import Lessons, Pattern, PatternType


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternFilter:
    """Filter for patterns; an empty filter matches all visible ones."""

    task_type: TaskType | None = None
    domain: str | None = None
    """Case-insensitive."""
    min_success_rate: float = 0.0


@dataclass(frozen=True, slots=True)
class PatternCandidate:
    """A pattern that may match, with its vector."""

    pattern: Pattern
    vector: bytes | None
    """Vector of the requested model; None when missing, empty when the model cannot embed the text."""


@dataclass(frozen=True, slots=True)
class QualityPoint:
    """Quality of an episode at its end time."""

    at: datetime
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeCounts:
    """Statistics of the stored episodes."""

    open: int
    outcomes: Mapping[OutcomeType, int]
    """Number of complete episodes by outcome."""
    steps: int
    average_reward: float | None
    average_quality: float | None
    average_seconds: float | None
    patterns: Mapping[PatternType, int]


class PatternStore(Protocol):
    """Stores patterns, each of one project or global. New ones are stored when an episode is completed."""

    async def get(self, visibility: Visibility, pattern_id: str) -> Pattern | None: ...

    async def same_kind(self, episode: Episode, kind: PatternType, limit: int) -> Sequence[Pattern]:
        """Return patterns of a type with the episode's project, domain and task type, most recently seen first."""
        ...

    async def find(self, visibility: Visibility, only: PatternFilter) -> Sequence[Pattern]:
        """Return the matching patterns, most frequent first."""
        ...

    async def candidates(self, visibility: Visibility, only: PatternFilter, model: str) -> Sequence[PatternCandidate]:
        """Return the matching patterns, each with its vector of a model."""
        ...

    async def set_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors of patterns; deleted patterns are ignored."""
        ...

    async def record_retrieval(self, pattern_ids: Sequence[str], at: datetime, episode_id: str | None = None) -> None:
        """Count a retrieval of these patterns, and link them to the open episode they were recommended for."""
        ...

    async def recommended_for(self, episode_id: str) -> frozenset[str]:
        """Return the ids of the patterns that were recommended for an episode."""
        ...

    async def unlearned(self, limit: int) -> Sequence[tuple[str, str | None]]:
        """Return ids and projects of complete episodes without a learning result; for maintenance only."""
        ...

    async def add_lessons(self, episode: Episode, lessons: Lessons) -> bool:
        """Store the lessons of a complete episode; return False if that was done before or the episode is deleted."""
        ...

    async def quality_points(
        self, visibility: Visibility, since: datetime | None, limit: int
    ) -> Sequence[QualityPoint]:
        """Return the quality of the last complete episodes, earliest first."""
        ...

    async def counts(self, visibility: Visibility) -> EpisodeCounts: ...
