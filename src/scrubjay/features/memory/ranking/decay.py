"""How strong a memory still is: its importance fades with time, and each use of it makes it a little stronger."""

import math
from enum import StrEnum
from typing import Final

from scrubjay.features.memory.ranking.presets import DECAY_PER_DAY

# What is weaker than this has faded away.
THRESHOLD: Final = 0.1
AT_RISK_BELOW: Final = 0.3
STRONG_ABOVE: Final = 0.7
USE_WEIGHT: Final = 0.1
# What matters so much never fades away.
UNFORGETTABLE: Final = 0.95


class Band(StrEnum):
    """How a memory is, by its strength."""

    FORGET = "forget"
    AT_RISK = "at_risk"
    HEALTHY = "healthy"
    STRONG = "strong"


def use_factor(uses: int) -> float:
    """How much stronger a memory is for having been an answer so often."""
    return 1 + math.log1p(uses) * USE_WEIGHT


def strength(importance: float, age_days: float, uses: int, *, decay_rate: float = DECAY_PER_DAY) -> float:
    """Between 0 and 1; the age is counted from the last use, or from when it was kept if there was none.

    An age below 0 is none: clocks differ.
    """
    faded = importance * math.exp(-decay_rate * max(age_days, 0.0)) * use_factor(uses)
    return min(max(faded, 0.0), 1.0)


def band_of(strength: float, *, threshold: float = THRESHOLD) -> Band:
    if strength < threshold:
        return Band.FORGET
    if strength < AT_RISK_BELOW:
        return Band.AT_RISK
    return Band.STRONG if strength > STRONG_ABOVE else Band.HEALTHY


def days_until_faded(
    importance: float, uses: int, *, threshold: float = THRESHOLD, decay_rate: float = DECAY_PER_DAY
) -> float | None:
    """How many days after its last use a memory has faded to the threshold; None for never."""
    if importance >= UNFORGETTABLE or threshold <= 0 or decay_rate <= 0:
        return None
    beginning = importance * use_factor(uses)
    return max(-math.log(threshold / beginning) / decay_rate, 0.0) if beginning > 0 else 0.0
