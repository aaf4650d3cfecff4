"""Tools for jobs: get, list, cancel."""

from typing import Any

from pydantic import Field

from scrubjay.core.callers import EVERYTHING
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_access import check_may_cancel, visible_job, visible_jobs
from scrubjay.tooling.job_view import JobView, job_view
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService

# Number of newest jobs that are filtered for a key without access to everything.
MAX_FILTERED_JOBS = 2_000


class GetJobRequest(Request):
    job_id: str = Field(
        min_length=1, max_length=100, description="The job id, as returned by the call that started the job."
    )


class ListJobsRequest(Request):
    states: list[JobState] = Field(
        default_factory=list[JobState], description="Only jobs in these states; empty means all."
    )
    tool: str | None = Field(default=None, min_length=1, max_length=100, description="Only jobs of this tool.")
    limit: int = Field(default=20, ge=1, le=200, description="Maximum number of jobs to return.")


class ListJobsResult(Result):
    jobs: list[JobView[dict[str, Any]]] = Field(description="Newest first.")


class CancelJobRequest(Request):
    job_id: str = Field(min_length=1, max_length=100, description="The job to cancel.")
    wait_seconds: float = Field(
        default=5,
        ge=0,
        le=60,
        description="Seconds to wait for the job to stop; a job still running then has the state cancelling.",
    )


@tool("jobs", read_only=True, log_result=False, relays=True)
async def get_job(
    request: GetJobRequest, jobs: JobService, dispatcher: Dispatcher, context: CallContext
) -> JobView[dict[str, Any]]:
    """Return a job: its state, progress, and its result or error once it has ended."""
    return job_view(await visible_job(request.job_id, context.caller, jobs, dispatcher))


@tool("jobs", read_only=True, log_result=False, relays=True)
async def list_jobs(
    request: ListJobsRequest, jobs: JobService, dispatcher: Dispatcher, context: CallContext
) -> ListJobsResult:
    """List jobs, newest first."""
    caller = context.caller
    looked_at = request.limit if EVERYTHING in caller.scopes else MAX_FILTERED_JOBS
    found = await jobs.list(request.states, request.tool, looked_at)
    seen = await visible_jobs(found, caller, dispatcher)
    return ListJobsResult(jobs=[job_view(job) for job in seen[: request.limit]])


@tool("jobs", idempotent=True, log_result=False, relays=True)
async def cancel_job(
    request: CancelJobRequest, jobs: JobService, dispatcher: Dispatcher, context: CallContext
) -> JobView[dict[str, Any]]:
    """Cancel a job. The state `cancelled` means that the work has stopped; an ended job is not changed."""
    await check_may_cancel(request.job_id, context.caller, jobs, dispatcher)
    return job_view(await jobs.cancel(request.job_id, patience=request.wait_seconds))
