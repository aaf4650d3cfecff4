"""What an episode can be found by: its words, and the text whose meaning it has."""

from collections.abc import Iterator
from typing import Final

from scrubjay.features.episodes.models import Episode, Failure, PartialSuccess, Success
from scrubjay.search_index.terms import passages, terms

# What is told of each step is enough to find it; an episode of a thousand long ones stays readable.
STEP_CHARACTERS: Final = 300
STEPS_CHARACTERS: Final = 60_000
# The meaning of more text is that of nothing in particular.
MEANING_CHARACTERS: Final = 2_000


def words_of(episode: Episode) -> tuple[tuple[str, ...], ...]:
    """The terms of its task, its labels, its outcome and its steps."""
    context = episode.context
    labels = (context.domain, context.language, context.framework, episode.task_type.value, *context.tags)
    found = (
        *passages(episode.task_description),
        terms("\n".join(label for label in labels if label)),
        *passages(_ending(episode)),
        *passages(_done(episode)),
    )
    return tuple(passage for passage in found if passage) or ((),)


def meaning_text(episode: Episode) -> str:
    """What was to be done, and what became of it."""
    return f"{episode.task_description}\n{_ending(episode)}"[:MEANING_CHARACTERS]


def _ending(episode: Episode) -> str:
    match episode.outcome:
        case Success(verdict=verdict, artifacts=artifacts):
            told = (verdict, *(artifact[:STEP_CHARACTERS] for artifact in artifacts))
        case PartialSuccess(verdict=verdict, completed=completed, failed=failed):
            told = (verdict, *completed, *failed)
        case Failure(reason=reason, error_details=details):
            told = (reason, details or "")
        case None:
            told = ()
    return "\n".join(told)[:STEPS_CHARACTERS]


def _done(episode: Episode) -> str:
    return "\n".join(_each_step(episode))[:STEPS_CHARACTERS]


def _each_step(episode: Episode) -> Iterator[str]:
    for step in episode.steps:
        problem = step.result.message if step.result else None
        yield f"{step.tool[:STEP_CHARACTERS]} {step.action[:STEP_CHARACTERS]} {(problem or '')[:STEP_CHARACTERS]}"
