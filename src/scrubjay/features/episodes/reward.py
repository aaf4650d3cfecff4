"""Reward of an episode, from its outcome, duration, number of steps, difficulty and learned patterns."""

from math import exp, isfinite
from typing import Final

from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    FailureOutcome,
    PartialSuccessOutcome,
    Reward,
    SuccessOutcome,
)
from scrubjay.features.episodes.step_stats import StepCounts

_COMPLEXITY: Final = {Complexity.SIMPLE: 1.0, Complexity.MODERATE: 1.1, Complexity.COMPLEX: 1.2}
# Bounds of the efficiency and quality factors.
_MIN_FACTOR, _MAX_FACTOR = 0.5, 1.5
MAX_LEARNING_BONUS: Final = 0.5
MAX_PATTERN_BONUS: Final = 0.3
MAX_ADOPTION_BONUS: Final = 0.3
FAST_SECONDS: Final = 30


def reward_of(episode: Episode) -> Reward:
    """Return the reward of an episode that has its outcome and end time; its `patterns` count towards the bonus."""
    counts = StepCounts.of(episode.steps)
    base, efficiency = _base(episode), _efficiency(episode, counts)
    complexity, multiplier = _COMPLEXITY[episode.context.complexity], _quality_multiplier(episode, counts)
    learning = _learning_bonus(episode, counts) + _adoption_bonus(episode)
    return Reward(
        total=round(base * efficiency * complexity * multiplier + learning, 6),
        base=base,
        efficiency=efficiency,
        complexity_bonus=complexity,
        quality_multiplier=multiplier,
        learning_bonus=learning,
    )


def _base(episode: Episode) -> float:
    match episode.outcome:
        case SuccessOutcome():
            return 1.0
        case PartialSuccessOutcome(completed=completed, failed=failed):
            subtasks = len(completed) + len(failed)
            return len(completed) / subtasks if subtasks else 0.5
        case FailureOutcome() | None:
            return 0.0


def _efficiency(episode: Episode, counts: StepCounts) -> float:
    by_steps = 0.5 + exp(-(counts.steps / 10) / 2) if counts.steps else 0.5
    return _clamp(0.5 * _by_time(episode.duration_seconds) + 0.5 * by_steps)


def _by_time(seconds: float | None) -> float:
    if seconds is None:
        return 1.0
    return _MAX_FACTOR if seconds <= 0 else 0.5 + exp(-(seconds / 60) / 2)


def _quality_multiplier(episode: Episode, counts: StepCounts) -> float:
    artifacts = episode.outcome.artifacts if isinstance(episode.outcome, SuccessOutcome) else ()
    factor = 1.0
    if any("coverage" in name.lower() or "test" in name.lower() for name in artifacts):
        factor += 0.1
    if len(artifacts) >= 3:
        factor += 0.05
    coverage = _number(episode.metadata.get("test_coverage"))
    if coverage is not None and coverage > 60:
        factor += 0.15 if coverage > 80 else 0.1
    if counts.error_rate > 0.1:
        factor -= 0.2 if counts.error_rate > 0.3 else 0.1
    elif counts.steps and not counts.failed:
        factor += 0.1
    if episode.metadata.get("clippy_warnings") == "0":
        factor += 0.05
    return _clamp(factor)


def _learning_bonus(episode: Episode, counts: StepCounts) -> float:
    bonus = min(0.1 * len(episode.patterns), MAX_PATTERN_BONUS)
    if counts.steps >= 3 and len(counts.tools) >= 3:
        bonus += 0.15 if len(counts.tools) >= 5 else 0.1
    if counts.success_rate > 0.9 and counts.steps >= 5:
        bonus += 0.2
    elif counts.steps >= 3 and counts.succeeded == counts.steps:
        bonus += 0.15
    if counts.recoveries:
        bonus += 0.15
    seconds = episode.duration_seconds
    if seconds is not None and seconds < FAST_SECONDS and counts.steps < 10:
        bonus += 0.1
    return round(min(bonus, MAX_LEARNING_BONUS), 6)


def _adoption_bonus(episode: Episode) -> float:
    """Return the bonus of a success that applied known patterns."""
    if not isinstance(episode.outcome, SuccessOutcome):
        return 0.0
    return round(min(0.1 * len(episode.applied_patterns), MAX_ADOPTION_BONUS), 6)


def _clamp(value: float) -> float:
    return round(max(_MIN_FACTOR, min(_MAX_FACTOR, value)), 6)


def _number(text: str | None) -> float | None:
    """Parse a percentage such as "85" or "85.5%"; None for other texts."""
    try:
        number = float((text or "").strip().removesuffix("%"))
    except ValueError:
        return None
    return number if isfinite(number) else None
