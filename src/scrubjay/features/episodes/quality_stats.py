"""Quality statistics and trend over all visible episodes."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil, fsum, sqrt
from typing import Final, Literal

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.scopes import Visibility
from scrubjay.features.analysis.distributions import two_sided_t
from scrubjay.features.episodes.patterns.store import EpisodeCounts, PatternStore

TimeRange = Literal["24h", "7d", "30d", "90d", "all"]
TrendDirection = Literal["Improving", "Stable", "Declining", "Unknown"]

_RANGES: Final[Mapping[str, timedelta | None]] = {
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
    "all": None,
}
BUCKETS: Final[tuple[str, ...]] = ("0.0-0.3", "0.3-0.5", "0.5-0.7", "0.7-0.9", "0.9-1.0")
_BOUNDS: Final = (0.3, 0.5, 0.7, 0.9)
MAX_EPISODES: Final = 100_000
# The trend is computed over this last share of the episodes, at least three.
RECENT_SHARE, MIN_RECENT = 0.3, 3
MAX_SHOWN: Final = 10
# Smaller slopes per episode count as stable.
CHANGING: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityTrend:
    """Trend of episode quality."""

    direction: TrendDirection
    recent_scores: Sequence[float]
    """Earliest first."""
    moving_average: float | None
    confidence: float | None
    """1 minus the p-value of the slope, 0 to 1; None with fewer than three episodes."""
    change_rate: float | None
    """Slope of the score per episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReport:
    """Quality of the episodes of a period."""

    scores: Sequence[float]
    accepted: int
    buckets: Mapping[str, int]
    trend: QualityTrend | None
    is_complete: bool
    """False when the period has more episodes than `MAX_EPISODES`."""

    @property
    def average(self) -> float | None:
        return fsum(self.scores) / len(self.scores) if self.scores else None


class EpisodeStatistics:
    """Compute statistics of the episodes of one store."""

    def __init__(self, store: PatternStore, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._clock = clock

    async def counts(self, visibility: Visibility) -> EpisodeCounts:
        return await self._store.counts(visibility)

    async def quality(
        self, visibility: Visibility, time_range: TimeRange, threshold: float, *, with_trend: bool
    ) -> QualityReport:
        span = _RANGES[time_range]
        since = None if span is None else self._clock() - span
        points = await self._store.quality_points(visibility, since, MAX_EPISODES + 1)
        scores = [point.score for point in points[-MAX_EPISODES:]]
        return QualityReport(
            scores=scores,
            accepted=sum(score >= threshold for score in scores),
            buckets=_buckets(scores),
            trend=quality_trend(scores) if with_trend else None,
            is_complete=len(points) <= MAX_EPISODES,
        )


def _buckets(scores: Sequence[float]) -> dict[str, int]:
    counts = [0] * len(BUCKETS)
    for score in scores:
        counts[bisect_right(_BOUNDS, score)] += 1
    return dict(zip(BUCKETS, counts, strict=True))


def quality_trend(scores: Sequence[float]) -> QualityTrend:
    """Return the slope over the last part of the scores; "Unknown" with fewer than three."""
    recent = list(scores[-max(MIN_RECENT, ceil(RECENT_SHARE * len(scores))) :])
    shown = recent[-MAX_SHOWN:]
    average = fsum(recent) / len(recent) if recent else None
    if len(recent) < MIN_RECENT or average is None:
        return QualityTrend(
            direction="Unknown", recent_scores=shown, moving_average=average, confidence=None, change_rate=None
        )
    middle = (len(recent) - 1) / 2
    squares = fsum((index - middle) ** 2 for index in range(len(recent)))
    slope = fsum((index - middle) * (score - average) for index, score in enumerate(recent)) / squares
    rest = fsum((score - average - slope * (index - middle)) ** 2 for index, score in enumerate(recent))
    direction: TrendDirection = "Stable"
    if abs(slope) > CHANGING:
        direction = "Improving" if slope > 0 else "Declining"
    return QualityTrend(
        direction=direction,
        recent_scores=shown,
        moving_average=average,
        confidence=1 - _p_value(slope, rest / (len(recent) - 2), squares, len(recent) - 2),
        change_rate=slope,
    )


def _p_value(slope: float, variance: float, squares: float, degrees: int) -> float:
    """Return the p-value of the slope by Student's t-test."""
    if variance <= 1e-24:
        return 1.0 if abs(slope) < 1e-12 else 0.0
    return two_sided_t(slope / sqrt(variance / squares), degrees)
