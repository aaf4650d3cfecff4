"""What an episode is worth, by how it ended, how fast it went, how hard it was, and what was learned."""

from math import exp, isfinite
from typing import Final

from scrubjay.features.episodes.models import Complexity, Episode, Failure, PartialSuccess, Reward, Success
from scrubjay.features.episodes.step_stats import Tally

_COMPLEXITY: Final = {Complexity.SIMPLE: 1.0, Complexity.MODERATE: 1.1, Complexity.COMPLEX: 1.2}
# Neither speed nor signs of quality make more of it than this, or less than that.
_LEAST, _MOST = 0.5, 1.5
MOST_LEARNING: Final = 0.5
MOST_BY_PATTERNS: Final = 0.3
MOST_BY_ADOPTION: Final = 0.3
FAST_SECONDS: Final = 30


def reward_of(episode: Episode) -> Reward:
    """Of an episode that has its outcome and its end; of patterns those count that it names."""
    tally = Tally.of(episode.steps)
    base, efficiency = _base(episode), _efficiency(episode, tally)
    complexity, multiplier = _COMPLEXITY[episode.context.complexity], _quality_multiplier(episode, tally)
    learning = _learning_bonus(episode, tally) + _adoption_bonus(episode)
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
        case Success():
            return 1.0
        case PartialSuccess(completed=completed, failed=failed):
            parts = len(completed) + len(failed)
            return len(completed) / parts if parts else 0.5
        case Failure() | None:
            return 0.0


def _efficiency(episode: Episode, tally: Tally) -> float:
    by_steps = 0.5 + exp(-(tally.steps / 10) / 2) if tally.steps else 0.5
    return _clamped(0.5 * _by_time(episode.duration_seconds) + 0.5 * by_steps)


def _by_time(seconds: float | None) -> float:
    if seconds is None:
        return 1.0
    return _MOST if seconds <= 0 else 0.5 + exp(-(seconds / 60) / 2)


def _quality_multiplier(episode: Episode, tally: Tally) -> float:
    artifacts = episode.outcome.artifacts if isinstance(episode.outcome, Success) else ()
    told = 1.0
    if any("coverage" in name.lower() or "test" in name.lower() for name in artifacts):
        told += 0.1
    if len(artifacts) >= 3:
        told += 0.05
    coverage = _number(episode.metadata.get("test_coverage"))
    if coverage is not None and coverage > 60:
        told += 0.15 if coverage > 80 else 0.1
    if tally.error_rate > 0.1:
        told -= 0.2 if tally.error_rate > 0.3 else 0.1
    elif tally.steps and not tally.failed:
        told += 0.1
    if episode.metadata.get("clippy_warnings") == "0":
        told += 0.05
    return _clamped(told)


def _learning_bonus(episode: Episode, tally: Tally) -> float:
    bonus = min(0.1 * len(episode.patterns), MOST_BY_PATTERNS)
    if tally.steps >= 3 and len(tally.tools) >= 3:
        bonus += 0.15 if len(tally.tools) >= 5 else 0.1
    if tally.success_rate > 0.9 and tally.steps >= 5:
        bonus += 0.2
    elif tally.steps >= 3 and tally.succeeded == tally.steps:
        bonus += 0.15
    if tally.recoveries:
        bonus += 0.15
    seconds = episode.duration_seconds
    if seconds is not None and seconds < FAST_SECONDS and tally.steps < 10:
        bonus += 0.1
    return round(min(bonus, MOST_LEARNING), 6)


def _adoption_bonus(episode: Episode) -> float:
    """What it adds to a success that it went by patterns of earlier ones."""
    if not isinstance(episode.outcome, Success):
        return 0.0
    return round(min(0.1 * len(episode.applied_patterns), MOST_BY_ADOPTION), 6)


def _clamped(value: float) -> float:
    return round(max(_LEAST, min(_MOST, value)), 6)


def _number(text: str | None) -> float | None:
    """A share such as "85" or "85.5%"; None when it is not one."""
    try:
        number = float((text or "").strip().removesuffix("%"))
    except ValueError:
        return None
    return number if isfinite(number) else None
