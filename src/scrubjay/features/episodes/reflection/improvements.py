"""Possible improvements of an episode."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from scrubjay.features.episodes.models import (
    Episode,
    EpisodeStep,
    FailureOutcome,
    PartialSuccessOutcome,
    TypicalEffort,
    effort_of,
)
from scrubjay.features.episodes.step_stats import StepCounts
from scrubjay.features.episodes.wording import counted, seconds, shorten

LONG_SECONDS: Final = 300
MANY_STEPS: Final = 50
MANY_ERRORS: Final = 3
MANY_USES: Final = 5
MANY_PAIRS: Final = 2
MANY_TOKENS: Final = 10_000
# Effort above this multiple of the typical one is remarkable.
FAR_MORE: Final = 2
# A bottleneck takes more than a second and more than this multiple of the average step.
BOTTLENECK: Final = 3
BOTTLENECK_MS: Final = 1_000


def improvements(episode: Episode, counts: StepCounts, typical: TypicalEffort | None = None) -> Iterator[str]:
    """Yield failures first, then slow parts, then inefficient habits."""
    match episode.outcome:
        case FailureOutcome(reason=reason):
            yield f"Failed: {shorten(reason)}"
        case PartialSuccessOutcome(failed=failed) if failed:
            yield f"{counted(len(failed), 'subtask')} failed: {shorten(', '.join(failed))}"
        case _:
            pass
    failed = [step for step in episode.steps if step.failed]
    if failed:
        yield f"{len(failed)} of {counted(counts.steps, 'step')} failed"
    for tool, times in Counter(step.tool for step in failed).most_common():
        if times >= 2:
            yield f"{shorten(tool, 60)} failed {times} times: check its arguments, or use another tool"
    yield from _excess(episode, counts, typical)
    yield from _repeated(failed)
    yield from _bottleneck(episode.steps)
    yield from _habits(episode.steps, counts, failed)


def _excess(episode: Episode, counts: StepCounts, typical: TypicalEffort | None) -> Iterator[str]:
    """Yield that a task took long or many steps: compared with similar ones, without them by fixed limits."""
    duration = effort_of(episode).measured_seconds
    if typical is not None and typical.seconds is not None:
        if duration is not None and duration > FAR_MORE * typical.seconds:
            usual = f"{seconds(typical.seconds)} (median of {typical.episodes})"
            yield f"Took {seconds(duration)}, similar tasks {usual}: look for unnecessary steps"
    elif duration is not None and duration > LONG_SECONDS:
        yield f"Took {seconds(duration)}: look for unnecessary steps"
    if counts.steps > MANY_STEPS and (typical is None or counts.steps > FAR_MORE * typical.steps):
        yield f"Took {counts.steps} steps: split such tasks"


def _repeated(failed: Sequence[EpisodeStep]) -> Iterator[str]:
    messages = Counter(step.result.message for step in failed if step.result and step.result.message)
    for message, times in messages.most_common():
        if times >= 2:
            yield f"The same error occurred {times} times: {shorten(message)}"


def _bottleneck(steps: Sequence[EpisodeStep]) -> Iterator[str]:
    if not steps:
        return
    slowest = max(steps, key=lambda step: step.latency_ms)
    average = sum(step.latency_ms for step in steps) / len(steps)
    if slowest.latency_ms > BOTTLENECK_MS and slowest.latency_ms > BOTTLENECK * average:
        duration = seconds(slowest.latency_ms / 1_000)
        yield f"Step {slowest.step_number} ({shorten(slowest.tool, 60)}) was a bottleneck: {duration}"


def _habits(steps: Sequence[EpisodeStep], counts: StepCounts, failed: Sequence[EpisodeStep]) -> Iterator[str]:
    for tool, times in counts.tools.most_common():
        if times >= MANY_USES:
            yield f"{shorten(tool, 60)} was used {times} times: consider combining calls"
    if len(failed) >= MANY_ERRORS:
        tools = {step.tool for step in failed}
        if len(tools) == 1:
            yield f"All {len(failed)} errors came from {shorten(failed[0].tool, 60)}: look for a systematic cause"
        else:
            yield f"{len(failed)} errors came from {len(tools)} tools: look for a common cause"
    pairs = sum(first.tool == second.tool for first, second in pairwise(steps))
    if pairs >= MANY_PAIRS:
        yield f"Consecutive steps used the same tool {pairs} times: consider combining them"
    tokens = sum(step.tokens_used or 0 for step in steps)
    if tokens > MANY_TOKENS:
        yield f"The steps used {tokens} tokens: request less output per step"
