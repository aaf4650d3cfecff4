"""Results of the analysis methods."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Direction = Literal["Increasing", "Decreasing", "Stationary", "Oscillating"]
ChangeType = Literal["MeanShift", "VarianceChange", "TrendChange", "Unknown"]
RelationshipType = Literal["Direct", "Indirect", "Spurious", "None"]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """Pearson correlation of two series."""

    variables: tuple[str, str]
    points: int
    coefficient: float | None
    """None when one of the series is constant."""
    p_value: float | None
    """Not corrected for multiple tests."""
    corrected_p_value: float | None
    significant: bool
    confidence_interval: Interval | None
    """None for three points, which are too few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Direction and strength of a series' trend or oscillation."""

    variable: str
    direction: Direction
    strength: float
    """0 to 1: absolute value of Kendall's tau for a trend, share of the variance for an oscillation."""
    p_value: float | None
    corrected_p_value: float | None
    significant: bool
    slope: float
    """Median change from one point to the next (Theil-Sen estimator)."""
    period: float | None
    """Points per cycle of a significant oscillation, also around a trend; None without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changepoint:
    """A change of the level, slope or variance of a series."""

    variable: str
    index: int
    """The first point after the change."""
    confidence: float
    change_type: ChangeType


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Predicted points of a series with prediction intervals."""

    variable: str
    point_forecasts: Sequence[float]
    lower_bounds: Sequence[float]
    upper_bounds: Sequence[float]
    fit_quality: float | None
    level_smoothing: float | None
    trend_smoothing: float | None
    season: float | None
    """Points per cycle of the season that the forecast continues; None without one."""
    note: str | None
    """Why there is no forecast, or why the season of the series is not continued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomalies:
    """Outliers of a series."""

    variable: str
    indices: Sequence[int]
    scores: Sequence[float]
    """Distance of each outlier from the nearest dense region, in robust standard deviations."""
    confidence: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Causation:
    """Result of a Granger causality test between two series."""

    cause: str
    effect: str
    lag: int
    strength: float
    p_value: float
    corrected_p_value: float
    significant: bool
    relationship_type: RelationshipType
    confidence_interval: Interval | None
