"""The status of an index, from its newest job and its stored record."""

from datetime import datetime
from typing import Any

from scrubjay.code_index import IndexRecord, completed_status, status_fields, unknown_index
from scrubjay.tooling.jobs.models import Job, JobState

_STATES = {
    JobState.QUEUED: "queued",
    JobState.RUNNING: "running",
    JobState.CANCELLING: "running",
    JobState.COMPLETED: "completed",
    JobState.FAILED: "failed",
    JobState.CANCELLED: "cancelled",
}
# Percent that must be done before the end time is estimated.
MIN_PERCENT_TO_ESTIMATE = 5


def status_of(index_id: str, record: IndexRecord | None, job: Job | None, now: datetime) -> dict[str, Any]:
    """Return the status from the newest job and the stored record; raise `NotFound` when both are missing."""
    if job is None or (record is not None and job.ended_at is not None and job.ended_at < record.updated_at):
        if record is None:
            raise unknown_index(index_id)
        return completed_status(record)
    ended = job.state.ended
    completed = job.state is JobState.COMPLETED
    stage, _, operation = job.progress.message.partition(": ")
    return status_fields(
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
    if job.started_at is None or job.progress.done < MIN_PERCENT_TO_ESTIMATE:
        return None
    return now + (now - job.started_at) * (100 / job.progress.done - 1)
