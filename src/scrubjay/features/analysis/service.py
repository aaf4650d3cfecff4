"""Analyze numeric series with the requested methods, in a worker thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread

from scrubjay.core.errors import TooLarge
from scrubjay.core.lazy import lazy_module
from scrubjay.isolation.memory_usage import peak_bytes, resident_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.features.analysis import anomalies, causality, changepoints, correlation, forecasting, trends
    from scrubjay.features.analysis.models import Anomalies, Causation, Changepoint, Correlation, Forecast, Trend

    Values = NDArray[np.float64]
else:  # the methods import numpy
    np = lazy_module("numpy")
    anomalies = lazy_module("scrubjay.features.analysis.anomalies")
    causality = lazy_module("scrubjay.features.analysis.causality")
    changepoints = lazy_module("scrubjay.features.analysis.changepoints")
    correlation = lazy_module("scrubjay.features.analysis.correlation")
    forecasting = lazy_module("scrubjay.features.analysis.forecasting")
    trends = lazy_module("scrubjay.features.analysis.trends")

AnalysisType = Literal["statistical", "predictive", "comprehensive"]

# Limit of all series together, after each is cut; this many take some seconds.
MAX_TOTAL_POINTS = 100_000
# Concurrent analyses; further ones wait. Each uses one thread: two threads on the same series were not faster.
_MAX_CONCURRENT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisChoices:
    """Options of an analysis."""

    significance_level: float = 0.05
    forecast_horizon: int = 10
    anomaly_sensitivity: float = 0.5
    enable_causal_inference: bool = True
    max_data_points: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Resource use of a part of an analysis."""

    data_points: int
    duration_ms: float
    memory_usage: int | None
    """Growth of the process's peak size in bytes; None where the system does not report it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticalPart:
    """Correlations, changepoints and trends."""

    correlations: "Sequence[Correlation]"
    changepoints: "Sequence[Changepoint]"
    trends: "Sequence[Trend]"
    measurement: Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictivePart:
    """Forecasts, anomalies and causal relations."""

    forecasts: "Sequence[Forecast]"
    anomalies: "Sequence[Anomalies]"
    causations: "Sequence[Causation] | None"
    """None when not requested."""
    measurement: Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesAnalysis:
    """Result of an analysis."""

    statistical: StatisticalPart | None
    predictive: PredictivePart | None
    notes: Sequence[str]
    """What was cut or not tested, and why."""
    total_ms: float
    memory_bytes: int | None
    """Resident size of the process after the analysis."""
    cpu_percent: float | None
    """CPU use of the process during the analysis, in percent of one core."""


class SeriesAnalyzer:
    """Analyzes series in a worker thread, so that the event loop stays free."""

    def __init__(self) -> None:
        self._limiter: anyio.CapacityLimiter | None = None

    async def analyse(
        self, series: Mapping[str, Sequence[float]], kind: AnalysisType, choices: AnalysisChoices
    ) -> SeriesAnalysis:
        """Analyze series by the methods of `kind`; `TooLarge` above `MAX_TOTAL_POINTS` points in total."""
        notes = [
            f"only the last {choices.max_data_points} of {len(values)} points of {name!r} were used"
            for name, values in series.items()
            if len(values) > choices.max_data_points
        ]
        cut = {name: values[-choices.max_data_points :] for name, values in series.items()}
        points = sum(map(len, cut.values()))
        if points > MAX_TOTAL_POINTS:
            raise TooLarge(
                f"the series have {points} points in total; the limit is {MAX_TOTAL_POINTS}",
                hint="pass fewer series, or a smaller config.max_data_points",
            )
        if len(set(map(len, cut.values()))) > 1:
            notes.append("series of unequal length were compared over their common length, from the first point on")
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_MAX_CONCURRENT)
        return await anyio.to_thread.run_sync(partial(_analyse, cut, kind, choices, notes), limiter=self._limiter)


def _analyse(
    given: Mapping[str, Sequence[float]], kind: AnalysisType, choices: AnalysisChoices, notes: list[str]
) -> SeriesAnalysis:
    started, cpu = perf_counter(), process_time()
    series = {name: np.asarray(values, dtype=np.float64) for name, values in given.items()}
    found = trends.classify(
        {name: trends.run_tests(values) for name, values in series.items()}, choices.significance_level
    )
    statistical = _statistical(series, found, choices) if kind != "predictive" else None
    predictive = _predictive(series, found, choices, notes) if kind != "statistical" else None
    seconds = perf_counter() - started
    return SeriesAnalysis(
        statistical=statistical,
        predictive=predictive,
        notes=notes,
        total_ms=seconds * 1000,
        memory_bytes=resident_bytes(),
        cpu_percent=100 * (process_time() - cpu) / seconds if seconds > 0 else None,
    )


class _ResourceMeter:
    """Measures time and memory of a part of an analysis."""

    def __init__(self, series: "Mapping[str, Values]") -> None:
        self._points = sum(map(len, series.values()))
        self._peak, self._started = peak_bytes(), perf_counter()

    def finish(self) -> Measurement:
        peak = peak_bytes()
        return Measurement(
            data_points=self._points,
            duration_ms=(perf_counter() - self._started) * 1000,
            memory_usage=None if peak is None or self._peak is None else peak - self._peak,
        )


def _statistical(series: "Mapping[str, Values]", found: "Sequence[Trend]", choices: AnalysisChoices) -> StatisticalPart:
    meter, level = _ResourceMeter(series), choices.significance_level
    find_changepoints = changepoints.find_changepoints
    return StatisticalPart(
        correlations=correlation.correlate(series, level),
        changepoints=[one for name in series for one in find_changepoints(name, series[name], level / len(series))],
        trends=found,
        measurement=meter.finish(),
    )


def _predictive(
    series: "Mapping[str, Values]", found: "Sequence[Trend]", choices: AnalysisChoices, notes: list[str]
) -> PredictivePart:
    meter, level = _ResourceMeter(series), choices.significance_level
    horizon, sensitivity = choices.forecast_horizon, choices.anomaly_sensitivity
    for name, values in series.items():
        if len(values) > forecasting.MAX_POINTS:
            notes.append(f"the forecast of {name!r} uses its last {forecasting.MAX_POINTS} points")
        if len(values) < anomalies.MIN_POINTS:
            notes.append(f"{name!r} has too few points to detect anomalies; {anomalies.MIN_POINTS} are needed")
    return PredictivePart(
        # The trends are in the order of the series: a forecast continues the season that the same answer reports.
        forecasts=[
            forecasting.forecast(one.variable, series[one.variable], horizon, level, one.period) for one in found
        ],
        anomalies=[anomalies.find_anomalies(name, values, sensitivity) for name, values in series.items()],
        causations=_causations(series, level, notes) if choices.enable_causal_inference else None,
        measurement=meter.finish(),
    )


def _causations(series: "Mapping[str, Values]", level: float, notes: list[str]) -> "Sequence[Causation]":
    if len(series) < 2:
        notes.append("causal inference needs at least two series")
        return []
    if min(map(len, series.values())) < causality.MIN_POINTS:
        notes.append(f"causality was not tested: every series needs at least {causality.MIN_POINTS} points")
        return []
    correlated = {frozenset(one.variables): one.significant for one in correlation.correlate(series, level)}
    found = causality.find_causations(series, correlated, level)
    tested = {one.cause for one in found}
    notes += [f"{name!r} is constant and was not tested for causality" for name in series if name not in tested]
    return found
