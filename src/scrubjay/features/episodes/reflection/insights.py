"""What an episode shows for the next one."""

from collections.abc import Iterator
from typing import Final

from scrubjay.features.episodes.models import Complexity, Episode, Failure, Success
from scrubjay.features.episodes.step_stats import Tally
from scrubjay.features.episodes.wording import counted, percent, short

FEWEST_STEPS: Final = 2
MOSTLY: Final = 0.8
RARELY: Final = 0.5
MANY_TOOLS: Final = 5
SLOW_MS: Final = 5_000
# How many steps a task of each complexity takes, more or less.
EXPECTED: Final = {Complexity.SIMPLE: 5, Complexity.MODERATE: 15, Complexity.COMPLEX: 30}
# The later half must be so much better than the earlier to speak of learning.
LEARNING: Final = 0.2
TOOLS_NAMED: Final = 3


def insights(episode: Episode, tally: Tally) -> Iterator[str]:
    """Nothing of an episode with fewer than two steps."""
    if tally.steps < FEWEST_STEPS:
        return
    yield from _reliability(tally)
    if tally.recoveries:
        last = tally.recoveries[-1]
        yield f"{short(last.succeeded.tool, 60)} helped after an error of {short(last.failed.tool, 60)}"
    context = episode.context
    yield (
        f"A {context.complexity.value} task in {short(context.domain, 60)} took {counted(tally.steps, 'step')} and "
        f"{counted(len(tally.tools), 'tool')}"
    )
    if len(tally.tools) > MANY_TOOLS:
        yield f"It needed many tools: {len(tally.tools)}"
    elif len(tally.tools) == 1 and tally.steps > 3:
        yield f"One tool did all of it: {short(next(iter(tally.tools)), 60)}"
    average = sum(step.latency_ms for step in episode.steps) / tally.steps
    if average > SLOW_MS:
        yield f"A step took {average / 1_000:.1f} s on average"
    yield from _against_expectation(episode, tally)
    yield from _learning(episode)
    yield from _verdict(episode, tally)
    reliable = [tool for tool, times in tally.tools.items() if times >= 2 and _never_failed(episode, tool)]
    if reliable:
        yield f"Tools to prioritise: {', '.join(short(tool, 60) for tool in reliable[:TOOLS_NAMED])}"


def _reliability(tally: Tally) -> Iterator[str]:
    rate = tally.success_rate
    if tally.succeeded == tally.steps:
        yield "Every step succeeded: the way it was done is reliable"
    elif rate >= MOSTLY:
        yield f"{percent(rate)} of the steps succeeded: the way it was done is mostly reliable"
    elif rate < RARELY:
        yield f"Only {percent(rate)} of the steps succeeded: the way it was done is not reliable"


def _against_expectation(episode: Episode, tally: Tally) -> Iterator[str]:
    expected = EXPECTED[episode.context.complexity]
    if tally.steps < expected / 2:
        yield f"It took less than half of the {expected} steps that such tasks take"
    elif tally.steps > expected * 2:
        yield f"It took more than twice the {expected} steps that such tasks take"


def _learning(episode: Episode) -> Iterator[str]:
    half = len(episode.steps) // 2
    if half < 2:
        return
    earlier, later = Tally.of(episode.steps[:half]), Tally.of(episode.steps[half:])
    if later.success_rate >= earlier.success_rate + LEARNING:
        yield f"Later steps went better: {percent(earlier.success_rate)}, then {percent(later.success_rate)}"


def _verdict(episode: Episode, tally: Tally) -> Iterator[str]:
    match episode.outcome:
        case Success() if tally.success_rate >= MOSTLY:
            yield f"The strategy works for {episode.task_type.value.replace('_', ' ')} tasks"
        case Failure():
            yield f"Another strategy is worth trying for such {episode.task_type.value.replace('_', ' ')} tasks"
        case _:
            pass


def _never_failed(episode: Episode, tool: str) -> bool:
    return all(step.succeeded for step in episode.steps if step.tool == tool)
