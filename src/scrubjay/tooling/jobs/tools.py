"""Long work: look at it, list it, stop it."""

from typing import Any

from pydantic import Field

from scrubjay.core.callers import EVERYTHING
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_access import may_see, refuse_to_stop, visible_job
from scrubjay.tooling.job_view import JobView, job_view
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService

# So many of the newest jobs are looked at for those that a key opens.
MOST_LOOKED_AT = 2_000


class GetJobRequest(Request):
    job_id: str = Field(min_length=1, max_length=100, description="The id that the call which started it returned.")


class ListJobsRequest(Request):
    states: list[JobState] = Field(default_factory=list[JobState], description="Only in these states; none means all.")
    tool: str | None = Field(default=None, min_length=1, max_length=100, description="Only jobs of this tool.")
    limit: int = Field(default=20, ge=1, le=200, description="How many to return at most.")


class ListJobsResult(Result):
    jobs: list[JobView[dict[str, Any]]] = Field(description="Newest first.")


class CancelJobRequest(Request):
    job_id: str = Field(min_length=1, max_length=100, description="The job to stop.")
    wait_seconds: float = Field(
        default=5,
        ge=0,
        le=60,
        description="How long to wait for it to have stopped; after that its state is cancelling.",
    )


@tool("jobs", read_only=True)
async def get_job(
    request: GetJobRequest, jobs: JobService, dispatcher: Dispatcher, context: CallContext
) -> JobView[dict[str, Any]]:
    """Look at a job: its state, its progress, and its result or error once it has ended."""
    return job_view(await visible_job(request.job_id, context.caller, jobs, dispatcher.registry))


@tool("jobs", read_only=True)
async def list_jobs(
    request: ListJobsRequest, jobs: JobService, dispatcher: Dispatcher, context: CallContext
) -> ListJobsResult:
    """List jobs, newest first."""
    caller = context.caller
    looked_at = request.limit if EVERYTHING in caller.scopes else MOST_LOOKED_AT
    found = await jobs.list(request.states, request.tool, looked_at)
    seen = [job for job in found if may_see(caller, job, dispatcher.registry)]
    return ListJobsResult(jobs=[job_view(job) for job in seen[: request.limit]])


@tool("jobs", idempotent=True)
async def cancel_job(
    request: CancelJobRequest, jobs: JobService, dispatcher: Dispatcher, context: CallContext
) -> JobView[dict[str, Any]]:
    """Ask a job to stop. The state cancelled is only said of work that has stopped; an ended job stays as it is."""
    await refuse_to_stop(request.job_id, context.caller, jobs, dispatcher.registry)
    return job_view(await jobs.cancel(request.job_id, patience=request.wait_seconds))
