"""Extract the patterns of one complete episode."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

from scrubjay.core.ids import deterministic_id
from scrubjay.features.episodes.models import Episode, EpisodeStep, ResultType
from scrubjay.features.episodes.patterns.models import (
    ContextPattern,
    DecisionPoint,
    ErrorRecovery,
    Form,
    Pattern,
    ToolSequence,
    form_key,
    success_score,
)

# Minimum share of successful steps of an episode; recoveries occur in episodes with failures, so they need less.
MIN_SUCCESS_RATE: Final = 0.7
MIN_RECOVERY_SUCCESS_RATE: Final = 0.3
MAX_TOOLS: Final = 5
MAX_RECOVERY_STEPS: Final = 5
# Patterns of one type from one episode.
MAX_PER_TYPE: Final = 5
MAX_CHARACTERS: Final = 300

# Whole words only. `is` and `has` occur in any sentence; "check out" and SQL's SELECT decide nothing.
_DECISION = re.compile(
    r"\b(?:check(?:s|ed|ing)?(?!\s+(?:out|in)\b)|verif(?:y|ies|ied|ying)|validat(?:e|es|ed|ing)|whether"
    r"|decid(?:e|es|ed|ing)|choos(?:e|es|ing)|chose|(?-i:(?!SELECT))select(?:s|ed|ing)?|determin(?:e|es|ed|ing)"
    r"|confirm(?:s|ed|ing)?)\b",
    re.IGNORECASE,
)
# Names of errors: FileNotFoundError, E0502, ENOENT, TS2345.
_ERROR_NAME = re.compile(r"\b(?:[A-Z][A-Za-z]*(?:Error|Exception|Failure)|E[A-Z]{3,}|[A-Z]{1,3}\d{3,5})\b")
_SPACE = re.compile(r"\s+")


def extract_patterns(episode: Episode) -> list[Pattern]:
    """Return the patterns of an episode without duplicates; none if it is open or too few of its steps succeeded.

    Those of a failed episode are returned whatever its steps, because they count against known patterns.
    """
    steps = [step for step in episode.steps if step.result is not None]
    if not steps or episode.end_time is None:
        return []
    rate = sum(step.succeeded for step in steps) / len(steps)
    score = success_score(episode)
    found: list[tuple[Form, float]] = []
    if rate >= MIN_SUCCESS_RATE or score == 0:
        forms = (*_sequences(steps), *_decisions(steps, score), *_contexts(episode, steps))
        found += [(form, score) for form in forms]
    if rate >= MIN_RECOVERY_SUCCESS_RATE:
        found += [(form, score * lasted) for form, lasted in _recoveries(steps)]
    by_id: dict[str, Pattern] = {}
    for form, success in found:
        pattern = _pattern(episode, form, success, episode.end_time)
        by_id.setdefault(pattern.id, pattern)
    return list(by_id.values())


def _pattern(episode: Episode, form: Form, success: float, at: datetime) -> Pattern:
    # The id is a function of everything that identifies the pattern, so that two processes give it the same id.
    where = (episode.project_id or "", episode.task_type.value, episode.context.domain.casefold().strip())
    named = "\n".join((*where, form_key(form)))
    return Pattern(
        id=deterministic_id("pattern", 0, named),
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


def _sequences(steps: Sequence[EpisodeStep]) -> Iterator[ToolSequence]:
    """Yield runs of at least two tools without a failure; repeated uses of a tool count as one."""
    count = 0
    for succeeded, run in groupby(steps, key=lambda step: step.succeeded):
        if not succeeded:
            continue
        uses = [list(same) for _, same in groupby(run, key=lambda step: step.tool)]
        for start in range(0, len(uses), MAX_TOOLS):
            part = uses[start : start + MAX_TOOLS]
            if len(part) < 2 or count == MAX_PER_TYPE:
                continue
            count += 1
            latencies = [step.latency_ms for same in part for step in same]
            yield ToolSequence(
                tools=tuple(shorten_line(same[0].tool) for same in part), avg_latency_ms=sum(latencies) / len(latencies)
            )


def _decisions(steps: Sequence[EpisodeStep], score: float) -> Iterator[DecisionPoint]:
    """Yield steps that check or decide something, each with the next step."""
    deciding = [index for index, step in enumerate(steps[:-1]) if _DECISION.search(step.action)]
    for index in deciding[:MAX_PER_TYPE]:
        then = steps[index + 1]
        yield DecisionPoint(
            condition=shorten_line(steps[index].action),
            action=shorten_line(f"{then.tool}: {then.action}"),
            success_count=int(score > 0.5),
            failure_count=int(score <= 0.5),
            avg_duration_secs=then.latency_ms / 1000,
        )


def _recoveries(steps: Sequence[EpisodeStep]) -> Iterator[tuple[ErrorRecovery, float]]:
    """Yield failures with the steps until the next success, and 1 if the failure did not occur again, else 0."""
    count, position = 0, 0
    while position < len(steps) and count < MAX_PER_TYPE:
        failed = steps[position]
        position += 1
        if not failed.failed:
            continue
        ahead = steps[position : position + MAX_RECOVERY_STEPS]
        helped = next((index for index, step in enumerate(ahead) if step.succeeded), None)
        if helped is None:
            continue
        kind = error_type(failed)
        later = steps[position + helped + 1 :]
        again = any(step.failed and step.tool == failed.tool and error_type(step) == kind for step in later)
        count += 1
        position += helped + 1
        yield (
            ErrorRecovery(
                error_type=kind,
                recovery_steps=tuple(shorten_line(f"{step.tool}: {step.action}") for step in ahead[: helped + 1]),
            ),
            0.0 if again else 1.0,
        )


def _contexts(episode: Episode, steps: Sequence[EpisodeStep]) -> Iterator[ContextPattern]:
    context = episode.context
    features = {
        "task": episode.task_type.value,
        "domain": context.domain,
        "language": context.language,
        "framework": context.framework,
        "complexity": context.complexity.value,
    }
    tools = list(dict.fromkeys(step.tool for step in steps if step.succeeded))[:MAX_TOOLS]
    if tools:
        yield ContextPattern(
            context_features=tuple(f"{name}: {shorten_line(value)}" for name, value in features.items() if value),
            recommended_approach=f"Work with {', '.join(map(shorten_line, tools))}",
        )


def error_type(step: EpisodeStep) -> str:
    """Return the error name in the message of a failed step, else the beginning of the message."""
    if step.result is not None and step.result.type is ResultType.TIMEOUT:
        return f"timeout of {shorten_line(step.tool)}"
    message = (step.result.message if step.result is not None else None) or ""
    if named := _ERROR_NAME.search(message):
        return named[0]
    first = next((line for line in message.splitlines() if line.strip()), "")
    return shorten_line(first.split(":")[0], 80) or f"error of {shorten_line(step.tool)}"


def shorten_line(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Return the text on one line, truncated to `max_characters`."""
    line = _SPACE.sub(" ", text).strip()
    return line if len(line) <= max_characters else f"{line[: max_characters - 3].rstrip()}..."
