"""A job as its callers see it."""

from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field

from scrubjay.core.errors import ErrorCode, ErrorRecord
from scrubjay.tooling.jobs.models import Job, JobState

ResultT = TypeVar("ResultT")


class ErrorView(BaseModel):
    """Why something failed."""

    code: ErrorCode = Field(description="The stable name of the failure.")
    message: str = Field(description="What happened.")
    hint: str | None = Field(default=None, description="What can be done about it.")
    details: dict[str, Any] = Field(default_factory=dict[str, Any], description="More, for programs.")

    @classmethod
    def of(cls, record: ErrorRecord) -> "ErrorView":
        return cls(code=record.code, message=record.message, hint=record.hint, details=dict(record.details))


class ProgressView(BaseModel):
    """How far a job has come."""

    done: float = Field(description="Steps done.")
    total: float | None = Field(description="Steps in all, when known.")
    message: str = Field(description="What is being done.")


class JobView(BaseModel, Generic[ResultT]):
    """A job: what it does, how far it is, and its result once it has completed."""

    job_id: str = Field(description="Give this to get_job or cancel_job.")
    tool: str = Field(description="The tool that the job runs.")
    state: JobState = Field(description="Only completed, failed and cancelled are final.")
    progress: ProgressView
    result: ResultT | None = Field(
        description="The tool's result; only a completed job has one, until something that it tells of is forgotten."
    )
    error: ErrorView | None = Field(description="Why it failed; only a failed job has one.")
    attempts: int = Field(description="How often it was begun; more than once after a crash or a restart.")
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


def job_view(job: Job) -> JobView[dict[str, Any]]:
    """The view of any job, its result as plain data."""
    return JobView[dict[str, Any]](
        job_id=job.id,
        tool=job.kind,
        state=job.state,
        progress=ProgressView(done=job.progress.done, total=job.progress.total, message=job.progress.message),
        result=dict(job.result) if job.result is not None else None,
        error=ErrorView.of(job.error) if job.error else None,
        attempts=job.attempts,
        created_at=job.created_at,
        started_at=job.started_at,
        ended_at=job.ended_at,
    )
