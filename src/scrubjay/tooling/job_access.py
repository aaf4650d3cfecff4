"""Whose eyes a job is for: those who may call the tool that it runs."""

from scrubjay.core.callers import EVERYTHING, Caller
from scrubjay.core.errors import Forbidden
from scrubjay.tooling.jobs.models import Job
from scrubjay.tooling.jobs.service import JobService, unknown_job
from scrubjay.tooling.registry import Registry


def may_see(caller: Caller, job: Job, registry: Registry) -> bool:
    """Whether the caller may read what such jobs tell. A job of a tool that is gone is for who may read everything."""
    return caller.may_call(registry.family_of(job.kind) or EVERYTHING, read_only=True)


async def visible_job(job_id: str, caller: Caller, jobs: JobService, registry: Registry) -> Job:
    """The job; `NotFound`, as for one that there is not, when it is not for this caller."""
    job = await jobs.get(job_id)
    if not may_see(caller, job, registry):
        raise unknown_job(job_id)
    return job


async def refuse_to_stop(job_id: str, caller: Caller, jobs: JobService, registry: Registry) -> None:
    """Raise unless the caller could have begun this job."""
    job = await visible_job(job_id, caller, jobs, registry)
    read_only = job.kind in registry and registry.get(job.kind).read_only
    if not caller.may_call(registry.family_of(job.kind) or EVERYTHING, read_only=read_only):
        raise Forbidden(
            f"the key {caller.name!r} does not open {job.kind}", hint="only who may call a tool may stop its jobs"
        )
