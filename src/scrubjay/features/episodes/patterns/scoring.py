"""How well a pattern fits a task: five parts, each 0 to 1, and their weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp
from typing import Final

from scrubjay.features.episodes.patterns.models import Pattern
from scrubjay.features.episodes.patterns.similarity import jaccard

# After so many days without use a pattern counts for a third.
DAYS: Final = 30.0
NO_CONTEXT: Final = 0.3
# What an effectiveness score reaches when every use went well, often: a share of it is told.
_FULL_EFFECT: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each part counts; together 1."""

    semantic: float
    context: float
    effectiveness: float
    recency: float
    success: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """The parts of a score."""

    semantic_similarity: float
    context_match: float
    effectiveness: float
    recency: float
    success_rate: float

    def weighed(self, weights: Weights) -> float:
        return (
            weights.semantic * self.semantic_similarity
            + weights.context * self.context_match
            + weights.effectiveness * self.effectiveness
            + weights.recency * self.recency
            + weights.success * self.success_rate
        )


def breakdown(pattern: Pattern, semantic: float, domain: str, tags: Sequence[str], now: datetime) -> Breakdown:
    last = max(pattern.last_seen, pattern.effectiveness.last_used or pattern.last_seen)
    days = max(0.0, (now - last).total_seconds() / 86_400)
    return Breakdown(
        semantic_similarity=min(1.0, max(0.0, semantic)),
        context_match=_context(pattern, domain, tags),
        effectiveness=min(1.0, pattern.effectiveness.score / _FULL_EFFECT),
        recency=exp(-days / DAYS),
        success_rate=pattern.success_rate,
    )


def _context(pattern: Pattern, domain: str, tags: Sequence[str]) -> float:
    """The mean of whether the domain is the same and of what the tags share; tags count when some are asked for."""
    if not domain.strip():
        return NO_CONTEXT
    same = float(pattern.context.domain.casefold().strip() == domain.casefold().strip())
    return (same + jaccard(pattern.context.tags, tags)) / 2 if tags else same
