"""Extraction of the salient features of an episode."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import Final

from scrubjay.features.episodes.models import (
    Episode,
    EpisodeStep,
    FailureOutcome,
    Outcome,
    PartialSuccessOutcome,
    SalientFeatures,
    SuccessOutcome,
)
from scrubjay.features.episodes.step_stats import StepCounts
from scrubjay.features.episodes.wording import shorten

MAX_DECISIONS: Final = 10
MAX_COMBINATIONS: Final = 5
MAX_RECOVERIES: Final = 10
MAX_INSIGHTS: Final = 15
_DECIDES: Final = re.compile(
    r"\b(?:choos(?:e|es|ing)|chose|chosen|decid(?:e|es|ed|ing)|select(?:s|ed|ing)?|opt(?:s|ed|ing)? for)\b",
    re.IGNORECASE,
)
_DECIDING_KEYS: Final = ("strategy", "approach", "method", "algorithm")


def salient_features(episode: Episode) -> SalientFeatures:
    """Return the features of an episode that has its outcome and reflection."""
    counts = StepCounts.of(episode.steps)
    reflection = episode.reflection
    lessons = (*reflection.insights, *reflection.improvements, *reflection.successes) if reflection else ()
    return SalientFeatures(
        critical_decisions=tuple(islice(_decisions(episode), MAX_DECISIONS)),
        tool_combinations=tuple(islice(_combinations(episode.steps), MAX_COMBINATIONS)),
        error_recovery_patterns=tuple(
            f"{_problem(one.failed)} → {shorten(one.succeeded.action, 100)} ({shorten(one.succeeded.tool, 60)})"
            for one in counts.recoveries[:MAX_RECOVERIES]
        ),
        key_insights=lessons[:MAX_INSIGHTS],
    )


def _decisions(episode: Episode) -> Iterator[str]:
    """Yield the outcome first, then the decisions of the steps."""
    if episode.outcome is not None:
        yield _outcome_text(episode.outcome)
    for step in episode.steps:
        if _DECIDES.search(step.action):
            yield f"Step {step.step_number}: {shorten(step.action)}"
        for key in _DECIDING_KEYS:
            if (value := step.parameters.get(key)) is not None:
                yield f"Step {step.step_number}: {key} {shorten(str(value), 100)}"


def _outcome_text(outcome: Outcome) -> str:
    match outcome:
        case SuccessOutcome(verdict=verdict):
            return f"Success: {shorten(verdict)}"
        case PartialSuccessOutcome(verdict=verdict):
            return f"Partial success: {shorten(verdict)}"
        case FailureOutcome(reason=reason):
            return f"Failure: {shorten(reason)}"


def _combinations(steps: Sequence[EpisodeStep]) -> Iterator[tuple[str, ...]]:
    """Yield the tools of each run of successful steps, without duplicate runs."""
    seen: set[tuple[str, ...]] = set()
    for succeeded, run in groupby(steps, key=lambda step: step.succeeded):
        tools = tuple(step.tool for step in run)
        if succeeded and len(tools) >= 2 and tools not in seen:
            seen.add(tools)
            yield tools


def _problem(step: EpisodeStep) -> str:
    message = step.result.message if step.result else None
    return shorten(message or step.result_type, 100)
