"""Series of numbers looked at by every method that was asked for, beside the calls that go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread

from scrubjay.core.errors import TooLarge
from scrubjay.isolation.memory_usage import peak_bytes, resident_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.features.analysis.models import Anomalies, Causation, Changepoint, Correlation, Forecast, Trend

    Values = NDArray[np.float64]

AnalysisType = Literal["statistical", "predictive", "comprehensive"]

# What all series may have together, after each is cut: some seconds of work.
MOST_POINTS = 100_000
# As many analyses at once, each in one thread: over the same series two threads take as long as one. Others wait.
_AT_ONCE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisChoices:
    """What a caller chose."""

    significance_level: float = 0.05
    forecast_horizon: int = 10
    anomaly_sensitivity: float = 0.5
    enable_causal_inference: bool = True
    max_data_points: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a part of an analysis took."""

    data_points: int
    duration_ms: float
    memory_usage: int | None
    """By how many bytes the process's largest size grew meanwhile; None where the system does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticalPart:
    """How series are."""

    correlations: "Sequence[Correlation]"
    changepoints: "Sequence[Changepoint]"
    trends: "Sequence[Trend]"
    measured: Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictivePart:
    """How series go on, and what leads what."""

    forecasts: "Sequence[Forecast]"
    anomalies: "Sequence[Anomalies]"
    causations: "Sequence[Causation] | None"
    """None when nobody asked for them."""
    measured: Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """All that was found."""

    statistical: StatisticalPart | None
    predictive: PredictivePart | None
    notes: Sequence[str]
    """What was left out or cut, and why."""
    total_ms: float
    memory_bytes: int | None
    """How large the process is now."""
    cpu_percent: float | None
    """Of one core, over the time that it took; of the whole process."""


class Analyst:
    """Looks at series in a thread of its own, so that others are answered meanwhile."""

    def __init__(self) -> None:
        self._limiter: anyio.CapacityLimiter | None = None

    async def analyse(
        self, series: Mapping[str, Sequence[float]], kind: AnalysisType, choices: AnalysisChoices
    ) -> Analysis:
        """What the series tell. `TooLarge` when there are too many points in all."""
        notes = [
            f"of {name!r} only the last {choices.max_data_points} of {len(values)} points were used"
            for name, values in series.items()
            if len(values) > choices.max_data_points
        ]
        cut = {name: values[-choices.max_data_points :] for name, values in series.items()}
        points = sum(map(len, cut.values()))
        if points > MOST_POINTS:
            raise TooLarge(
                f"there are {points} points in all series together; at most {MOST_POINTS} are analysed at once",
                hint="give fewer series, or a smaller config.max_data_points",
            )
        if len(set(map(len, cut.values()))) > 1:
            notes.append("series of unequal length were compared over the points that both have, from the first on")
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_AT_ONCE)
        return await anyio.to_thread.run_sync(partial(_analyse, cut, kind, choices, notes), limiter=self._limiter)


def _analyse(
    given: Mapping[str, Sequence[float]], kind: AnalysisType, choices: AnalysisChoices, notes: list[str]
) -> Analysis:
    import numpy as np

    started, cpu = perf_counter(), process_time()
    series = {name: np.asarray(values, dtype=np.float64) for name, values in given.items()}
    statistical = _statistical(series, choices) if kind != "predictive" else None
    predictive = _predictive(series, choices, notes) if kind != "statistical" else None
    seconds = perf_counter() - started
    return Analysis(
        statistical=statistical,
        predictive=predictive,
        notes=notes,
        total_ms=seconds * 1000,
        memory_bytes=resident_bytes(),
        cpu_percent=100 * (process_time() - cpu) / seconds if seconds > 0 else None,
    )


class _Measuring:
    """One part while it is made."""

    def __init__(self, series: "Mapping[str, Values]") -> None:
        self._points = sum(map(len, series.values()))
        self._peak, self._started = peak_bytes(), perf_counter()

    def done(self) -> Measured:
        peak = peak_bytes()
        return Measured(
            data_points=self._points,
            duration_ms=(perf_counter() - self._started) * 1000,
            memory_usage=None if peak is None or self._peak is None else peak - self._peak,
        )


def _statistical(series: "Mapping[str, Values]", choices: AnalysisChoices) -> StatisticalPart:
    from scrubjay.features.analysis.changepoints import changes
    from scrubjay.features.analysis.correlation import correlations
    from scrubjay.features.analysis.trends import movement, trends

    measuring, level = _Measuring(series), choices.significance_level
    return StatisticalPart(
        correlations=correlations(series, level),
        changepoints=[one for name in series for one in changes(name, series[name], level / len(series))],
        trends=trends({name: movement(values) for name, values in series.items()}, level),
        measured=measuring.done(),
    )


def _predictive(series: "Mapping[str, Values]", choices: AnalysisChoices, notes: list[str]) -> PredictivePart:
    from scrubjay.features.analysis.anomalies import FEWEST_POINTS, anomalies
    from scrubjay.features.analysis.forecasting import MOST_REMEMBERED, forecast

    measuring, level = _Measuring(series), choices.significance_level
    horizon, sensitivity = choices.forecast_horizon, choices.anomaly_sensitivity
    for name, values in series.items():
        if len(values) > MOST_REMEMBERED:
            notes.append(f"the forecast of {name!r} was made from its last {MOST_REMEMBERED} points")
        if len(values) < FEWEST_POINTS:
            notes.append(f"{name!r} has too few points to tell anomalies; {FEWEST_POINTS} are needed")
    return PredictivePart(
        forecasts=[forecast(name, values, horizon, level) for name, values in series.items()],
        anomalies=[anomalies(name, values, sensitivity) for name, values in series.items()],
        causations=_causations(series, level, notes) if choices.enable_causal_inference else None,
        measured=measuring.done(),
    )


def _causations(series: "Mapping[str, Values]", level: float, notes: list[str]) -> "Sequence[Causation]":
    from scrubjay.features.analysis.causality import LEAST_POINTS, causations
    from scrubjay.features.analysis.correlation import correlations

    if len(series) < 2:
        notes.append("what causes what needs at least two series")
        return []
    if min(map(len, series.values())) < LEAST_POINTS:
        notes.append(f"what causes what was not tested: that needs {LEAST_POINTS} points that all series have")
        return []
    together = {frozenset(one.variables): one.significant for one in correlations(series, level)}
    found = causations(series, together, level)
    tested = {one.cause for one in found}
    notes += [
        f"{name!r} never changes: it was not tested for what causes what" for name in series if name not in tested
    ]
    return found
