"""Presets: weights of relevance, recency, use, importance and confidence in the order of relevant memories."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Preset(StrEnum):
    """A named set of weights."""

    RELEVANT = "relevant"
    BALANCED = "balanced"
    SEMANTIC = "semantic"
    RECENT = "recent"
    IMPORTANT = "important"
    POPULAR = "popular"


# Each row adds up to 1. Other systems give a share to a graph of memories; here relevance and confidence have it. See
# docs/decisions/0012-presets-do-not-change-relevance.md.
WEIGHTS: Final[Mapping[Preset, Mapping[str, float]]] = {
    Preset.RELEVANT: {"relevance": 1.0},
    Preset.BALANCED: {"relevance": 0.40, "recency": 0.25, "use": 0.15, "importance": 0.15, "confidence": 0.05},
    Preset.SEMANTIC: {"relevance": 0.55, "recency": 0.15, "use": 0.10, "importance": 0.15, "confidence": 0.05},
    Preset.RECENT: {"relevance": 0.30, "recency": 0.40, "use": 0.10, "importance": 0.15, "confidence": 0.05},
    Preset.IMPORTANT: {"relevance": 0.30, "recency": 0.15, "use": 0.10, "importance": 0.40, "confidence": 0.05},
    Preset.POPULAR: {"relevance": 0.30, "recency": 0.15, "use": 0.40, "importance": 0.10, "confidence": 0.05},
}

DESCRIPTIONS: Final[Mapping[str, str]] = {
    "recency": "it was recalled or stored recently",
    "use": "it was recalled often",
    "importance": "it is important",
    "confidence": "it is certain",
}

# Recency halves in about a week.
DECAY_PER_DAY: Final = 0.1
# More uses than this do not raise the score.
SATURATING_USES: Final = 10
