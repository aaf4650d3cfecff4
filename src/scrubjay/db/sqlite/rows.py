"""How values are written in SQLite's columns and read back."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from scrubjay.core.errors import ErrorCode, ErrorRecord
from scrubjay.core.progress import Progress
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Ageing, Kind, Memory, Receipt
from scrubjay.features.projects.models import Project
from scrubjay.tooling.jobs.models import Job, JobState

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Several times faster than `json.loads`, which looks for what our own text never has.
_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)

_SCOPES = {scope.value: scope for scope in Scope}
_KINDS = {kind.value: kind for kind in Kind}


def microseconds(time: datetime) -> int:
    """The moment as a whole number; nothing of it is lost."""
    return (time - _EPOCH) // _MICROSECOND


def optional_microseconds(time: datetime | None) -> int | None:
    return None if time is None else microseconds(time)


def moment(value: int) -> datetime:
    return _EPOCH + timedelta(0, 0, value)


def optional_moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def json_text(value: Any) -> str:
    return _ENCODER.encode(value)


def json_value(text: str) -> Any:
    return _DECODER.raw_decode(text)[0]


def memory_from(row: Sequence[Any]) -> Memory:
    """The memory in a row of the query fragment `columns` in `memories.sql`."""
    (
        memory_id,
        scope,
        project_id,
        session_id,
        content,
        key,
        category,
        importance,
        confidence,
        speaker,
        tags,
        metadata,
        occurred_at,
        recorded_at,
        updated_at,
        kind,
        details,
        provenance,
        subject,
        valid_from,
        valid_until,
        superseded_by,
        protected,
    ) = row
    return Memory(
        id=memory_id,
        scope=_SCOPES[scope],
        project_id=project_id,
        session_id=session_id,
        content=content,
        key=key,
        category=category,
        importance=importance,
        confidence=confidence,
        speaker=speaker,
        tags=() if tags == "[]" else tuple(json_value(tags)),
        metadata={} if metadata == "{}" else json_value(metadata),
        occurred_at=optional_moment(occurred_at),
        recorded_at=(recorded := moment(recorded_at)),
        updated_at=recorded if updated_at == recorded_at else moment(updated_at),
        kind=_KINDS[kind],
        details={} if details == "{}" else json_value(details),
        provenance={} if provenance == "{}" else json_value(provenance),
        subject=subject,
        valid_from=optional_moment(valid_from),
        valid_until=optional_moment(valid_until),
        superseded_by=superseded_by,
        protected=bool(protected),
    )


def memory_values(memory: Memory) -> dict[str, Any]:
    """A memory's own columns; who sees it is kept as its audience."""
    return {
        "id": memory.id,
        "session_id": memory.session_id,
        "content": memory.content,
        "key": memory.key,
        "category": memory.category,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "speaker": memory.speaker,
        "tags": json_text(memory.tags) if memory.tags else "[]",
        "metadata": json_text(dict(memory.metadata)) if memory.metadata else "{}",
        "occurred_at": optional_microseconds(memory.occurred_at),
        "recorded_at": (recorded_at := microseconds(memory.recorded_at)),
        "updated_at": recorded_at if memory.updated_at is memory.recorded_at else microseconds(memory.updated_at),
        "kind": memory.kind.value,
        "details": json_text(dict(memory.details)) if memory.details else "{}",
        "provenance": _provenance_text(memory.provenance),
        "subject": memory.subject,
        "valid_from": optional_microseconds(memory.valid_from),
        "valid_until": optional_microseconds(memory.valid_until),
        "superseded_by": memory.superseded_by,
        "protected": int(memory.protected),
    }


def _provenance_text(provenance: Mapping[str, Any]) -> str:
    """As JSON. Where memories come from is the same for many of them."""
    if all(type(value) is str for value in provenance.values()):
        return _text_of_names(tuple(provenance.items()))
    return json_text(dict(provenance))


@lru_cache(maxsize=256)
def _text_of_names(items: tuple[tuple[str, str], ...]) -> str:
    return json_text(dict(items))


def ageing_from(row: Sequence[Any]) -> Ageing:
    """What a row of the query fragment `ageing` in `forgetting.sql` says of a memory, without its place."""
    memory_id, kind, importance, recorded_at, uses, used_at, protected, superseded = row
    return Ageing(
        id=memory_id,
        kind=_KINDS[kind],
        importance=importance,
        recorded_at=moment(recorded_at),
        uses=uses,
        used_at=optional_moment(used_at),
        protected=bool(protected),
        superseded=bool(superseded),
    )


def receipt_from(values: Mapping[str, Any]) -> Receipt:
    """A receipt that was kept as JSON."""
    lists = (tuple(values[name]) for name in ("superseded", "conflicts", "masked"))
    return Receipt(values["id"], values["outcome"], _SCOPES[values["scope"]], values["project_id"], *lists)


def project_from(row: Sequence[Any]) -> Project:
    """The project in a row of the query fragment `columns` in `projects.sql`."""
    project_id, path, name, created_at = row
    return Project(id=project_id, path=path, name=name, created_at=moment(created_at))


def job_from(row: Sequence[Any]) -> Job:
    """The job in a row of the query fragment `columns` in `jobs.sql`."""
    (
        job_id,
        kind,
        payload,
        state,
        done,
        total,
        message,
        result,
        error,
        attempts,
        owner,
        created_at,
        started_at,
        ended_at,
    ) = row
    return Job(
        id=job_id,
        kind=kind,
        payload=json_value(payload),
        state=JobState(state),
        progress=Progress(done, total, message),
        result=None if result is None else json_value(result),
        error=None if error is None else _error_from(json_value(error)),
        attempts=attempts,
        owner=owner,
        created_at=moment(created_at),
        started_at=optional_moment(started_at),
        ended_at=optional_moment(ended_at),
    )


def progress_values(progress: Progress) -> dict[str, Any]:
    return {"done": progress.done, "total": progress.total, "message": progress.message}


def error_text(error: ErrorRecord) -> str:
    return json_text({"code": error.code, "message": error.message, "hint": error.hint, "details": dict(error.details)})


def _error_from(record: Mapping[str, Any]) -> ErrorRecord:
    return ErrorRecord(ErrorCode(record["code"]), record["message"], record["hint"], record["details"])
