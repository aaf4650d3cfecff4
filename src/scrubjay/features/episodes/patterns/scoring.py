"""Score of a pattern for a task: the weighted sum of five components, each 0 to 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp
from typing import Final

from scrubjay.features.episodes.models import TaskType
from scrubjay.features.episodes.patterns.models import Pattern
from scrubjay.features.episodes.patterns.similarity import jaccard

# Decay of the recency component: about a third remains after this many days without use.
RECENCY_DAYS: Final = 30.0
NO_DOMAIN_SCORE: Final = 0.3
# Effectiveness score of a pattern whose many applications all succeeded; scales the component to 0 to 1.
_MAX_EFFECTIVENESS: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreWeights:
    """Weights of the components; their sum is 1."""

    semantic: float
    context: float
    effectiveness: float
    recency: float
    success: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComponents:
    """Components of a score, each 0 to 1; `success_rate` is the expected one, which weighs the number of episodes."""

    semantic_similarity: float
    context_match: float
    effectiveness: float
    recency: float
    success_rate: float

    def weighted_sum(self, weights: ScoreWeights) -> float:
        return (
            weights.semantic * self.semantic_similarity
            + weights.context * self.context_match
            + weights.effectiveness * self.effectiveness
            + weights.recency * self.recency
            + weights.success * self.success_rate
        )


def break_down(
    pattern: Pattern, semantic: float, domain: str, tags: Sequence[str], task_type: TaskType | None, now: datetime
) -> ScoreComponents:
    last = max(pattern.last_seen, pattern.effectiveness.last_used or pattern.last_seen)
    days = max(0.0, (now - last).total_seconds() / 86_400)
    return ScoreComponents(
        semantic_similarity=min(1.0, max(0.0, semantic)),
        context_match=_context(pattern, domain, tags, task_type),
        effectiveness=min(1.0, pattern.effectiveness.score / _MAX_EFFECTIVENESS),
        recency=exp(-days / RECENCY_DAYS),
        success_rate=pattern.expected_success,
    )


def _context(pattern: Pattern, domain: str, tags: Sequence[str], task_type: TaskType | None) -> float:
    """Return the mean of what is given: equal domain (1 or 0), equal kind of task, and the overlap of the tags."""
    parts: list[float] = []
    if domain.strip():
        parts.append(float(pattern.context.domain.casefold().strip() == domain.casefold().strip()))
    else:
        parts.append(NO_DOMAIN_SCORE)
    if task_type is not None:
        parts.append(float(pattern.task_type is task_type))
    if tags and domain.strip():
        parts.append(jaccard(pattern.context.tags, tags))
    return sum(parts) / len(parts)
