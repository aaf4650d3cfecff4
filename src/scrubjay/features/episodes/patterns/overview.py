"""What some patterns have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.features.episodes.patterns.models import Pattern, ToolSequence

MOST_COMMON: Final = 5


@dataclass(frozen=True, slots=True)
class Overview:
    """Of all of them together."""

    average_success_rate: float | None
    """None without any."""
    most_common_tools: Sequence[str]
    """By how many episodes used them in a sequence that is a pattern."""


def overview(patterns: Sequence[Pattern]) -> Overview:
    used_in: dict[str, set[str]] = {}
    for pattern in patterns:
        if isinstance(pattern.form, ToolSequence):
            for tool in pattern.form.tools:
                used_in.setdefault(tool, set()).update(pattern.evidence)
    common = sorted(used_in, key=lambda tool: (-len(used_in[tool]), tool))[:MOST_COMMON]
    average = sum(pattern.success_rate for pattern in patterns) / len(patterns) if patterns else None
    return Overview(average, common)
