"""Successes of an episode."""

from collections.abc import Iterator
from typing import Final

from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    FailureOutcome,
    PartialSuccessOutcome,
    SuccessOutcome,
    TypicalEffort,
    effort_of,
)
from scrubjay.features.episodes.step_stats import StepCounts
from scrubjay.features.episodes.wording import counted, percent, seconds, shorten

MOSTLY: Final = 0.8
SMOOTHLY: Final = 0.9
FAST_SECONDS: Final = 30
FIRST_TOOLS: Final = 3
# Tools from which a strategy counts as diverse.
DIVERSE: Final = 3


def successes(episode: Episode, counts: StepCounts, typical: TypicalEffort | None = None) -> Iterator[str]:
    """Yield the outcome first, then results of the steps, then the approach."""
    yield from _outcome(episode)
    if counts.success_rate >= MOSTLY:
        yield f"{counts.succeeded} of {counted(counts.steps, 'step')} succeeded ({percent(counts.success_rate)})"
    successful = list(dict.fromkeys(step.tool for step in episode.steps if step.succeeded))
    if successful:
        yield f"Successful tools: {', '.join(shorten(name, 60) for name in successful[:FIRST_TOOLS])}"
    duration = effort_of(episode).measured_seconds
    if duration is not None and duration < FAST_SECONDS:
        yield f"Finished in {seconds(duration)}"
    if not isinstance(episode.outcome, FailureOutcome):
        yield from _approach(episode, counts, duration, typical)


def _outcome(episode: Episode) -> Iterator[str]:
    match episode.outcome:
        case SuccessOutcome(verdict=verdict, artifacts=artifacts):
            yield f"Completed: {shorten(verdict)}"
            if artifacts:
                yield f"Produced {counted(len(artifacts), 'artifact')}"
        case PartialSuccessOutcome(verdict=verdict, completed=completed, failed=failed):
            yield f"Partly completed: {shorten(verdict)}"
            if completed:
                yield f"{len(completed)} of {counted(len(completed) + len(failed), 'subtask')} completed"
        case FailureOutcome() | None:
            pass


def _approach(
    episode: Episode, counts: StepCounts, duration: float | None, typical: TypicalEffort | None
) -> Iterator[str]:
    tools = len(counts.tools)
    if tools >= DIVERSE:
        yield f"A diverse strategy: {tools} tools over {counted(counts.steps, 'step')}"
    elif tools and counts.steps > tools:
        yield f"A focused strategy: {counted(tools, 'tool')} over {counted(counts.steps, 'step')}"
    if counts.steps >= 2 and counts.success_rate > SMOOTHLY:
        yield "A smooth flow: few steps failed"
    elif len(counts.recoveries) >= 2:
        yield f"Recovered from errors {len(counts.recoveries)} times"
    if counts.steps and episode.context.complexity is Complexity.COMPLEX:
        yield f"Handled a complex task in {shorten(episode.context.domain, 60)}"
    if duration is None or not counts.steps or (typical is not None and counts.steps > typical.steps):
        return
    if duration < 60 and counts.steps < 15:
        yield f"Efficient: {counted(counts.steps, 'step')} in {seconds(duration)}"
    elif counts.steps < 5 and duration < 120:
        yield f"Direct: needed only {counted(counts.steps, 'step')}"
