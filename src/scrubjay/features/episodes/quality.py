"""Quality score of an episode: a weighted sum of five components. Episodes are stored whatever their score."""

from typing import Final

from scrubjay.features.episodes.models import Episode, Quality
from scrubjay.features.episodes.step_stats import StepCounts

WEIGHTS: Final = {"complexity": 0.25, "diversity": 0.20, "error": 0.20, "reflection": 0.20, "novelty": 0.15}
THRESHOLD: Final = 0.7

# (maximum count, value); the last entry applies to all larger counts.
_BY_STEPS: Final = ((2, 0.1), (5, 0.25), (10, 0.35), (20, 0.45), (None, 0.5))
_BY_TOOLS: Final = ((1, 0.1), (3, 0.25), (6, 0.35), (10, 0.45), (None, 0.5))
_BY_ITEMS: Final = ((0, 0.0), (2, 0.3), (5, 0.6), (10, 0.8), (None, 1.0))
_BY_LESSONS: Final = ((0, 0.2), (2, 0.5), (5, 0.75), (None, 1.0))
# Indexed by the number of distinct result kinds (success, failure).
_KINDS: Final = (0.0, 0.3, 0.5)


def quality_of(episode: Episode, threshold: float = THRESHOLD) -> Quality:
    """Return the quality of an episode that has its reflection, patterns and heuristics."""
    counts = StepCounts.of(episode.steps)
    parts = {
        "complexity": _counted(counts.steps, _BY_STEPS) + _counted(len(counts.tools), _BY_TOOLS),
        "diversity": _diversity(counts),
        "error": _error(counts),
        "reflection": _counted(episode.reflection.items if episode.reflection else 0, _BY_ITEMS),
        "novelty": _counted(len(episode.patterns) + len(episode.heuristics), _BY_LESSONS),
    }
    score = sum(weight * parts[name] for name, weight in WEIGHTS.items())
    return Quality(score=round(score, 6), threshold=threshold, **parts)


def _counted(count: int, bands: tuple[tuple[int | None, float], ...]) -> float:
    return next(value for most, value in bands if most is None or count <= most)


def _diversity(counts: StepCounts) -> float:
    """Return the diversity of actions, raised when there are both successes and failures."""
    if not counts.steps:
        return 0.0
    return 0.6 * counts.actions / counts.steps + 0.4 * _KINDS[bool(counts.succeeded) + bool(counts.failed)]


def _error(counts: StepCounts) -> float:
    """Score the error rate: a few errors among many successes score highest."""
    rate = counts.error_rate
    if not counts.steps:
        return 0.5
    if not counts.failed:
        return 0.9
    if rate < 0.2 and counts.succeeded > counts.failed:
        return 1.0
    if rate < 0.4:
        return 0.6
    return 0.4 if rate < 0.6 and counts.succeeded else 0.2
