"""Jobs that build indexes and watch folders, in any process."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field

from scrubjay.code_index import CodeService, IndexOptions, index_id_of, resolve_folder
from scrubjay.core.callers import Caller
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Result
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.service import JobService

BUILD = "build_repo_index"
WATCH = "keep_repo_index"
# Most jobs searched for the one of an index.
MAX_JOBS = 200
ACTIVE_STATES = (JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING)


class BuildView(Result):
    index_id: str
    root: str
    job_id: str = Field(description="get_job reports its progress, cancel_job stops it.")
    state: JobState
    progress: int = Field(description="Percent.")
    operation: str = Field(description="The current operation.")


class WatchView(Result):
    index_id: str
    root: str
    job_id: str
    state: JobState = Field(description="queued: no process is watching now; the next server to start takes over.")
    builds: int = Field(description="Number of index updates since this process started.")
    message: str = Field(description="How changes are detected, and the last action.")


async def active_builds(jobs: JobService, code: CodeService, context: CallContext) -> list[BuildView]:
    """Return the indexes that are being built, of the folders that the caller may index."""
    return [
        BuildView(
            index_id=index_of(job),
            root=_path_of(job),
            job_id=job.id,
            state=job.state,
            progress=round(job.progress.done),
            operation=job.progress.message,
        )
        for job in await permitted_jobs(await jobs.list(ACTIVE_STATES, BUILD, MAX_JOBS), code, context)
    ]


async def active_watches(jobs: JobService, code: CodeService, context: CallContext) -> list[WatchView]:
    """Return the watched folders that the caller may index."""
    found = await jobs.list(ACTIVE_STATES, WATCH, MAX_JOBS)
    return [watch_view(job) for job in await permitted_jobs(found, code, context)]


def watch_view(job: Job) -> WatchView:
    return WatchView(
        index_id=index_of(job),
        root=_path_of(job),
        job_id=job.id,
        state=job.state,
        builds=round(job.progress.done) if job.progress.total is None else 0,
        message=job.progress.message,
    )


async def jobs_of(index_id: str, kind: str, jobs: JobService, code: CodeService, context: CallContext) -> Sequence[Job]:
    """Return the active jobs of this kind for an index, newest first; none if the caller may not index its folder."""
    found = [job for job in await jobs.list(ACTIVE_STATES, kind, MAX_JOBS) if index_of(job) == index_id]
    return await permitted_jobs(found, code, context)


async def permitted_jobs(jobs: Sequence[Job], code: CodeService, context: CallContext) -> list[Job]:
    """Return the jobs whose folder the caller may index."""
    may_read = await code.folders.readable(restricted=context.caller.holds_key)
    return [job for job in jobs if may_read(_path_of(job))]


class CodeJobGuard:
    """Shows a key only jobs about folders, or bundles in folders, that it may index. Satisfies `JobGuard`."""

    def __init__(self, code: CodeService) -> None:
        self._code = code

    async def visible_to(self, caller: Caller) -> Callable[[Job], bool]:
        if not caller.holds_key:
            return lambda job: True
        may_read = await self._code.folders.readable(restricted=True)
        return lambda job: may_read(_path_of(job))


def is_of_another_key(job: Job, caller: Caller) -> bool:
    """Return True if the job was started with a key that the caller does not hold; the job ends with that key."""
    starter = CallContext.from_kept(job.payload["context"]).caller
    return starter.holds_key and starter.key_id != caller.key_id


def index_of(job: Job) -> str:
    """Return the index of a job: from its payload or result, else computed from its arguments."""
    if index_id := job.payload.get("index_id") or (job.result or {}).get("index_id"):
        return index_id
    arguments = _arguments(job)
    return index_id_of(_path_of(job), arguments.get("rev", "HEAD"), IndexOptions.of(arguments))


def _path_of(job: Job) -> str:
    """Return the absolute folder; a direct call of the job's tool may have passed a relative path."""
    base = job.payload.get("context", {}).get("working_directory") or "/"
    return resolve_folder(_arguments(job).get("path", "/"), base)


def _arguments(job: Job) -> dict[str, Any]:
    return job.payload.get("arguments", {})
