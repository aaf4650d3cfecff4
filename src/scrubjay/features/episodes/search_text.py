"""Searchable text of an episode: its indexed words, and the text that is embedded."""

from collections.abc import Iterator
from typing import Final

from scrubjay.features.episodes.models import Episode, FailureOutcome, PartialSuccessOutcome, SuccessOutcome
from scrubjay.search_index.terms import passages, terms

# Bounds the indexed text of an episode with a thousand long steps.
STEP_CHARACTERS: Final = 300
STEPS_CHARACTERS: Final = 60_000
# Vectors of longer texts become unspecific.
EMBEDDED_CHARACTERS: Final = 2_000


def index_terms(episode: Episode) -> tuple[tuple[str, ...], ...]:
    """Return the index terms of the task, labels, outcome and steps."""
    context = episode.context
    labels = (context.domain, context.language, context.framework, episode.task_type.value, *context.tags)
    found = (
        *passages(episode.task_description),
        terms("\n".join(label for label in labels if label)),
        *passages(_outcome_text(episode)),
        *passages(_steps_text(episode)),
    )
    return tuple(passage for passage in found if passage) or ((),)


def embedding_text(episode: Episode) -> str:
    """Return the text to embed: the task and its outcome."""
    return f"{episode.task_description}\n{_outcome_text(episode)}"[:EMBEDDED_CHARACTERS]


def _outcome_text(episode: Episode) -> str:
    match episode.outcome:
        case SuccessOutcome(verdict=verdict, artifacts=artifacts):
            parts = (verdict, *(artifact[:STEP_CHARACTERS] for artifact in artifacts))
        case PartialSuccessOutcome(verdict=verdict, completed=completed, failed=failed):
            parts = (verdict, *completed, *failed)
        case FailureOutcome(reason=reason, error_details=details):
            parts = (reason, details or "")
        case None:
            parts = ()
    return "\n".join(parts)[:STEPS_CHARACTERS]


def _steps_text(episode: Episode) -> str:
    return "\n".join(_step_lines(episode))[:STEPS_CHARACTERS]


def _step_lines(episode: Episode) -> Iterator[str]:
    for step in episode.steps:
        problem = step.result.message if step.result else None
        yield f"{step.tool[:STEP_CHARACTERS]} {step.action[:STEP_CHARACTERS]} {(problem or '')[:STEP_CHARACTERS]}"
