"""Conversion between episodes and SQLite rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, cast

from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.columns import (
    json_text,
    json_value,
    microseconds,
    moment,
    optional_microseconds,
    optional_moment,
)
from scrubjay.features.episodes.models import (
    Checkpoint,
    Complexity,
    Episode,
    EpisodeStep,
    FailureOutcome,
    Outcome,
    OutcomeType,
    PartialSuccessOutcome,
    Quality,
    Reflection,
    ResultType,
    Reward,
    SalientFeatures,
    StepResult,
    SuccessOutcome,
    TaskContext,
    TaskType,
    outcome_type,
)
from scrubjay.features.episodes.store import EpisodeFilter

_OUTCOMES: Mapping[OutcomeType, type[Outcome]] = {
    OutcomeType.SUCCESS: SuccessOutcome,
    OutcomeType.PARTIAL_SUCCESS: PartialSuccessOutcome,
    OutcomeType.FAILURE: FailureOutcome,
}


def episode_values(episode: Episode) -> dict[str, Any]:
    """Return the columns of a new episode."""
    context = episode.context
    return changeable_values(episode) | {
        "id": episode.episode_id,
        "project_id": episode.project_id,
        "client": episode.client or "",
        "task_type": episode.task_type.value,
        "domain": context.domain,
        "folded_domain": folded(context.domain),
        "language": context.language,
        "framework": context.framework,
        "complexity": context.complexity.value,
        "start_time": microseconds(episode.start_time),
    }


def changeable_values(episode: Episode) -> dict[str, Any]:
    """Return the columns that can change after creation."""
    return {
        "task_description": episode.task_description,
        "tags": json_text(episode.context.tags),
        "metadata": json_text(dict(episode.metadata)),
        "checkpoints": json_text([_with_microseconds(one) for one in episode.checkpoints]),
        "applied_patterns": json_text(episode.applied_patterns),
    }


def bytes_of(values: Mapping[str, Any]) -> int:
    """Return the total UTF-8 size of the text values."""
    return sum(len(value.encode()) for value in values.values() if isinstance(value, str))


def folded(domain: str) -> str:
    """Return a domain in the form used for comparison."""
    return domain.casefold().strip()


def completion_values(episode: Episode) -> dict[str, Any]:
    """Return the columns that complete an episode; `ValueError` when a required part is missing."""
    outcome, reward, quality = episode.outcome, episode.reward, episode.quality
    if outcome is None or reward is None or quality is None or episode.end_time is None:
        raise ValueError("this episode is not complete")
    parts = {
        "outcome": asdict(outcome),
        "reward": asdict(reward),
        "quality": asdict(quality),
        "reflection": None if episode.reflection is None else _with_microseconds(episode.reflection),
        "salient_features": None if episode.salient_features is None else asdict(episode.salient_features),
        "patterns": episode.patterns,
        "heuristics": episode.heuristics,
    }
    return {
        "id": episode.episode_id,
        "revision": episode.revision,
        "end_time": microseconds(episode.end_time),
        "outcome_type": outcome_type(outcome).value,
        "reward": reward.total,
        "quality": quality.score,
        "completion": json_text({"type": outcome_type(outcome).value, **parts}),
    }


def step_values(step: EpisodeStep) -> dict[str, Any]:
    return {
        "number": step.step_number,
        "time": microseconds(step.timestamp),
        "tool": step.tool,
        "action": step.action,
        "parameters": json_text(dict(step.parameters)),
        "result": None if step.result is None else json_text(asdict(step.result)),
        "latency_ms": step.latency_ms,
        "tokens_used": step.tokens_used,
        "metadata": json_text(dict(step.metadata)),
    }


def step_from(row: Sequence[Any]) -> EpisodeStep:
    """Read a step from a row of the query `steps`."""
    number, time, tool, action, parameters, result, latency_ms, tokens_used, metadata = row
    return EpisodeStep(
        step_number=number,
        timestamp=moment(time),
        tool=tool,
        action=action,
        parameters=json_value(parameters),
        result=None if result is None else _result_from(json_value(result)),
        latency_ms=latency_ms,
        tokens_used=tokens_used,
        metadata=json_value(metadata),
    )


def episode_from(row: Sequence[Any], steps: Sequence[EpisodeStep] = ()) -> Episode:
    """Read an episode from a row of the query fragment `columns`, whose first value is the seq."""
    (
        _,
        episode_id,
        project_id,
        client,
        task_type,
        domain,
        language,
        framework,
        complexity,
        start_time,
        end_time,
        revision,
        tags,
        metadata,
        task_description,
        checkpoints,
        applied_patterns,
        completion,
    ) = row
    return Episode(
        episode_id=episode_id,
        project_id=project_id,
        client=client or None,
        task_type=TaskType(task_type),
        task_description=task_description,
        context=TaskContext(
            domain=domain,
            language=language,
            framework=framework,
            complexity=Complexity(complexity),
            tags=tuple(json_value(tags)),
        ),
        start_time=moment(start_time),
        end_time=optional_moment(end_time),
        steps=tuple(steps),
        checkpoints=tuple(_checkpoint_from(one) for one in json_value(checkpoints)),
        applied_patterns=tuple(json_value(applied_patterns)),
        metadata=json_value(metadata),
        revision=revision,
        **({} if completion is None else _completion_from(json_value(completion))),
    )


def _completion_from(parts: Mapping[str, Any]) -> dict[str, Any]:
    outcome, reflection, features = parts["outcome"], parts["reflection"], parts["salient_features"]
    return {
        "outcome": _OUTCOMES[OutcomeType(parts["type"])](**_with_tuples(outcome)),
        "reward": Reward(**parts["reward"]),
        "quality": Quality(**parts["quality"]),
        "reflection": None if reflection is None else _reflection_from(reflection),
        "salient_features": None if features is None else SalientFeatures(**_with_tuples(features)),
        "patterns": tuple(parts["patterns"]),
        "heuristics": tuple(parts["heuristics"]),
    }


def _reflection_from(parts: Mapping[str, Any]) -> Reflection:
    fields = _with_tuples(parts)
    fields["generated_at"] = moment(parts["generated_at"])
    return Reflection(**fields)


def _checkpoint_from(parts: Mapping[str, Any]) -> Checkpoint:
    fields: dict[str, Any] = dict(parts)
    fields["created_at"] = moment(parts["created_at"])
    return Checkpoint(**fields)


def _result_from(parts: Mapping[str, Any]) -> StepResult:
    return StepResult(type=ResultType(parts["type"]), output=parts["output"], message=parts["message"])


def _with_microseconds(value: Checkpoint | Reflection) -> dict[str, Any]:
    """Return the fields, with times as microseconds."""
    return {name: microseconds(one) if isinstance(one, datetime) else one for name, one in asdict(value).items()}


def _with_tuples(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Convert JSON lists, nested ones too, to tuples."""
    return {name: _frozen(value) for name, value in parts.items()}


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, cast(list[Any], value))) if isinstance(value, list) else value


def filter_values(visibility: Visibility, only: EpisodeFilter) -> dict[str, Any]:
    """Return the parameters of the query fragments `visible` and `matches_filter`."""
    return {
        "project": visibility.project_id,
        "completed": only.completed,
        "domain": None if only.domain is None else folded(only.domain),
        "task_type": only.task_type,
        "outcome": only.outcome,
        "since": optional_microseconds(only.since),
        "tags": json_text(only.tags) if only.tags else None,
        "min_tags": len(only.tags) if only.all_tags else 1,
    }
