"""What a backend must offer to keep what episodes teach."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import Episode, OutcomeType, TaskType
from scrubjay.features.episodes.patterns.models import Lessons, Pattern, PatternType


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternFilter:
    """Which patterns are meant; an empty filter means all that can be seen."""

    task_type: TaskType | None = None
    domain: str | None = None
    """Whatever its capitals."""
    least_success_rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pattern that may fit, and its meaning."""

    pattern: Pattern
    vector: bytes | None
    """Of the model that was asked for; None when it has none, empty when the model sees no meaning in it."""


@dataclass(frozen=True, slots=True)
class QualityPoint:
    """How good an episode was, and when it ended."""

    at: datetime
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeCounts:
    """What there is of episodes."""

    open: int
    outcomes: Mapping[OutcomeType, int]
    """Complete ones, by how they ended."""
    steps: int
    average_reward: float | None
    average_quality: float | None
    average_seconds: float | None
    patterns: Mapping[PatternType, int]


class PatternStore(Protocol):
    """Keeps patterns, each of one project or of all. New ones come with the completion of an episode."""

    async def get(self, visibility: Visibility, pattern_id: str) -> Pattern | None: ...

    async def alike(self, episode: Episode, kind: PatternType, limit: int) -> Sequence[Pattern]:
        """Patterns of a kind, of an episode's very project, domain and sort of work; those that were seen last."""
        ...

    async def find(self, visibility: Visibility, only: PatternFilter) -> Sequence[Pattern]:
        """All that pass, those that were seen most often first."""
        ...

    async def candidates(self, visibility: Visibility, only: PatternFilter, model: str) -> Sequence[Candidate]:
        """All that pass, each with its vector of a model."""
        ...

    async def set_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Give patterns the vectors of a model; those that are gone are passed over."""
        ...

    async def retrieved(self, pattern_ids: Sequence[str], at: datetime, episode_id: str | None = None) -> None:
        """Count that these were told to somebody, and for which open episode."""
        ...

    async def unlearned(self, limit: int) -> Sequence[tuple[str, str | None]]:
        """Complete episodes that nothing was looked for in yet: their ids and projects; for maintenance only."""
        ...

    async def teach(self, episode: Episode, lessons: Lessons) -> bool:
        """Keep what a complete episode teaches; False when that was done already, or the episode is gone."""
        ...

    async def qualities(self, visibility: Visibility, since: datetime | None, limit: int) -> Sequence[QualityPoint]:
        """Of complete episodes, the last ones, the earliest first."""
        ...

    async def counts(self, visibility: Visibility) -> EpisodeCounts: ...
