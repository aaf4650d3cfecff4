"""What may put fitting memories in order besides how well they fit: how recent, used, important and sure they are."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Preset(StrEnum):
    """A named balance of what counts."""

    RELEVANT = "relevant"
    BALANCED = "balanced"
    SEMANTIC = "semantic"
    RECENT = "recent"
    IMPORTANT = "important"
    POPULAR = "popular"


# Each row adds up to 1. There is no graph of memories yet: the share that others give to it is relevance's and
# confidence's here. See docs/decisions/0012-presets-and-the-answer-set.md.
WEIGHTS: Final[Mapping[Preset, Mapping[str, float]]] = {
    Preset.RELEVANT: {"relevance": 1.0},
    Preset.BALANCED: {"relevance": 0.40, "recency": 0.25, "use": 0.15, "importance": 0.15, "confidence": 0.05},
    Preset.SEMANTIC: {"relevance": 0.55, "recency": 0.15, "use": 0.10, "importance": 0.15, "confidence": 0.05},
    Preset.RECENT: {"relevance": 0.30, "recency": 0.40, "use": 0.10, "importance": 0.15, "confidence": 0.05},
    Preset.IMPORTANT: {"relevance": 0.30, "recency": 0.15, "use": 0.10, "importance": 0.40, "confidence": 0.05},
    Preset.POPULAR: {"relevance": 0.30, "recency": 0.15, "use": 0.40, "importance": 0.10, "confidence": 0.05},
}

ABOUT: Final[Mapping[str, str]] = {
    "recency": "it was an answer lately, or was kept lately",
    "use": "it was often an answer",
    "importance": "it matters",
    "confidence": "it is sure",
}

# Recency halves in about a week.
DECAY_PER_DAY: Final = 0.1
# So many uses are as good as any more.
MANY_USES: Final = 10
