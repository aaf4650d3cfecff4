"""How much can be learned from an episode: a share of five, none of which decides whether it is kept."""

from typing import Final

from scrubjay.features.episodes.models import Episode, Quality
from scrubjay.features.episodes.step_stats import Tally

WEIGHTS: Final = {"complexity": 0.25, "diversity": 0.20, "error": 0.20, "reflection": 0.20, "novelty": 0.15}
THRESHOLD: Final = 0.7

# Up to so many, and what they count; the last is for more.
_BY_STEPS: Final = ((2, 0.1), (5, 0.25), (10, 0.35), (20, 0.45), (None, 0.5))
_BY_TOOLS: Final = ((1, 0.1), (3, 0.25), (6, 0.35), (10, 0.45), (None, 0.5))
_BY_ITEMS: Final = ((0, 0.0), (2, 0.3), (5, 0.6), (10, 0.8), (None, 1.0))
_BY_LESSONS: Final = ((0, 0.2), (2, 0.5), (5, 0.75), (None, 1.0))
# By how many kinds of results there are: successes, failures.
_KINDS: Final = (0.0, 0.3, 0.5)


def quality_of(episode: Episode, threshold: float = THRESHOLD) -> Quality:
    """Judged when it is complete: with its reflection, and with what was learned from it."""
    tally = Tally.of(episode.steps)
    parts = {
        "complexity": _counted(tally.steps, _BY_STEPS) + _counted(len(tally.tools), _BY_TOOLS),
        "diversity": _diversity(tally),
        "error": _error(tally),
        "reflection": _counted(episode.reflection.items if episode.reflection else 0, _BY_ITEMS),
        "novelty": _counted(len(episode.patterns) + len(episode.heuristics), _BY_LESSONS),
    }
    score = sum(weight * parts[name] for name, weight in WEIGHTS.items())
    return Quality(score=round(score, 6), threshold=threshold, **parts)


def _counted(count: int, bands: tuple[tuple[int | None, float], ...]) -> float:
    return next(value for most, value in bands if most is None or count <= most)


def _diversity(tally: Tally) -> float:
    """How different the actions are, and whether there were both successes and failures."""
    if not tally.steps:
        return 0.0
    return 0.6 * tally.actions / tally.steps + 0.4 * _KINDS[bool(tally.succeeded) + bool(tally.failed)]


def _error(tally: Tally) -> float:
    """How errors were dealt with: a few among many successes teach most."""
    rate = tally.error_rate
    if not tally.steps:
        return 0.5
    if not tally.failed:
        return 0.9
    if rate < 0.2 and tally.succeeded > tally.failed:
        return 1.0
    if rate < 0.4:
        return 0.6
    return 0.4 if rate < 0.6 and tally.succeeded else 0.2
