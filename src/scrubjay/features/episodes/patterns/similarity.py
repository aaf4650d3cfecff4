"""How alike two patterns are, 0 to 1."""

import re
from collections.abc import Sequence
from typing import Final

from scrubjay.features.episodes.models import TaskContext
from scrubjay.features.episodes.patterns.models import (
    ContextPattern,
    DecisionPoint,
    ErrorRecovery,
    Pattern,
    ToolSequence,
)

# From here on two are one; the same words in the same domain, without a language or tags, are at .865.
SAME: Final = 0.8
# Whatever stands behind in a long text is not looked at.
_MOST_WORDS: Final = 40
_WORD = re.compile(r"\w+")


def similarity(one: Pattern, other: Pattern) -> float:
    """0 for patterns of two kinds."""
    context = context_similarity(one.context, other.context)
    match one.form, other.form:
        case ToolSequence() as a, ToolSequence() as b:
            return 0.7 * _alike(a.tools, b.tools) + 0.3 * context
        case DecisionPoint() as a, DecisionPoint() as b:
            return 0.4 * _texts(a.condition, b.condition) + 0.4 * _texts(a.action, b.action) + 0.2 * context
        case ErrorRecovery() as a, ErrorRecovery() as b:
            steps = _texts(" ".join(a.recovery_steps), " ".join(b.recovery_steps))
            return 0.4 * _texts(a.error_type, b.error_type) + 0.4 * steps + 0.2 * context
        case ContextPattern() as a, ContextPattern() as b:
            features = jaccard(a.context_features, b.context_features)
            return 0.6 * features + 0.4 * _texts(a.recommended_approach, b.recommended_approach)
        case _:
            return 0.0


def context_similarity(one: TaskContext, other: TaskContext) -> float:
    domain = 0.4 * (one.domain.casefold() == other.domain.casefold())
    if one.language is None and other.language is None:
        language = 0.15
    else:
        language = 0.3 * ((one.language or "").casefold() == (other.language or "").casefold())
    return domain + language + 0.3 * jaccard(one.tags, other.tags)


def jaccard(one: Sequence[str], other: Sequence[str]) -> float:
    """What two sets share of what they have together; 0 when both are empty."""
    a, b = {item.casefold() for item in one}, {item.casefold() for item in other}
    return len(a & b) / len(a | b) if a or b else 0.0


def _texts(one: str, other: str) -> float:
    return _alike(*(_WORD.findall(text.casefold())[:_MOST_WORDS] for text in (one, other)))


def _alike(one: Sequence[str], other: Sequence[str]) -> float:
    """1 less the share of items that must be changed to make one the other."""
    longest = max(len(one), len(other))
    if longest == 0:
        return 1.0
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        corner, row[0] = row[0], i
        for j, right in enumerate(other, start=1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (left != right))
    return 1.0 - row[-1] / longest
