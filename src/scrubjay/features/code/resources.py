"""What can be read of indexes: how far each is, what it is of, what happened, and all of it in one file."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from scrubjay import __version__
from scrubjay.code_index.index.indexer import unknown_index
from scrubjay.code_index.service import CodeService
from scrubjay.code_index.store import IndexRecord
from scrubjay.core.errors import Conflict
from scrubjay.core.progress import Reporter
from scrubjay.features.code.index_jobs import BUILD, KEEP, MOST_JOBS, UNDER_WAY, index_of, jobs_of
from scrubjay.features.code.index_status import status_of
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.resources import resource

_BEGAN = time.monotonic()
JSON = "application/json"
CODE = "code"


async def each_index(code: CodeService, jobs: JobService) -> Sequence[Mapping[str, str]]:
    """Those that there are, and those that are being built for the first time."""
    known = [record.id for record in await code.store.indexes()]
    return [{"index_id": index_id} for index_id in dict.fromkeys([*known, *await _active(jobs)])]


async def index_mark(index_id: str, code: CodeService, jobs: JobService) -> str:
    """Differs with every state of the index, and with every step of the job that builds it."""
    record, job = await _looked_up(index_id, code, jobs)
    state = record.generation if record else 0
    return f"{state} {job.id} {job.state} {job.progress}" if job else f"{state}"


async def pipelines_mark(jobs: JobService) -> str:
    return " ".join(await _active(jobs))


@resource("repo://status", family=CODE, mime_type=JSON, title="Status of the server's indexing", mark=pipelines_mark)
async def repo_status(code: CodeService, jobs: JobService) -> str:
    """Which indexes are being built now, and by which server."""
    active = await _active(jobs)
    return _json(
        {
            "server_info": {
                "name": "scrubjay",
                "version": __version__,
                "uptime": round(time.monotonic() - _BEGAN, 1),
            },
            "active_pipelines": active,
            "pipeline_count": len(active),
            "storage_dir": str(code.indexer.folder),
        }
    )


@resource(
    "mimir://indexes/{index_id}/status.json",
    family=CODE,
    mime_type=JSON,
    title="Status",
    each=each_index,
    mark=index_mark,
)
async def index_status(index_id: str, code: CodeService, jobs: JobService) -> str:
    """Whether an index is queued, running, completed, failed or cancelled, and how far it is."""
    record, job = await _looked_up(index_id, code, jobs)
    watched = bool(await jobs_of(index_id, KEEP, jobs))
    return _json({**status_of(index_id, record, job, code.indexer.clock()), "watched": watched})


@resource(
    "mimir://indexes/{index_id}/manifest.json",
    "repo://manifest/{index_id}",
    family=CODE,
    mime_type=JSON,
    title="Manifest",
    each=each_index,
    mark=index_mark,
)
async def index_manifest(index_id: str, code: CodeService, jobs: JobService) -> str:
    """What an index is of and what it holds: repository, revision, counts, versions."""
    from scrubjay.code_index.bundle.writer import manifest

    await _must_be_whole(index_id, code, jobs)
    return _json(await manifest(code, index_id))


@resource(
    "mimir://indexes/{index_id}/log.md",
    "repo://logs/{index_id}",
    family=CODE,
    mime_type="text/markdown",
    title="Log",
    each=each_index,
    mark=index_mark,
)
async def index_log(index_id: str, code: CodeService, jobs: JobService) -> str:
    """What happened while an index was built, a section for each stage."""
    from scrubjay.code_index.bundle.writer import log

    await _looked_up(index_id, code, jobs)
    return await log(code, index_id)


@resource(
    "mimir://indexes/{index_id}/bundle.tar.zst",
    "repo://bundle/{index_id}",
    family=CODE,
    mime_type="application/zstd",
    title="Bundle",
    each=each_index,
    mark=index_mark,
)
async def index_bundle(index_id: str, code: CodeService, jobs: JobService, reporter: Reporter) -> Path:
    """All that is known of an index in one file; it is written when it is first read."""
    from scrubjay.code_index.bundle.writer import bundle

    await _must_be_whole(index_id, code, jobs)
    return await bundle(code, index_id, reporter)


async def _looked_up(index_id: str, code: CodeService, jobs: JobService) -> tuple[IndexRecord | None, Job | None]:
    """What is kept of the index, and the newest job that built it; `NotFound` when there is neither."""
    record = await code.store.index(index_id)
    newest = next((job for job in await jobs.list([], BUILD, MOST_JOBS) if index_of(job) == index_id), None)
    if record is None and (newest is None or newest.state is JobState.COMPLETED):  # there is none, or no more
        raise unknown_index(index_id)
    return record, newest


async def _must_be_whole(index_id: str, code: CodeService, jobs: JobService) -> None:
    record, _ = await _looked_up(index_id, code, jobs)
    if record is None:
        raise Conflict(
            f"the index {index_id} is not whole yet", hint=f"mimir://indexes/{index_id}/status.json tells how far it is"
        )


async def _active(jobs: JobService) -> list[str]:
    """The indexes that are being built, in whichever process."""
    return list(dict.fromkeys(index_of(job) for job in await jobs.list(UNDER_WAY, BUILD, MOST_JOBS)))


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


RESOURCES = (repo_status, index_status, index_manifest, index_log, index_bundle)
