"""Access to jobs: the scopes of the tool that a job runs apply, and what else limits who may read its result."""

from collections.abc import Callable, Iterable
from typing import Protocol

from scrubjay.core.callers import EVERYTHING, Caller
from scrubjay.core.errors import Forbidden
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.jobs.models import Job
from scrubjay.tooling.jobs.service import JobService, unknown_job
from scrubjay.tooling.registry import Registry


class JobGuard(Protocol):
    """Limits who sees the jobs of tools whose results depend on more than the scopes of the caller."""

    async def visible_to(self, caller: Caller) -> Callable[[Job], bool]:
        """Return a function that says whether this caller may see a job, as of now."""
        ...


async def visible_jobs(found: Iterable[Job], caller: Caller, dispatcher: Dispatcher) -> list[Job]:
    """Return the jobs that the caller may see. Jobs of removed tools require a scope for everything."""
    registry = dispatcher.registry
    readable = [job for job in found if registry.may_read_results(caller, job.kind)]
    kinds = {job.kind for job in readable}
    guards = {kind: guard for kind in kinds if kind in registry and (guard := registry.get(kind).job_guard) is not None}
    checks = {guard: await (await dispatcher.service(guard)).visible_to(caller) for guard in set(guards.values())}
    return [job for job in readable if job.kind not in guards or checks[guards[job.kind]](job)]


async def visible_job(job_id: str, caller: Caller, jobs: JobService, dispatcher: Dispatcher) -> Job:
    """Return the job; raise `NotFound` when it does not exist or the caller may not see it."""
    job = await jobs.get(job_id)
    if not await visible_jobs([job], caller, dispatcher):
        raise unknown_job(job_id)
    return job


async def check_may_cancel(job_id: str, caller: Caller, jobs: JobService, dispatcher: Dispatcher) -> None:
    """Raise `Forbidden` unless the caller may start such a job."""
    job = await visible_job(job_id, caller, jobs, dispatcher)
    if not _may_start(caller, job, dispatcher.registry):
        raise Forbidden(
            f"the key {caller.name!r} may not cancel jobs of {job.kind}", hint="use a key that may call this tool"
        )


def _may_start(caller: Caller, job: Job, registry: Registry) -> bool:
    if job.kind not in registry:
        return caller.may_call(EVERYTHING, read_only=False)
    tool = registry.get(job.kind)
    return tool.missing_scope(caller, read_only=tool.read_only) is None
