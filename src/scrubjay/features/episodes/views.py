"""Wire format of episodes, whole or reduced to selected fields, and request types that tools share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final, cast

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.episodes.models import Episode, EpisodeStep, Outcome, TaskType, outcome_type
from scrubjay.tooling.declaration import Request

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TASK_TYPES: Final = ", ".join(TaskType)
MAX_FIELDS: Final = 100


class EpisodeRequest(Request):
    """Base of requests that report a missing field with the message of the do_memory contract."""

    @model_validator(mode="before")
    @classmethod
    def _check_required(cls, given: Any) -> Any:
        if isinstance(given, Mapping):
            values = cast(Mapping[str, Any], given)
            for name, field in cls.model_fields.items():
                if field.is_required() and values.get(name) is None:
                    raise InvalidRequest(
                        f"Missing required field: {name}",
                        hint="required: " + ", ".join(n for n, one in cls.model_fields.items() if one.is_required()),
                        details={"problems": [{"field": name, "problem": "missing"}]},
                    )
        return cast(Any, given)


def episode_id_of(given: Any) -> str:
    """Return the id in stored form; `InvalidRequest` when it is not a UUID."""
    if not isinstance(given, str) or not _UUID.fullmatch(given.strip().lower()):
        raise InvalidRequest(
            f"Invalid episode_id format: {str(given)[:80]}", hint="use the UUID that create_episode returned"
        )
    return given.strip().lower()


def _task_type_of(given: Any) -> Any:
    if given is not None and given not in list(TaskType):
        raise InvalidRequest(f"Invalid task_type: {str(given)[:80]}", hint=f"one of {_TASK_TYPES}")
    return given


EpisodeId = Annotated[
    str,
    BeforeValidator(episode_id_of),
    WithJsonSchema({"type": "string", "format": "uuid", "examples": ["1b4e28ba-2fa1-41d2-883f-0016d3cca427"]}),
    Field(description="Id of the episode, as create_episode returned it."),
]
KindOfTask = Annotated[TaskType, BeforeValidator(_task_type_of)]
FieldPaths = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]] | None,
    Field(max_length=MAX_FIELDS),
]


EPISODE_FIELDS: Final = (
    *("episode_id", "id", "project", "task_type", "task_description", "context", "start_time", "end_time"),
    *("duration_seconds", "steps", "outcome", "reward", "reward_score", "quality", "reflection", "salient_features"),
    *("patterns", "heuristics", "applied_patterns", "checkpoints", "metadata"),
)


def outcome_fields(outcome: Outcome | None) -> dict[str, Any] | None:
    return None if outcome is None else {"type": outcome_type(outcome).value, **asdict(outcome)}


def step_fields(step: EpisodeStep) -> dict[str, Any]:
    return {
        "step_number": step.step_number,
        "timestamp": step.timestamp,
        "tool": step.tool,
        "action": step.action,
        "parameters": dict(step.parameters),
        "result": None if step.result is None else asdict(step.result),
        "latency_ms": step.latency_ms,
        "tokens_used": step.tokens_used,
        "metadata": dict(step.metadata),
    }


def episode_fields(episode: Episode) -> dict[str, Any]:
    """Return all fields of an episode."""
    context, reward, quality = episode.context, episode.reward, episode.quality
    return {
        "episode_id": episode.episode_id,
        "id": episode.episode_id,
        "project": episode.project_id,
        "task_type": episode.task_type.value,
        "task_description": episode.task_description,
        "context": {
            "domain": context.domain,
            "language": context.language,
            "framework": context.framework,
            "complexity": context.complexity.value,
            "tags": list(context.tags),
        },
        "start_time": episode.start_time,
        "end_time": episode.end_time,
        "duration_seconds": episode.duration_seconds,
        "steps": [step_fields(step) for step in episode.steps],
        "outcome": outcome_fields(episode.outcome),
        "reward": None if reward is None else asdict(reward),
        "reward_score": None if reward is None else reward.total,
        "quality": None if quality is None else {**asdict(quality), "low": quality.low},
        "reflection": None if episode.reflection is None else asdict(episode.reflection),
        "salient_features": None if episode.salient_features is None else asdict(episode.salient_features),
        "patterns": list(episode.patterns),
        "heuristics": list(episode.heuristics),
        "applied_patterns": list(episode.applied_patterns),
        "checkpoints": [asdict(one) for one in episode.checkpoints],
        "metadata": dict(episode.metadata),
    }


def refuse_unknown(paths: Sequence[str], known: Sequence[str]) -> None:
    """Raise `InvalidRequest` for a path whose first part is no known field."""
    for path in paths:
        name = path.partition(".")[0]
        if name not in known:
            near = nearest_names(name, known)
            raise InvalidRequest(
                f"unknown field {name[:80]!r} in fields",
                hint=f"did you mean {' or '.join(near)}?" if near else f"known fields: {', '.join(known)}",
            )


def projected(value: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    """Return only the values at these paths, such as `context.domain` or, for each list entry, `steps.tool`."""
    below: dict[str, list[str]] = {}
    for path in paths:
        name, _, rest = path.partition(".")
        below.setdefault(name, []).append(rest)
    return {name: _selected(value[name], below[name]) for name in value if name in below}


def _selected(value: Any, paths: Sequence[str]) -> Any:
    if "" in paths:
        return value
    if isinstance(value, list | tuple):
        return [_selected(entry, paths) for entry in cast(Sequence[Any], value)]
    return projected(cast(Mapping[str, Any], value), paths) if isinstance(value, Mapping) else value
