"""A job as its callers see it."""

from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field

from scrubjay.core.errors import Cancelled, ErrorCode, ErrorRecord
from scrubjay.tooling.jobs.models import Job, JobState

ResultT = TypeVar("ResultT")


class ErrorView(BaseModel):
    """The error of a failed job."""

    code: ErrorCode = Field(description="Stable error code.")
    message: str = Field(description="What happened.")
    hint: str | None = Field(default=None, description="How to fix it.")
    details: dict[str, Any] = Field(default_factory=dict[str, Any], description="Machine-readable details.")

    @classmethod
    def of(cls, record: ErrorRecord) -> "ErrorView":
        return cls(code=record.code, message=record.message, hint=record.hint, details=dict(record.details))


class ProgressView(BaseModel):
    """Progress of a job."""

    done: float = Field(description="Steps done.")
    total: float | None = Field(description="Total steps, when known.")
    message: str = Field(description="Current activity.")


class JobView(BaseModel, Generic[ResultT]):
    """A job: its tool, progress and result."""

    job_id: str = Field(description="Pass this to get_job or cancel_job.")
    tool: str = Field(description="The tool that the job runs.")
    state: JobState = Field(description="Only completed, failed and cancelled are final.")
    progress: ProgressView
    result: ResultT | None = Field(
        description="The tool's result, for completed jobs; erased when a memory that it quotes is forgotten."
    )
    error: ErrorView | None = Field(
        description="Why it failed, or why it was cancelled because its key ended; null for other jobs."
    )
    attempts: int = Field(description="Number of attempts; more than one after a crash or restart.")
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


def job_view(job: Job) -> JobView[dict[str, Any]]:
    """Return the view of a job, with its result as plain data."""
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


def flat_result(view: JobView[BaseModel]) -> BaseModel:
    """Return the result of an ended job; raise `Cancelled` for one that has none."""
    if view.result is None:
        raise Cancelled(f"{view.tool} was cancelled", hint="call it again", details={"job_id": view.job_id})
    return view.result
