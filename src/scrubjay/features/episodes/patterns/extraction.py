"""The patterns that one complete episode shows, in its own words."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

from scrubjay.core.ids import settled_id
from scrubjay.features.episodes.models import Episode, ResultType, Step
from scrubjay.features.episodes.patterns.models import (
    ContextPattern,
    DecisionPoint,
    ErrorRecovery,
    Form,
    Pattern,
    ToolSequence,
    goodness,
    key_of,
)

# Which share of the steps must have gone well.
LEAST_SUCCESS: Final = 0.7
LEAST_SUCCESS_OF_RECOVERY: Final = 0.3
MOST_TOOLS: Final = 5
MOST_RECOVERY_STEPS: Final = 5
# Of each kind, in one episode.
MOST_OF_A_KIND: Final = 5
MOST_CHARACTERS: Final = 300

# As whole words: "analysis" asks for nothing, "is it there" does.
_DECISION = re.compile(
    r"\b(?:check(?:s|ed|ing)?|verif(?:y|ies|ied|ying)|validat(?:e|es|ed|ing)|is|has|whether|decid(?:e|es|ed|ing)"
    r"|choos(?:e|es|ing)|chose|select(?:s|ed|ing)?|determin(?:e|es|ed|ing)|confirm(?:s|ed|ing)?)\b",
    re.IGNORECASE,
)
# What an error is called: FileNotFoundError, E0502, ENOENT, error TS2345.
_ERROR_NAME = re.compile(r"\b(?:[A-Z][A-Za-z]*(?:Error|Exception|Failure)|E[A-Z]{3,}|[A-Z]{1,3}\d{3,5})\b")
_SPACE = re.compile(r"\s+")


def patterns_in(episode: Episode) -> list[Pattern]:
    """What the episode shows, each once. Nothing from one that is not complete, or of which too little went well."""
    told = [step for step in episode.steps if step.result is not None]
    if not told or episode.end_time is None:
        return []
    rate = sum(step.succeeded for step in told) / len(told)
    well = goodness(episode)
    found: list[tuple[Form, float]] = []
    if rate >= LEAST_SUCCESS:
        found += [(form, well) for form in (*_sequences(told), *_decisions(told, well), *_contexts(episode, told))]
    if rate >= LEAST_SUCCESS_OF_RECOVERY:
        found += _recoveries(told)
    by_id: dict[str, Pattern] = {}
    for form, success in found:
        pattern = _pattern(episode, form, success, episode.end_time)
        by_id.setdefault(pattern.id, pattern)
    return list(by_id.values())


def _pattern(episode: Episode, form: Form, success: float, at: datetime) -> Pattern:
    # The same of everything that could tell it from others: two processes that find it at once give it one id.
    where = (episode.project_id or "", episode.task_type.value, episode.context.domain.casefold().strip())
    named = "\n".join((*where, key_of(form)))
    return Pattern(
        id=settled_id("pattern", 0, named),
        project_id=episode.project_id,
        task_type=episode.task_type,
        context=episode.context,
        form=form,
        sample=1,
        successes=success,
        evidence=(episode.episode_id,),
        created_at=at,
        last_seen=at,
    )


def _sequences(steps: Sequence[Step]) -> Iterator[ToolSequence]:
    """Runs of at least two tools without a failure in between; a tool that is used again and again counts once."""
    count = 0
    for succeeded, run in groupby(steps, key=lambda step: step.succeeded):
        if not succeeded:
            continue
        uses = [list(same) for _, same in groupby(run, key=lambda step: step.tool)]
        for start in range(0, len(uses), MOST_TOOLS):
            part = uses[start : start + MOST_TOOLS]
            if len(part) < 2 or count == MOST_OF_A_KIND:
                continue
            count += 1
            latencies = [step.latency_ms for same in part for step in same]
            yield ToolSequence(
                tools=tuple(shortened(same[0].tool) for same in part), avg_latency_ms=sum(latencies) / len(latencies)
            )


def _decisions(steps: Sequence[Step], well: float) -> Iterator[DecisionPoint]:
    """Something was checked, and what was done next."""
    deciding = [place for place, step in enumerate(steps[:-1]) if _DECISION.search(step.action)]
    for place in deciding[:MOST_OF_A_KIND]:
        then = steps[place + 1]
        yield DecisionPoint(
            condition=shortened(steps[place].action),
            action=shortened(f"{then.tool}: {then.action}"),
            success_count=int(well > 0.5),
            failure_count=int(well <= 0.5),
            avg_duration_secs=then.latency_ms / 1000,
        )


def _recoveries(steps: Sequence[Step]) -> Iterator[tuple[ErrorRecovery, float]]:
    """A failure, what was done until something went well again, and whether the same failed no more after that."""
    count, place = 0, 0
    while place < len(steps) and count < MOST_OF_A_KIND:
        failed = steps[place]
        place += 1
        if not failed.failed:
            continue
        ahead = steps[place : place + MOST_RECOVERY_STEPS]
        helped = next((index for index, step in enumerate(ahead) if step.succeeded), None)
        if helped is None:
            continue
        kind = error_type(failed)
        later = steps[place + helped + 1 :]
        again = any(step.failed and step.tool == failed.tool and error_type(step) == kind for step in later)
        count += 1
        place += helped + 1
        yield (
            ErrorRecovery(
                error_type=kind,
                recovery_steps=tuple(shortened(f"{step.tool}: {step.action}") for step in ahead[: helped + 1]),
            ),
            0.0 if again else 1.0,
        )


def _contexts(episode: Episode, steps: Sequence[Step]) -> Iterator[ContextPattern]:
    context = episode.context
    features = {
        "task": episode.task_type.value,
        "domain": context.domain,
        "language": context.language,
        "framework": context.framework,
        "complexity": context.complexity.value,
    }
    tools = list(dict.fromkeys(step.tool for step in steps if step.succeeded))[:MOST_TOOLS]
    if tools:
        yield ContextPattern(
            context_features=tuple(f"{name}: {shortened(value)}" for name, value in features.items() if value),
            recommended_approach=f"Work with {', '.join(map(shortened, tools))}",
        )


def error_type(step: Step) -> str:
    """What sort of failure it was: the name that its message has for it, else the beginning of the message."""
    if step.result is not None and step.result.type is ResultType.TIMEOUT:
        return f"timeout of {shortened(step.tool)}"
    message = (step.result.message if step.result is not None else None) or ""
    if named := _ERROR_NAME.search(message):
        return named[0]
    first = next((line for line in message.splitlines() if line.strip()), "")
    return shortened(first.split(":")[0], 80) or f"error of {shortened(step.tool)}"


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """A text in one line, no longer than that."""
    line = _SPACE.sub(" ", text).strip()
    return line if len(line) <= most else f"{line[: most - 3].rstrip()}..."
