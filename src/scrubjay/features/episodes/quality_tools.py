"""How good episodes are, and where that goes."""

from typing import Final

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.quality_stats import (
    LEAST_RECENT,
    MOST_EPISODES,
    EpisodeFigures,
    QualityReport,
    QualityTrend,
    TimeRange,
    TrendDirection,
)
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Share
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

_PERIODS: Final[dict[TimeRange, str]] = {
    "24h": "last 24 hours",
    "7d": "last 7 days",
    "30d": "last 30 days",
    "90d": "last 90 days",
    "all": "all time",
}
MUCH_REJECTED: Final = 50.0


class QualityMetricsRequest(Request):
    model_config = examples({}, {"time_range": "30d", "quality_threshold": 0.5})

    time_range: TimeRange = Field(default="7d", description="Episodes that ended within this time.")
    include_trends: bool = Field(default=True, description="Whether to tell where the quality goes.")
    quality_threshold: Share = Field(default=0.7, description="What has at least this score counts as accepted.")
    project: ProjectReference = None


class QualityTrendView(Result):
    """Where the quality goes: the slope over the last 30 % of the episodes, at least three."""

    direction: TrendDirection = Field(description="Stable unless the score changes by more than .02 an episode.")
    recent_scores: list[float] = Field(description="The last ones, the earliest first.")
    moving_average: float | None = Field(description="The mean of that last part; null without episodes.")
    confidence: float | None = Field(
        description="How improbable such a slope is by chance, 0 to 1; null with fewer than three episodes."
    )
    change_rate: float | None = Field(description="From one episode to the next; null likewise.")


class QualityMetricsResult(Result):
    average_quality_score: float | None = Field(description="Null when no episode ended in this time.")
    quality_score_distribution: dict[str, int] = Field(description="How many episodes have a score from .. up to.")
    total_episodes_attempted: int = Field(description="Complete episodes of this time.")
    episodes_accepted: int = Field(description="Those at the threshold or above.")
    episodes_rejected: int = Field(description="Those below. They are kept all the same, and say that they are so.")
    noise_reduction_rate: float | None = Field(description="The share of those below, in percent; null without any.")
    quality_trend: QualityTrendView | None = Field(description="Null when it was not asked for.")
    time_period: str
    recommendations: list[str]
    quality_threshold: float


@tool("episodes", core=False, read_only=True)
async def quality_metrics(
    request: QualityMetricsRequest, figures: EpisodeFigures, projects: ProjectService, context: CallContext
) -> QualityMetricsResult:
    """Tell how good the episodes of the last time are, how many are good enough to learn from, and where that goes."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    report = await figures.quality(
        visibility, request.time_range, request.quality_threshold, with_trend=request.include_trends
    )
    total = len(report.scores)
    rejected = total - report.accepted
    share = 100 * rejected / total if total else None
    return QualityMetricsResult(
        average_quality_score=report.average,
        quality_score_distribution=dict(report.buckets),
        total_episodes_attempted=total,
        episodes_accepted=report.accepted,
        episodes_rejected=rejected,
        noise_reduction_rate=share,
        quality_trend=None if report.trend is None else _trend(report.trend),
        time_period=_PERIODS[request.time_range],
        recommendations=_recommendations(report, share),
        quality_threshold=request.quality_threshold,
    )


def _trend(trend: QualityTrend) -> QualityTrendView:
    return QualityTrendView(
        direction=trend.direction,
        recent_scores=list(trend.recent_scores),
        moving_average=trend.moving_average,
        confidence=trend.confidence,
        change_rate=trend.change_rate,
    )


def _recommendations(report: QualityReport, rejected: float | None) -> list[str]:
    total = len(report.scores)
    if not total:
        return ["no episode ended in this time: complete some, or choose a longer time_range"]
    advice: list[str] = []
    if not report.is_complete:
        advice.append(f"there are more episodes than are looked at: these are the last {MOST_EPISODES}")
    if total < LEAST_RECENT:
        advice.append(f"{total} episodes say little: complete more")
    if rejected is not None and rejected > MUCH_REJECTED:
        advice.append("more than half are below the threshold: tell every step with its result, also what failed")
    if report.trend is not None and report.trend.direction == "Declining":
        advice.append("the quality declines: look at what the last episodes lack, by get_episode")
    return advice
