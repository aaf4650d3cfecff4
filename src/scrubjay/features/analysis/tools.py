"""Series of numbers: what goes with what, where something changed, how it goes on."""

from typing import Annotated, Literal

from pydantic import Field

from scrubjay.features.analysis.models import ChangeType, Direction, RelationshipType
from scrubjay.features.analysis.service import (
    Analysis,
    AnalysisChoices,
    AnalysisType,
    Analyst,
    Measured,
    PredictivePart,
    StatisticalPart,
)
from scrubjay.features.analysis.summary import summarised
from scrubjay.tooling.arguments import Share
from scrubjay.tooling.declaration import Request, Result, examples, tool

MOST_SERIES = 32
# The largest series that is taken in; of each, config.max_data_points are used.
MOST_GIVEN = 200_000

# Sums of squares of larger numbers are none any more.
Number = Annotated[float, Field(ge=-1e100, le=1e100, allow_inf_nan=False)]
Series = Annotated[list[Number], Field(min_length=3, max_length=MOST_GIVEN)]
SeriesName = Annotated[str, Field(min_length=1, max_length=200)]


class AnalysisConfig(Request):
    """How it is analysed."""

    significance_level: Annotated[float, Field(ge=1e-6, le=0.5)] = Field(
        default=0.05, description="How often chance alone may be taken for a finding, over all tests of a kind."
    )
    forecast_horizon: int = Field(default=10, ge=1, le=100, description="How many points ahead.")
    anomaly_sensitivity: Share = Field(default=0.5, description="0: only what is very far from all else. 1: much.")
    enable_causal_inference: bool = Field(default=True, description="Whether it is tested which series leads which.")
    max_data_points: int = Field(
        default=10_000, ge=3, le=100_000, description="Of a longer series only as many are used, the last ones."
    )
    parallel_processing: bool = Field(
        default=True,
        description="Changes nothing in the answer: each analysis has a thread of its own, and two are not faster.",
    )


class AdvancedPatternAnalysisRequest(Request):
    model_config = examples(
        {
            "analysis_type": "comprehensive",
            "time_series_data": {"latency_ms": [21, 23, 22, 24, 22, 61, 63, 60, 62, 64, 61, 63]},
        },
        {
            "analysis_type": "predictive",
            "time_series_data": {"rewards": [0.5, 0.55, 0.61, 0.58, 0.66, 0.7, 0.69, 0.75, 0.8, 0.78]},
            "config": {"forecast_horizon": 3},
        },
    )

    analysis_type: AnalysisType = Field(
        description="statistical: correlations, changes, trends. predictive: forecasts, anomalies, what leads what. "
        "comprehensive: both."
    )
    time_series_data: dict[SeriesName, Series] = Field(
        min_length=1,
        max_length=MOST_SERIES,
        description="Each series under its name: numbers at equal distances in time, the earliest first.",
    )
    config: AnalysisConfig = Field(default_factory=AnalysisConfig, description="How; every field has a default.")


class MetadataView(Result):
    """What a part took, measured."""

    data_points: int = Field(description="How many points were used, of all series together.")
    duration_ms: float
    memory_usage: int | None = Field(
        description="By how many bytes the process's largest size grew meanwhile; null where the system does not tell."
    )
    processing_method: Literal["sequential"] = Field(description="The series one after the other, in one thread.")


class CorrelationView(Result):
    """How two series go together, by Pearson's coefficient."""

    variables: list[str] = Field(description="The two.")
    coefficient: float | None = Field(description="-1 to 1; null when one of them never changes.")
    p_value: float | None = Field(description="By Student's t, exact for few points, as if it were the only test.")
    corrected_p_value: float | None = Field(description="By Holm, over all pairs.")
    significant: bool = Field(description="Whether the corrected p-value is at most the significance level.")
    confidence_interval: list[float] | None = Field(
        description="By Fisher's transformation, at 1 - significance_level; null for three points, which allow none."
    )
    points: int = Field(description="Over how many points.")


class ChangepointView(Result):
    """Where a series becomes another one."""

    variable: str
    index: int = Field(description="The first point of the new kind, counted from 0 among the points that were used.")
    confidence: float = Field(description="The weight of this change against none, by Schwarz's criterion.")
    change_type: ChangeType


class TrendView(Result):
    """Where a series goes."""

    variable: str
    direction: Direction = Field(description="Stationary: neither a trend nor a swing is significant.")
    strength: float = Field(description="0 to 1: Kendall's tau; of an oscillation, its share of the variance.")
    significant: bool
    p_value: float | None = Field(description="By Mann and Kendall, or Fisher's test of swings; null: never changes.")
    corrected_p_value: float | None = Field(description="By Holm, over both tests of all series.")
    slope: float = Field(description="The median change from one point to the next, by Theil and Sen.")
    period: float | None = Field(description="Of an oscillation: how many points one swing takes.")


class StatisticalResults(Result):
    correlations: list[CorrelationView]
    changepoints: list[ChangepointView]
    trends: list[TrendView]
    metadata: MetadataView


class ForecastView(Result):
    """How a series goes on."""

    variable: str
    point_forecasts: list[float] = Field(description="Empty when there are too few points; note says so.")
    lower_bounds: list[float]
    upper_bounds: list[float] = Field(description="Each point is between both with probability 1 - significance_level.")
    fit_quality: float | None = Field(
        description="0 to 1: by how much its errors are smaller than when the next point is said to be like the last."
    )
    method: Literal["ETS-AAN"] = "ETS-AAN"
    level_smoothing: float | None = Field(description="The parameter of the level, as fitted.")
    trend_smoothing: float | None = Field(description="The parameter of the trend, as fitted.")
    note: str | None = Field(description="Why there is none.")


class AnomaliesView(Result):
    """Points that are far from all others."""

    variable: str
    anomaly_indices: list[int]
    anomaly_scores: list[float] = Field(
        description="Of each, how many robust standard deviations it is away from the nearest dense place."
    )
    method: Literal["DBSCAN"] = "DBSCAN"
    confidence: float | None = Field(
        description="How probably normal noise of this length has no point as far out; null when there is none."
    )


class CausationView(Result):
    """What the past of one series tells about another, beyond what the other's own past tells."""

    cause: str
    effect: str
    strength: float = Field(description="-1 to 1: the partial correlation with the cause, as it was `lag` points ago.")
    significant: bool = Field(description="By Granger's F test; corrected by Holm over all pairs, both ways.")
    relationship_type: RelationshipType = Field(
        description="Direct: significant, whichever other series is given. Indirect: not any more once a series is "
        "given that the cause leads. Spurious: they go together, or one seems to lead, but a third explains it or "
        "neither's past tells of the other. None: nothing is seen."
    )
    confidence_interval: list[float] | None = Field(description="Of the strength, at 1 - significance_level.")
    lag: int = Field(description="How many points the cause is ahead where it tells most.")
    p_value: float
    corrected_p_value: float


class PredictiveResults(Result):
    forecasts: list[ForecastView]
    anomalies: list[AnomaliesView]
    causal_relationships: list[CausationView] | None = Field(description="Null when they were not asked for.")
    metadata: MetadataView


class SummaryView(Result):
    variables_analyzed: int
    key_findings: list[str] = Field(description="What is significant, in words; empty when nothing is.")
    recommendations: list[str]
    confidence_level: float = Field(description="1 - significance_level: at which the findings hold.")
    notes: list[str] = Field(description="What was cut, left out or not tested, and why.")


class PerformanceView(Result):
    """Measured while this was made."""

    total_time_ms: float
    memory_usage_bytes: int | None = Field(description="How large the process is; null where the system does not tell.")
    cpu_usage_percent: float | None = Field(description="Of one core; everything that this process did meanwhile.")


class AdvancedPatternAnalysisResult(Result):
    statistical_results: StatisticalResults | None = Field(description="Null when they were not asked for.")
    predictive_results: PredictiveResults | None = Field(description="Null when they were not asked for.")
    summary: SummaryView
    performance: PerformanceView


@tool("episodes", read_only=True, core=False)
async def advanced_pattern_analysis(
    request: AdvancedPatternAnalysisRequest, analyst: Analyst
) -> AdvancedPatternAnalysisResult:
    """Analyse series of numbers: correlations, trends, changes, forecasts, anomalies and what leads what.

    For numbers that come at equal distances, such as rewards, latencies or counts by day. What is called significant is
    corrected for the number of tests; where the points are too few to say something, nothing is said.
    """
    config = request.config
    choices = AnalysisChoices(
        significance_level=config.significance_level,
        forecast_horizon=config.forecast_horizon,
        anomaly_sensitivity=config.anomaly_sensitivity,
        enable_causal_inference=config.enable_causal_inference,
        max_data_points=config.max_data_points,
    )
    analysis = await analyst.analyse(request.time_series_data, request.analysis_type, choices)
    return _view(analysis, request, choices)


def _view(
    analysis: Analysis, request: AdvancedPatternAnalysisRequest, choices: AnalysisChoices
) -> AdvancedPatternAnalysisResult:
    findings, advice = summarised(analysis, {name: len(values) for name, values in request.time_series_data.items()})
    return AdvancedPatternAnalysisResult(
        statistical_results=_statistical(analysis.statistical) if analysis.statistical is not None else None,
        predictive_results=_predictive(analysis.predictive) if analysis.predictive is not None else None,
        summary=SummaryView(
            variables_analyzed=len(request.time_series_data),
            key_findings=findings,
            recommendations=advice,
            confidence_level=1 - choices.significance_level,
            notes=list(analysis.notes),
        ),
        performance=PerformanceView(
            total_time_ms=analysis.total_ms,
            memory_usage_bytes=analysis.memory_bytes,
            cpu_usage_percent=analysis.cpu_percent,
        ),
    )


def _statistical(part: StatisticalPart) -> StatisticalResults:
    return StatisticalResults(
        correlations=[
            CorrelationView(
                variables=list(one.variables),
                coefficient=one.coefficient,
                p_value=one.p_value,
                corrected_p_value=one.corrected_p_value,
                significant=one.significant,
                confidence_interval=_interval(one.confidence_interval),
                points=one.points,
            )
            for one in part.correlations
        ],
        changepoints=[
            ChangepointView(
                variable=one.variable, index=one.index, confidence=one.confidence, change_type=one.change_type
            )
            for one in part.changepoints
        ],
        trends=[
            TrendView(
                variable=one.variable,
                direction=one.direction,
                strength=one.strength,
                significant=one.significant,
                p_value=one.p_value,
                corrected_p_value=one.corrected_p_value,
                slope=one.slope,
                period=one.period,
            )
            for one in part.trends
        ],
        metadata=_metadata(part.measured),
    )


def _predictive(part: PredictivePart) -> PredictiveResults:
    return PredictiveResults(
        forecasts=[
            ForecastView(
                variable=one.variable,
                point_forecasts=list(one.point_forecasts),
                lower_bounds=list(one.lower_bounds),
                upper_bounds=list(one.upper_bounds),
                fit_quality=one.fit_quality,
                level_smoothing=one.level_smoothing,
                trend_smoothing=one.trend_smoothing,
                note=one.note,
            )
            for one in part.forecasts
        ],
        anomalies=[
            AnomaliesView(
                variable=one.variable,
                anomaly_indices=list(one.indices),
                anomaly_scores=list(one.scores),
                confidence=one.confidence,
            )
            for one in part.anomalies
        ],
        causal_relationships=None
        if part.causations is None
        else [
            CausationView(
                cause=one.cause,
                effect=one.effect,
                strength=one.strength,
                significant=one.significant,
                relationship_type=one.relationship_type,
                confidence_interval=_interval(one.confidence_interval),
                lag=one.lag,
                p_value=one.p_value,
                corrected_p_value=one.corrected_p_value,
            )
            for one in part.causations
        ],
        metadata=_metadata(part.measured),
    )


def _metadata(measured: Measured) -> MetadataView:
    return MetadataView(
        data_points=measured.data_points,
        duration_ms=measured.duration_ms,
        memory_usage=measured.memory_usage,
        processing_method="sequential",
    )


def _interval(bounds: tuple[float, float] | None) -> list[float] | None:
    return None if bounds is None else list(bounds)
