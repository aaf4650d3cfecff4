"""Score of a pattern for a task: the weighted sum of five components, each 0 to 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp
from typing import Final

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
    """Components of a score, each 0 to 1."""

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


def break_down(pattern: Pattern, semantic: float, domain: str, tags: Sequence[str], now: datetime) -> ScoreComponents:
    last = max(pattern.last_seen, pattern.effectiveness.last_used or pattern.last_seen)
    days = max(0.0, (now - last).total_seconds() / 86_400)
    return ScoreComponents(
        semantic_similarity=min(1.0, max(0.0, semantic)),
        context_match=_context(pattern, domain, tags),
        effectiveness=min(1.0, pattern.effectiveness.score / _MAX_EFFECTIVENESS),
        recency=exp(-days / RECENCY_DAYS),
        success_rate=pattern.success_rate,
    )


def _context(pattern: Pattern, domain: str, tags: Sequence[str]) -> float:
    """Return 1 for the same domain, else 0; with tags, the mean of that and the overlap of the tags."""
    if not domain.strip():
        return NO_DOMAIN_SCORE
    same = float(pattern.context.domain.casefold().strip() == domain.casefold().strip())
    return (same + jaccard(pattern.context.tags, tags)) / 2 if tags else same
