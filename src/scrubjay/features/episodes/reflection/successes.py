"""What went well."""

from collections.abc import Iterator
from typing import Final

from scrubjay.features.episodes.models import Complexity, Episode, Failure, PartialSuccess, Success
from scrubjay.features.episodes.step_stats import Tally
from scrubjay.features.episodes.wording import counted, percent, seconds, short

MOSTLY: Final = 0.8
SMOOTHLY: Final = 0.9
FAST_SECONDS: Final = 30
FIRST_TOOLS: Final = 3
# So many tools are many.
DIVERSE: Final = 3


def successes(episode: Episode, tally: Tally) -> Iterator[str]:
    """The outcome first, then what the steps show, then how it was gone about."""
    yield from _outcome(episode)
    if tally.success_rate >= MOSTLY:
        yield f"{tally.succeeded} of {counted(tally.steps, 'step')} succeeded ({percent(tally.success_rate)})"
    worked = list(dict.fromkeys(step.tool for step in episode.steps if step.succeeded))
    if worked:
        yield f"Tools that worked: {', '.join(short(name, 60) for name in worked[:FIRST_TOOLS])}"
    duration = episode.duration_seconds
    if duration is not None and duration < FAST_SECONDS:
        yield f"Done within {seconds(duration)}"
    if not isinstance(episode.outcome, Failure):
        yield from _approach(episode, tally, duration)


def _outcome(episode: Episode) -> Iterator[str]:
    match episode.outcome:
        case Success(verdict=verdict, artifacts=artifacts):
            yield f"Completed: {short(verdict)}"
            if artifacts:
                yield f"Produced {counted(len(artifacts), 'artifact')}"
        case PartialSuccess(verdict=verdict, completed=completed, failed=failed):
            yield f"Partly completed: {short(verdict)}"
            if completed:
                yield f"{len(completed)} of {counted(len(completed) + len(failed), 'subtask')} completed"
        case Failure() | None:
            pass


def _approach(episode: Episode, tally: Tally, duration: float | None) -> Iterator[str]:
    tools = len(tally.tools)
    if tools >= DIVERSE:
        yield f"A diverse strategy: {tools} tools over {counted(tally.steps, 'step')}"
    elif tools and tally.steps > tools:
        yield f"A focused strategy: {counted(tools, 'tool')} over {counted(tally.steps, 'step')}"
    if tally.steps >= 2 and tally.success_rate > SMOOTHLY:
        yield "A smooth flow: hardly a step failed"
    elif len(tally.recoveries) >= 2:
        yield f"Recovered from errors {len(tally.recoveries)} times"
    if tally.steps and episode.context.complexity is Complexity.COMPLEX:
        yield f"Mastered a complex task in {short(episode.context.domain, 60)}"
    if duration is None or not tally.steps:
        return
    if duration < 60 and tally.steps < 15:
        yield f"Efficient: {counted(tally.steps, 'step')} in {seconds(duration)}"
    elif tally.steps < 5 and duration < 120:
        yield f"Direct: {counted(tally.steps, 'step')} were enough"
