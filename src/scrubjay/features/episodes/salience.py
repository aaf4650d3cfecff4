"""What stands out in an episode."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import Final

from scrubjay.features.episodes.models import Episode, Failure, Outcome, PartialSuccess, SalientFeatures, Step, Success
from scrubjay.features.episodes.step_stats import Tally
from scrubjay.features.episodes.wording import short

MOST_DECISIONS: Final = 10
MOST_COMBINATIONS: Final = 5
MOST_RECOVERIES: Final = 10
MOST_INSIGHTS: Final = 15
_DECIDES: Final = re.compile(
    r"\b(?:choos(?:e|es|ing)|chose|chosen|decid(?:e|es|ed|ing)|select(?:s|ed|ing)?|opt(?:s|ed|ing)? for)\b",
    re.IGNORECASE,
)
_DECIDING_KEYS: Final = ("strategy", "approach", "method", "algorithm")


def salient_features(episode: Episode) -> SalientFeatures:
    """Of an episode that has its outcome and its reflection."""
    tally = Tally.of(episode.steps)
    reflection = episode.reflection
    lessons = (*reflection.insights, *reflection.improvements, *reflection.successes) if reflection else ()
    return SalientFeatures(
        critical_decisions=tuple(islice(_decisions(episode), MOST_DECISIONS)),
        tool_combinations=tuple(islice(_combinations(episode.steps), MOST_COMBINATIONS)),
        error_recovery_patterns=tuple(
            f"{_problem(one.failed)} → {short(one.succeeded.action, 100)} ({short(one.succeeded.tool, 60)})"
            for one in tally.recoveries[:MOST_RECOVERIES]
        ),
        key_insights=lessons[:MOST_INSIGHTS],
    )


def _decisions(episode: Episode) -> Iterator[str]:
    """The outcome, which is never left out, then what steps decided."""
    if episode.outcome is not None:
        yield _said(episode.outcome)
    for step in episode.steps:
        if _DECIDES.search(step.action):
            yield f"Step {step.step_number}: {short(step.action)}"
        for key in _DECIDING_KEYS:
            if (value := step.parameters.get(key)) is not None:
                yield f"Step {step.step_number}: {key} {short(str(value), 100)}"


def _said(outcome: Outcome) -> str:
    match outcome:
        case Success(verdict=verdict):
            return f"Success: {short(verdict)}"
        case PartialSuccess(verdict=verdict):
            return f"Partial success: {short(verdict)}"
        case Failure(reason=reason):
            return f"Failure: {short(reason)}"


def _combinations(steps: Sequence[Step]) -> Iterator[tuple[str, ...]]:
    """The tools of successes that follow one another, each such run once."""
    seen: set[tuple[str, ...]] = set()
    for succeeded, run in groupby(steps, key=lambda step: step.succeeded):
        tools = tuple(step.tool for step in run)
        if succeeded and len(tools) >= 2 and tools not in seen:
            seen.add(tools)
            yield tools


def _problem(step: Step) -> str:
    said = step.result.message if step.result else None
    return short(said or step.result_type, 100)
