"""How far an index is, in the words that clients of Mimir know."""

from datetime import datetime
from typing import Any

from scrubjay.code_index.index.indexer import unknown_index
from scrubjay.code_index.store import IndexRecord
from scrubjay.tooling.jobs.models import Job, JobState

_STATES = {
    JobState.QUEUED: "queued",
    JobState.RUNNING: "running",
    JobState.CANCELLING: "running",
    JobState.COMPLETED: "completed",
    JobState.FAILED: "failed",
    JobState.CANCELLED: "cancelled",
}
# Before that, in hundredths, nothing can be said about the end.
FIRST_ESTIMATE = 5


def status_of(index_id: str, record: IndexRecord | None, job: Job | None, now: datetime) -> dict[str, Any]:
    """The status, by the newest job that built it and what is kept of it; `NotFound` when there is neither."""
    if job is None or (record is not None and job.ended_at is not None and job.ended_at < record.updated_at):
        if record is None:
            raise unknown_index(index_id)
        return _status(index_id, "completed", progress=100, started_at=record.updated_at, ended_at=record.updated_at)
    ended = job.state.ended
    completed = job.state is JobState.COMPLETED
    stage, _, operation = job.progress.message.partition(": ")
    return _status(
        index_id,
        _STATES[job.state],
        stage=None if completed or not stage else stage,
        progress=100 if completed else round(job.progress.done),
        started_at=job.started_at,
        ended_at=job.ended_at,
        estimated_completion=None if ended else _estimate(job, now),
        current_operation=None if ended or not operation else operation,
        error=job.error.message if job.error else None,
        job_id=job.id,
    )


def _estimate(job: Job, now: datetime) -> datetime | None:
    if job.started_at is None or job.progress.done < FIRST_ESTIMATE:
        return None
    return now + (now - job.started_at) * (100 / job.progress.done - 1)


def _status(
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
