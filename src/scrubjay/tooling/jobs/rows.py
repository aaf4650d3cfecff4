"""Conversion between jobs and the columns of their table."""

from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay.core.errors import ErrorCode, ErrorRecord
from scrubjay.core.progress import Progress
from scrubjay.db.sqlite.columns import json_text, json_value, moment, optional_moment
from scrubjay.tooling.jobs.models import Job, JobState


def job_from(row: Sequence[Any]) -> Job:
    """Return the job in a row of the query fragment `columns` in `jobs.sql`."""
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
