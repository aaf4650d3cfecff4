"""Similarity of two patterns, 0 to 1."""

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

# Patterns at least this similar are merged. Equal wording in the same domain, without language and tags, scores 0.865.
SAME_PATTERN_SIMILARITY: Final = 0.8
# Further words of a text are ignored.
_MAX_WORDS: Final = 40
_WORD = re.compile(r"\w+")


def similarity(one: Pattern, other: Pattern) -> float:
    """Return the similarity of two patterns; 0 for different types."""
    context = context_similarity(one.context, other.context)
    match one.form, other.form:
        case ToolSequence() as a, ToolSequence() as b:
            return 0.7 * _sequence_similarity(a.tools, b.tools) + 0.3 * context
        case DecisionPoint() as a, DecisionPoint() as b:
            return (
                0.4 * _text_similarity(a.condition, b.condition)
                + 0.4 * _text_similarity(a.action, b.action)
                + 0.2 * context
            )
        case ErrorRecovery() as a, ErrorRecovery() as b:
            steps = _text_similarity(" ".join(a.recovery_steps), " ".join(b.recovery_steps))
            return 0.4 * _text_similarity(a.error_type, b.error_type) + 0.4 * steps + 0.2 * context
        case ContextPattern() as a, ContextPattern() as b:
            features = jaccard(a.context_features, b.context_features)
            return 0.6 * features + 0.4 * _text_similarity(a.recommended_approach, b.recommended_approach)
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
    """Return the Jaccard index of two case-insensitive sets; 0 when both are empty."""
    a, b = {item.casefold() for item in one}, {item.casefold() for item in other}
    return len(a & b) / len(a | b) if a or b else 0.0


def _text_similarity(one: str, other: str) -> float:
    return _sequence_similarity(*(_WORD.findall(text.casefold())[:_MAX_WORDS] for text in (one, other)))


def _sequence_similarity(one: Sequence[str], other: Sequence[str]) -> float:
    """Return 1 minus the edit distance divided by the longer length."""
    longest = max(len(one), len(other))
    if longest == 0:
        return 1.0
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        corner, row[0] = row[0], i
        for j, right in enumerate(other, start=1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (left != right))
    return 1.0 - row[-1] / longest
