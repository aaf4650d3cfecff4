"""What could be better."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from scrubjay.features.episodes.models import Episode, Failure, PartialSuccess, Step
from scrubjay.features.episodes.step_stats import Tally
from scrubjay.features.episodes.wording import counted, seconds, short

LONG_SECONDS: Final = 300
MANY_STEPS: Final = 50
MANY_ERRORS: Final = 3
MANY_USES: Final = 5
MANY_PAIRS: Final = 2
MANY_TOKENS: Final = 10_000
# A step is a bottleneck that takes so many times the average, and more than a second.
BOTTLENECK: Final = 3
BOTTLENECK_MS: Final = 1_000


def improvements(episode: Episode, tally: Tally) -> Iterator[str]:
    """What failed first, then what took long, then how it was gone about."""
    match episode.outcome:
        case Failure(reason=reason):
            yield f"It failed: {short(reason)}"
        case PartialSuccess(failed=failed) if failed:
            yield f"{counted(len(failed), 'subtask')} failed: {short(', '.join(failed))}"
        case _:
            pass
    failed = [step for step in episode.steps if step.failed]
    if failed:
        yield f"{len(failed)} of {counted(tally.steps, 'step')} failed"
    for tool, times in Counter(step.tool for step in failed).most_common():
        if times >= 2:
            yield f"{short(tool, 60)} failed {times} times: check how it is called, or use another tool"
    duration = episode.duration_seconds
    if duration is not None and duration > LONG_SECONDS:
        yield f"It took {seconds(duration)}: look for steps that can be left out"
    if tally.steps > MANY_STEPS:
        yield f"It took {tally.steps} steps: divide such a task"
    yield from _repeated(failed)
    yield from _bottleneck(episode.steps)
    yield from _habits(episode.steps, tally, failed)


def _repeated(failed: Sequence[Step]) -> Iterator[str]:
    messages = Counter(step.result.message for step in failed if step.result and step.result.message)
    for message, times in messages.most_common():
        if times >= 2:
            yield f"The same error came {times} times: {short(message)}"


def _bottleneck(steps: Sequence[Step]) -> Iterator[str]:
    if not steps:
        return
    slowest = max(steps, key=lambda step: step.latency_ms)
    average = sum(step.latency_ms for step in steps) / len(steps)
    if slowest.latency_ms > BOTTLENECK_MS and slowest.latency_ms > BOTTLENECK * average:
        took = seconds(slowest.latency_ms / 1_000)
        yield f"Step {slowest.step_number} ({short(slowest.tool, 60)}) was a bottleneck: {took}"


def _habits(steps: Sequence[Step], tally: Tally, failed: Sequence[Step]) -> Iterator[str]:
    for tool, times in tally.tools.most_common():
        if times >= MANY_USES:
            yield f"{short(tool, 60)} was used {times} times: one call for several of them may do"
    if len(failed) >= MANY_ERRORS:
        tools = {step.tool for step in failed}
        if len(tools) == 1:
            yield f"All {len(failed)} errors came from {short(failed[0].tool, 60)}: the cause is systematic"
        else:
            yield f"{len(failed)} errors came from {len(tools)} tools: check what they have in common"
    pairs = sum(first.tool == second.tool for first, second in pairwise(steps))
    if pairs >= MANY_PAIRS:
        yield f"The same tool followed itself {pairs} times: such steps may be joined"
    tokens = sum(step.tokens_used or 0 for step in steps)
    if tokens > MANY_TOKENS:
        yield f"The steps took {tokens} tokens: ask for less at once"
