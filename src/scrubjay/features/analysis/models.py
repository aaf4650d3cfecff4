"""What each method answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Direction = Literal["Increasing", "Decreasing", "Stationary", "Oscillating"]
ChangeType = Literal["MeanShift", "VarianceChange", "TrendChange", "Unknown"]
RelationshipType = Literal["Direct", "Indirect", "Spurious", "None"]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """How two series go together."""

    variables: tuple[str, str]
    points: int
    coefficient: float | None
    """None when one of the two never changes: then there is nothing to go together."""
    p_value: float | None
    """As if this were the only test."""
    corrected_p_value: float | None
    significant: bool
    confidence_interval: Interval | None
    """None for three points, which allow none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Where a series goes."""

    variable: str
    direction: Direction
    strength: float
    """Between 0 and 1: of a trend Kendall's tau, of an oscillation its share of the variance."""
    p_value: float | None
    corrected_p_value: float | None
    significant: bool
    slope: float
    """The median change from one point to the next, by Theil and Sen."""
    period: float | None
    """Of an oscillation, how many points one swing takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changepoint:
    """Where a series becomes another one."""

    variable: str
    index: int
    """The first point that is of the new kind."""
    confidence: float
    change_type: ChangeType


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """How a series goes on."""

    variable: str
    point_forecasts: Sequence[float]
    lower_bounds: Sequence[float]
    upper_bounds: Sequence[float]
    fit_quality: float | None
    level_smoothing: float | None
    trend_smoothing: float | None
    note: str | None
    """Why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomalies:
    """Points of a series that are far from all others."""

    variable: str
    indices: Sequence[int]
    scores: Sequence[float]
    """Of each, how many robust standard deviations it is away from the nearest dense place."""
    confidence: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Causation:
    """What the past of one series tells about another."""

    cause: str
    effect: str
    lag: int
    strength: float
    p_value: float
    corrected_p_value: float
    significant: bool
    relationship_type: RelationshipType
    confidence_interval: Interval | None
