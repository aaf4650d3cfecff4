"""Access to jobs: the scopes of the tool that a job runs apply."""

from scrubjay.core.callers import EVERYTHING, Caller
from scrubjay.core.errors import Forbidden
from scrubjay.tooling.jobs.models import Job
from scrubjay.tooling.jobs.service import JobService, unknown_job
from scrubjay.tooling.registry import Registry


def may_see(caller: Caller, job: Job, registry: Registry) -> bool:
    """Return True when the caller may read the job. Jobs of removed tools require a scope for everything."""
    return registry.may_read_results(caller, job.kind)


def _may_start(caller: Caller, job: Job, registry: Registry) -> bool:
    if job.kind not in registry:
        return caller.may_call(EVERYTHING, read_only=False)
    tool = registry.get(job.kind)
    return tool.missing_scope(caller, read_only=tool.read_only) is None


async def visible_job(job_id: str, caller: Caller, jobs: JobService, registry: Registry) -> Job:
    """Return the job; raise `NotFound` when it does not exist or the caller may not see it."""
    job = await jobs.get(job_id)
    if not may_see(caller, job, registry):
        raise unknown_job(job_id)
    return job


async def check_may_cancel(job_id: str, caller: Caller, jobs: JobService, registry: Registry) -> None:
    """Raise `Forbidden` unless the caller may start such a job."""
    job = await visible_job(job_id, caller, jobs, registry)
    if not _may_start(caller, job, registry):
        raise Forbidden(
            f"the key {caller.name!r} may not cancel jobs of {job.kind}", hint="use a key that may call this tool"
        )
