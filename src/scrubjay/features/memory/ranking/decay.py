"""Strength of a memory: its importance decays exponentially with time, and each use strengthens it a little."""

import math
from enum import StrEnum
from typing import Final

from scrubjay.features.memory.ranking.presets import DECAY_PER_DAY

# A weaker memory may be forgotten.
FADED_BELOW: Final = 0.1
AT_RISK_BELOW: Final = 0.3
STRONG_ABOVE: Final = 0.7
USE_WEIGHT: Final = 0.1
# Memories of at least this importance are never forgotten automatically.
NEVER_FADES_FROM: Final = 0.95


class StrengthBand(StrEnum):
    """Range of strength."""

    FORGET = "forget"
    AT_RISK = "at_risk"
    HEALTHY = "healthy"
    STRONG = "strong"


def use_factor(uses: int) -> float:
    """Return the factor by which this many recalls strengthen a memory."""
    return 1 + math.log1p(uses) * USE_WEIGHT


def strength(importance: float, age_days: float, uses: int, *, decay_rate: float = DECAY_PER_DAY) -> float:
    """Return the strength, 0 to 1. The age counts from the last use, or from storage if it was never used.

    A negative age counts as 0, because clocks differ.
    """
    faded = importance * math.exp(-decay_rate * max(age_days, 0.0)) * use_factor(uses)
    return min(max(faded, 0.0), 1.0)


def strength_band(strength: float, *, threshold: float = FADED_BELOW) -> StrengthBand:
    if strength < threshold:
        return StrengthBand.FORGET
    if strength < AT_RISK_BELOW:
        return StrengthBand.AT_RISK
    return StrengthBand.STRONG if strength > STRONG_ABOVE else StrengthBand.HEALTHY


def days_until_faded(
    importance: float, uses: int, *, threshold: float = FADED_BELOW, decay_rate: float = DECAY_PER_DAY
) -> float | None:
    """Return the days from the last use until a memory's strength falls to the threshold; None for never."""
    if importance >= NEVER_FADES_FROM or threshold <= 0 or decay_rate <= 0:
        return None
    beginning = importance * use_factor(uses)
    return max(-math.log(threshold / beginning) / decay_rate, 0.0) if beginning > 0 else 0.0
