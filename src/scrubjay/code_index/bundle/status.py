"""The status of an index as JSON data, with the names that clients of Mimir know."""

from datetime import datetime
from typing import Any

from scrubjay.code_index.store import IndexRecord


def completed_status(record: IndexRecord) -> dict[str, Any]:
    """Return the status of a complete index that no job is working on."""
    at = record.updated_at
    return status_fields(record.id, "completed", progress=100, started_at=at, ended_at=at)


def status_fields(
    index_id: str,
    state: str,
    *,
    progress: int,
    started_at: datetime | None,
    ended_at: datetime | None,
    stage: str | None = None,
    estimated_completion: datetime | None = None,
    current_operation: str | None = None,
    error: str | None = None,
    job_id: str | None = None,
) -> dict[str, Any]:
    """Return a status as JSON data, with the names that clients of Mimir know."""
    return {
        "index_id": index_id,
        "state": state,
        "stage": stage,
        "progress": progress,
        "started_at": _text(started_at),
        "estimated_completion": _text(estimated_completion),
        "current_operation": current_operation,
        "error": error,
        "ended_at": _text(ended_at),
        "job_id": job_id,
    }


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
