"""The jobs that build indexes and keep them up to date, in whichever process they run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from scrubjay.code_index.index.indexer import IndexOptions, index_id_of
from scrubjay.tooling.declaration import Result
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.service import JobService

BUILD = "build_repo_index"
KEEP = "keep_repo_index"
# Jobs that are looked through for one of an index.
MOST_JOBS = 200
UNDER_WAY = (JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING)


class BuildView(Result):
    index_id: str
    root: str
    job_id: str = Field(description="get_job tells how far it is, cancel_job stops it.")
    state: JobState
    progress: int = Field(description="In hundredths.")
    operation: str = Field(description="What is being done.")


class WatchView(Result):
    index_id: str
    root: str
    job_id: str
    state: JobState = Field(description="queued: no process is there that watches; the next server does.")
    builds: int = Field(description="How often the index was brought up to date since this process began.")
    message: str = Field(description="What is heard, and what was done last.")


async def builds_under_way(jobs: JobService) -> list[BuildView]:
    """The indexes that are being built."""
    return [
        BuildView(
            index_id=index_of(job),
            root=_path_of(job),
            job_id=job.id,
            state=job.state,
            progress=round(job.progress.done),
            operation=job.progress.message,
        )
        for job in await jobs.list(UNDER_WAY, BUILD, MOST_JOBS)
    ]


async def watches(jobs: JobService) -> list[WatchView]:
    """The folders whose indexes are kept up to date."""
    return [watch_view(job) for job in await jobs.list(UNDER_WAY, KEEP, MOST_JOBS)]


def watch_view(job: Job) -> WatchView:
    return WatchView(
        index_id=index_of(job),
        root=_path_of(job),
        job_id=job.id,
        state=job.state,
        builds=round(job.progress.done) if job.progress.total is None else 0,
        message=job.progress.message,
    )


async def jobs_of(index_id: str, kind: str, jobs: JobService) -> Sequence[Job]:
    """The jobs of this kind that are under way for an index, the newest first."""
    return [job for job in await jobs.list(UNDER_WAY, kind, MOST_JOBS) if index_of(job) == index_id]


def index_of(job: Job) -> str:
    """The index that a job is about: by what it says, by what came of it, or by what it was asked."""
    if told := job.payload.get("index_id") or (job.result or {}).get("index_id"):
        return told
    given = _given(job)
    return index_id_of(_path_of(job), given.get("rev", "HEAD"), IndexOptions.of(given))


def _path_of(job: Job) -> str:
    """The folder; also when the job was begun by a call of its own tool, with a path from where the caller works."""
    around = job.payload.get("context", {}).get("working_directory") or "/"
    return str((Path(around) / Path(_given(job).get("path", "/")).expanduser()).resolve())


def _given(job: Job) -> dict[str, Any]:
    return job.payload.get("arguments", {})
