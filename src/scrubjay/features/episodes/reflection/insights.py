"""Insights of an episode for later tasks."""

from collections.abc import Iterator
from typing import Final

from scrubjay.features.episodes.models import Episode, FailureOutcome, SuccessOutcome, TypicalEffort
from scrubjay.features.episodes.step_stats import StepCounts
from scrubjay.features.episodes.wording import counted, percent, shorten

MIN_STEPS: Final = 2
MOSTLY: Final = 0.8
RARELY: Final = 0.5
MANY_TOOLS: Final = 5
SLOW_MS: Final = 5_000
# Steps below a typical number divided by this, or above it multiplied by this, are remarkable.
FAR: Final = 2
# Increase of the success rate from the first to the second half that counts as learning.
LEARNING: Final = 0.2
TOOLS_NAMED: Final = 3


def insights(episode: Episode, counts: StepCounts, typical: TypicalEffort | None = None) -> Iterator[str]:
    """Yield insights; none for fewer than two steps."""
    if counts.steps < MIN_STEPS:
        return
    yield from _reliability(counts)
    if counts.recoveries:
        last = counts.recoveries[-1]
        yield f"{shorten(last.succeeded.tool, 60)} recovered from an error of {shorten(last.failed.tool, 60)}"
    context = episode.context
    yield (
        f"A {context.complexity.value} task in {shorten(context.domain, 60)} took {counted(counts.steps, 'step')} and "
        f"{counted(len(counts.tools), 'tool')}"
    )
    if len(counts.tools) > MANY_TOOLS:
        yield f"Used many tools: {len(counts.tools)}"
    elif len(counts.tools) == 1 and counts.steps > 3:
        yield f"Used only one tool: {shorten(next(iter(counts.tools)), 60)}"
    measured = [step.latency_ms for step in episode.steps if step.latency_ms]
    if measured and sum(measured) / len(measured) > SLOW_MS:
        yield f"Steps took {sum(measured) / len(measured) / 1_000:.1f} s on average"
    yield from _against_similar(counts, typical)
    yield from _learning(episode)
    yield from _verdict(episode, counts)
    reliable = [tool for tool, times in counts.tools.items() if times >= 2 and _never_failed(episode, tool)]
    if reliable:
        yield f"Tools to prioritise: {', '.join(shorten(tool, 60) for tool in reliable[:TOOLS_NAMED])}"


def _reliability(counts: StepCounts) -> Iterator[str]:
    rate = counts.success_rate
    if counts.succeeded == counts.steps:
        yield "Every step succeeded: the approach is reliable"
    elif rate >= MOSTLY:
        yield f"{percent(rate)} of the steps succeeded: the approach is mostly reliable"
    elif rate < RARELY:
        yield f"Only {percent(rate)} of the steps succeeded: the approach is not reliable"


def _against_similar(counts: StepCounts, typical: TypicalEffort | None) -> Iterator[str]:
    """Compare the steps with those of similar tasks; without such tasks there is nothing to compare with."""
    if typical is None:
        return
    usual = f"the {typical.steps:g} steps of similar tasks (median of {typical.episodes})"
    if counts.steps < typical.steps / FAR:
        yield f"Took {counts.steps} steps, less than half of {usual}"
    elif counts.steps > typical.steps * FAR:
        yield f"Took {counts.steps} steps, more than twice {usual}"


def _learning(episode: Episode) -> Iterator[str]:
    half = len(episode.steps) // 2
    if half < 2:
        return
    earlier, later = StepCounts.of(episode.steps[:half]), StepCounts.of(episode.steps[half:])
    if later.success_rate >= earlier.success_rate + LEARNING:
        before, after = percent(earlier.success_rate), percent(later.success_rate)
        yield f"The success rate rose from {before} in the first half to {after} in the second"


def _verdict(episode: Episode, counts: StepCounts) -> Iterator[str]:
    match episode.outcome:
        case SuccessOutcome() if counts.success_rate >= MOSTLY:
            yield f"The strategy works for {episode.task_type.value.replace('_', ' ')} tasks"
        case FailureOutcome():
            yield f"Try another strategy for {episode.task_type.value.replace('_', ' ')} tasks like this"
        case _:
            pass


def _never_failed(episode: Episode, tool: str) -> bool:
    return all(step.succeeded for step in episode.steps if step.tool == tool)
