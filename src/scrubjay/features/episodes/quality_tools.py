"""Tool that reports episode quality and its trend."""

from typing import Final

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.quality_stats import (
    MAX_EPISODES,
    MIN_RECENT,
    EpisodeStatistics,
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
MANY_REJECTED_PERCENT: Final = 50.0


class QualityMetricsRequest(Request):
    model_config = examples({}, {"time_range": "30d", "quality_threshold": 0.5})

    time_range: TimeRange = Field(default="7d", description="Only episodes that ended in this period.")
    include_trends: bool = Field(default=True, description="Include the quality trend.")
    quality_threshold: Share = Field(default=0.7, description="Episodes with at least this score count as accepted.")
    project: ProjectReference = None


class QualityTrendView(Result):
    """Slope of the quality over the last 30 % of the episodes, at least three."""

    direction: TrendDirection = Field(description="Stable unless the score changes by more than .02 per episode.")
    recent_scores: list[float] = Field(description="At most ten, earliest first.")
    moving_average: float | None = Field(description="Mean of that last part; null without episodes.")
    confidence: float | None = Field(
        description="1 minus the p-value of the slope, 0 to 1; null with fewer than three episodes."
    )
    change_rate: float | None = Field(description="Change per episode; null with fewer than three episodes.")


class QualityMetricsResult(Result):
    average_quality_score: float | None = Field(description="Null when no episode ended in the period.")
    quality_score_distribution: dict[str, int] = Field(description="Number of episodes per score range.")
    total_episodes_attempted: int = Field(description="Complete episodes of the period.")
    episodes_accepted: int = Field(description="Episodes at or above the threshold.")
    episodes_rejected: int = Field(
        description="Episodes below the threshold. They are stored and marked as low quality."
    )
    noise_reduction_rate: float | None = Field(
        description="Share of rejected episodes, in percent; null without episodes."
    )
    quality_trend: QualityTrendView | None = Field(description="Null when include_trends is false.")
    time_period: str
    recommendations: list[str]
    quality_threshold: float


@tool("episodes", core=False, read_only=True)
async def quality_metrics(
    request: QualityMetricsRequest, statistics: EpisodeStatistics, projects: ProjectService, context: CallContext
) -> QualityMetricsResult:
    """Report the average quality of recent episodes, the share above a threshold, and the trend."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    report = await statistics.quality(
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
        return ["no episode ended in this period: complete some, or choose a longer time_range"]
    advice: list[str] = []
    if not report.is_complete:
        advice.append(f"only the last {MAX_EPISODES} episodes of the period were analysed")
    if total < MIN_RECENT:
        advice.append(f"{total} episodes are too few for a trend: complete more")
    if rejected is not None and rejected > MANY_REJECTED_PERCENT:
        advice.append("more than half are below the threshold: record every step with its result, including failures")
    if report.trend is not None and report.trend.direction == "Declining":
        advice.append("the quality declines: inspect the last episodes with get_episode")
    return advice
