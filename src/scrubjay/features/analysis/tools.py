"""The `advanced_pattern_analysis` tool."""

from typing import Annotated, Literal

from pydantic import Field

from scrubjay.features.analysis.models import ChangeType, Direction, RelationshipType
from scrubjay.features.analysis.service import (
    AnalysisChoices,
    AnalysisType,
    Measurement,
    PredictivePart,
    SeriesAnalysis,
    SeriesAnalyzer,
    StatisticalPart,
)
from scrubjay.features.analysis.summary import summarize
from scrubjay.tooling.arguments import Share
from scrubjay.tooling.declaration import Request, Result, examples, tool

MAX_SERIES = 32
# Longest series that is accepted; at most config.max_data_points of its points are used.
MAX_SERIES_POINTS = 200_000

# The sum of squares of larger numbers would overflow.
Number = Annotated[float, Field(ge=-1e100, le=1e100, allow_inf_nan=False)]
Series = Annotated[list[Number], Field(min_length=3, max_length=MAX_SERIES_POINTS)]
SeriesName = Annotated[str, Field(min_length=1, max_length=200)]


class AnalysisConfig(Request):
    """Options of the analysis."""

    significance_level: Annotated[float, Field(ge=1e-6, le=0.5)] = Field(
        default=0.05, description="Probability of a false positive, over all tests of one kind."
    )
    forecast_horizon: int = Field(default=10, ge=1, le=100, description="Number of points to forecast.")
    anomaly_sensitivity: Share = Field(default=0.5, description="0 reports extreme outliers only; 1 reports many.")
    enable_causal_inference: bool = Field(
        default=True, description="Test which series predict others (Granger causality)."
    )
    max_data_points: int = Field(
        default=10_000, ge=3, le=100_000, description="Points used of each series; of a longer one, the last."
    )
    parallel_processing: bool = Field(
        default=True,
        description="Accepted for compatibility without effect: each analysis uses one thread.",
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
        description="statistical: correlations, changepoints, trends. predictive: forecasts, anomalies, causality. "
        "comprehensive: both."
    )
    time_series_data: dict[SeriesName, Series] = Field(
        min_length=1,
        max_length=MAX_SERIES,
        description="Series by name: numbers at equal time intervals, oldest first.",
    )
    config: AnalysisConfig = Field(default_factory=AnalysisConfig, description="Options; every field has a default.")


class MetadataView(Result):
    """Measured resource use of a part."""

    data_points: int = Field(description="Number of points used, over all series.")
    duration_ms: float
    memory_usage: int | None = Field(
        description="Growth of the process's peak memory in bytes; null where the system does not report it."
    )
    processing_method: Literal["sequential"] = Field(description="One series after the other, in one thread.")


class CorrelationView(Result):
    """Pearson correlation of two series."""

    variables: list[str] = Field(description="Names of the two series.")
    coefficient: float | None = Field(description="-1 to 1; null when one series is constant.")
    p_value: float | None = Field(description="Student's t-test, not corrected for multiple tests.")
    corrected_p_value: float | None = Field(description="Holm correction over all pairs.")
    significant: bool = Field(description="Whether corrected_p_value is at most significance_level.")
    confidence_interval: list[float] | None = Field(
        description="Fisher transformation, at level 1 - significance_level; null for three points."
    )
    points: int = Field(description="Number of points compared.")


class ChangepointView(Result):
    """A change of the level, slope or variance of a series."""

    variable: str
    index: int = Field(description="First point after the change, counted from 0 within the points used.")
    confidence: float = Field(description="Probability of the change against no change, by Schwarz's criterion (BIC).")
    change_type: ChangeType


class TrendView(Result):
    """Trend or oscillation of a series."""

    variable: str
    direction: Direction = Field(description="Stationary: neither a trend nor an oscillation is significant.")
    strength: float = Field(description="0 to 1: |Kendall's tau|; for an oscillation, its share of the variance.")
    significant: bool
    p_value: float | None = Field(
        description="Mann-Kendall test, for an oscillation Fisher's test; null for a constant series."
    )
    corrected_p_value: float | None = Field(description="Holm correction over both tests of all series.")
    slope: float = Field(description="Median change from one point to the next (Theil-Sen).")
    period: float | None = Field(
        description="Points per cycle of a significant oscillation, also around a trend; null without one."
    )


class StatisticalResults(Result):
    correlations: list[CorrelationView]
    changepoints: list[ChangepointView]
    trends: list[TrendView]
    metadata: MetadataView


class ForecastView(Result):
    """Forecast of a series."""

    variable: str
    point_forecasts: list[float] = Field(description="Empty when there are too few points; see note.")
    lower_bounds: list[float]
    upper_bounds: list[float] = Field(
        description="A future point lies between its bounds with probability 1 - significance_level."
    )
    fit_quality: float | None = Field(
        description="0 to 1: reduction of the squared error compared with repeating the last value."
    )
    method: Literal["ETS-AAN"] = "ETS-AAN"
    level_smoothing: float | None = Field(description="Fitted smoothing parameter of the level.")
    trend_smoothing: float | None = Field(description="Fitted smoothing parameter of the trend.")
    season: float | None = Field(
        description="Points per cycle of the season that the forecast continues: the `period` of the series."
    )
    note: str | None = Field(description="Why there is no forecast, or why a season is not continued.")


class AnomaliesView(Result):
    """Outliers of a series."""

    variable: str
    anomaly_indices: list[int]
    anomaly_scores: list[float] = Field(
        description="Distance of each outlier from the nearest dense region, in robust standard deviations."
    )
    method: Literal["DBSCAN"] = "DBSCAN"
    confidence: float | None = Field(
        description="Probability that normal noise of this length has no such outlier; null without outliers."
    )


class CausationView(Result):
    """How well the past of one series predicts another, beyond the other's own past."""

    cause: str
    effect: str
    strength: float = Field(description="-1 to 1: partial correlation with the cause `lag` points earlier.")
    significant: bool = Field(description="Granger's F-test, with Holm correction over all ordered pairs.")
    relationship_type: RelationshipType = Field(
        description="Direct: significant, also when any other series is controlled for. Indirect: explained by a "
        "series that the cause predicts. Spurious: explained by a third series, or only correlated at the same time. "
        "None: no relation was found."
    )
    confidence_interval: list[float] | None = Field(
        description="Confidence interval of strength, at level 1 - significance_level."
    )
    lag: int = Field(description="Lag with the strongest effect, in points.")
    p_value: float
    corrected_p_value: float


class PredictiveResults(Result):
    forecasts: list[ForecastView]
    anomalies: list[AnomaliesView]
    causal_relationships: list[CausationView] | None = Field(description="Null when not requested.")
    metadata: MetadataView


class AnalysisSummaryView(Result):
    variables_analyzed: int
    key_findings: list[str] = Field(description="Significant findings as sentences; may be empty.")
    recommendations: list[str]
    confidence_level: float = Field(description="1 - significance_level.")
    notes: list[str] = Field(description="What was cut or not tested, and why.")


class PerformanceView(Result):
    """Measured resource use of the call."""

    total_time_ms: float
    memory_usage_bytes: int | None = Field(description="Size of the process; null where the system does not report it.")
    cpu_usage_percent: float | None = Field(
        description="CPU use of the process during the call, in percent of one core."
    )


class AdvancedPatternAnalysisResult(Result):
    statistical_results: StatisticalResults | None = Field(description="Null when not requested.")
    predictive_results: PredictiveResults | None = Field(description="Null when not requested.")
    summary: AnalysisSummaryView
    performance: PerformanceView


@tool("episodes", read_only=True, core=False)
async def advanced_pattern_analysis(
    request: AdvancedPatternAnalysisRequest, analyst: SeriesAnalyzer
) -> AdvancedPatternAnalysisResult:
    """Analyse numeric series: correlations, trends, changepoints, forecasts, anomalies and causality.

    For numbers at equal time intervals, such as rewards, latencies or counts per day. Significance is corrected for
    multiple tests; series with too few points yield no result.
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
    analysis: SeriesAnalysis, request: AdvancedPatternAnalysisRequest, choices: AnalysisChoices
) -> AdvancedPatternAnalysisResult:
    findings, advice = summarize(analysis, {name: len(values) for name, values in request.time_series_data.items()})
    return AdvancedPatternAnalysisResult(
        statistical_results=_statistical(analysis.statistical) if analysis.statistical is not None else None,
        predictive_results=_predictive(analysis.predictive) if analysis.predictive is not None else None,
        summary=AnalysisSummaryView(
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
        correlations=[CorrelationView.model_validate(one, from_attributes=True) for one in part.correlations],
        changepoints=[ChangepointView.model_validate(one, from_attributes=True) for one in part.changepoints],
        trends=[TrendView.model_validate(one, from_attributes=True) for one in part.trends],
        metadata=_metadata(part.measurement),
    )


def _predictive(part: PredictivePart) -> PredictiveResults:
    return PredictiveResults(
        forecasts=[ForecastView.model_validate(one, from_attributes=True) for one in part.forecasts],
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
        else [CausationView.model_validate(one, from_attributes=True) for one in part.causations],
        metadata=_metadata(part.measurement),
    )


def _metadata(measurement: Measurement) -> MetadataView:
    return MetadataView(
        data_points=measurement.data_points,
        duration_ms=measurement.duration_ms,
        memory_usage=measurement.memory_usage,
        processing_method="sequential",
    )
