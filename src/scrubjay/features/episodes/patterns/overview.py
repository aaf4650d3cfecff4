"""Statistics over several patterns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.features.episodes.patterns.models import Pattern, ToolSequence

MAX_COMMON_TOOLS: Final = 5


@dataclass(frozen=True, slots=True)
class PatternOverview:
    """Statistics over several patterns."""

    average_success_rate: float | None
    """None without patterns."""
    most_common_tools: Sequence[str]
    """Tools of tool sequences, by the number of episodes that used them."""


def summarize_patterns(patterns: Sequence[Pattern]) -> PatternOverview:
    used_in: dict[str, set[str]] = {}
    for pattern in patterns:
        if isinstance(pattern.form, ToolSequence):
            for tool in pattern.form.tools:
                used_in.setdefault(tool, set()).update(pattern.evidence)
    common = sorted(used_in, key=lambda tool: (-len(used_in[tool]), tool))[:MAX_COMMON_TOOLS]
    average = sum(pattern.success_rate for pattern in patterns) / len(patterns) if patterns else None
    return PatternOverview(average, common)
