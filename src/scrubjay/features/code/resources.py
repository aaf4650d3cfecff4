"""MCP resources of indexes: status, manifest, log and bundle."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from scrubjay import __version__, code_index
from scrubjay.code_index import CodeService, IndexRecord, unknown_index
from scrubjay.core.errors import Conflict
from scrubjay.core.progress import Reporter
from scrubjay.features.code.index_jobs import ACTIVE_STATES, BUILD, MAX_JOBS, WATCH, index_of, jobs_of, permitted_jobs
from scrubjay.features.code.index_status import status_of
from scrubjay.features.code.repository_tools import readable_indexes
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.resources import resource

_STARTED = time.monotonic()
JSON = "application/json"
CODE = "code"


async def each_index(code: CodeService, jobs: JobService, context: CallContext) -> Sequence[Mapping[str, str]]:
    """Return the ids of the indexes that the caller may read, including those being built for the first time."""
    known = [record.id for record in await readable_indexes(code, context)]
    active = await _active_index_ids(code, jobs, context)
    return [{"index_id": index_id} for index_id in dict.fromkeys([*known, *active])]


async def index_mark(index_id: str, code: CodeService, jobs: JobService, context: CallContext) -> str:
    """Return a text that changes with every state of the index and every step of its build job."""
    record, job = await _record_and_job(index_id, code, jobs, context)
    state = record.generation if record else 0
    return f"{state} {job.id} {job.state} {job.progress}" if job else f"{state}"


async def pipelines_mark(code: CodeService, jobs: JobService, context: CallContext) -> str:
    return " ".join(await _active_index_ids(code, jobs, context))


@resource("repo://status", family=CODE, mime_type=JSON, title="Status of the server's indexing", mark=pipelines_mark)
async def repo_status(code: CodeService, jobs: JobService, context: CallContext) -> str:
    """The indexes being built now, and the server."""
    active = await _active_index_ids(code, jobs, context)
    return _json(
        {
            "server_info": {
                "name": "scrubjay",
                "version": __version__,
                "uptime": round(time.monotonic() - _STARTED, 1),
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
async def index_status(index_id: str, code: CodeService, jobs: JobService, context: CallContext) -> str:
    """State of an index (queued, running, completed, failed or cancelled) and its progress."""
    record, job = await _record_and_job(index_id, code, jobs, context)
    watched = bool(await jobs_of(index_id, WATCH, jobs, code, context))
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
async def index_manifest(index_id: str, code: CodeService, jobs: JobService, context: CallContext) -> str:
    """Repository, revision, counts and versions of an index."""
    await _require_complete(index_id, code, jobs, context)
    return _json(await code_index.bundle_manifest(code, index_id))


@resource(
    "mimir://indexes/{index_id}/log.md",
    "repo://logs/{index_id}",
    family=CODE,
    mime_type="text/markdown",
    title="Log",
    each=each_index,
    mark=index_mark,
)
async def index_log(index_id: str, code: CodeService, jobs: JobService, context: CallContext) -> str:
    """Log of the last build of an index, with a section for each stage."""
    await _record_and_job(index_id, code, jobs, context)
    return await code_index.bundle_log(code, index_id)


@resource(
    "mimir://indexes/{index_id}/bundle.tar.zst",
    "repo://bundle/{index_id}",
    family=CODE,
    mime_type="application/zstd",
    title="Bundle",
    each=each_index,
    mark=index_mark,
)
async def index_bundle(
    index_id: str, code: CodeService, jobs: JobService, reporter: Reporter, context: CallContext
) -> Path:
    """The complete index in one file, which is written on first read."""
    await _require_complete(index_id, code, jobs, context)
    return await code_index.write_bundle(code, index_id, reporter)


async def _record_and_job(
    index_id: str, code: CodeService, jobs: JobService, context: CallContext
) -> tuple[IndexRecord | None, Job | None]:
    """Return the stored record of an index and its newest build job; raise `NotFound` if there is neither.

    Those that the caller may not read count as missing.
    """
    record = await code.store.index(index_id)
    if record is not None:
        await code.folders.permit_index(record, index_id, restricted=context.caller.holds_key)
    found = [job for job in await jobs.list([], BUILD, MAX_JOBS) if index_of(job) == index_id]
    newest = next(iter(await permitted_jobs(found[:1], code, context)), None)
    if record is None and (newest is None or newest.state is JobState.COMPLETED):  # unknown, or removed
        raise unknown_index(index_id)
    return record, newest


async def _require_complete(index_id: str, code: CodeService, jobs: JobService, context: CallContext) -> None:
    record, _ = await _record_and_job(index_id, code, jobs, context)
    if record is None:
        raise Conflict(
            f"the index {index_id} is not complete yet",
            hint=f"mimir://indexes/{index_id}/status.json reports its progress",
        )


async def _active_index_ids(code: CodeService, jobs: JobService, context: CallContext) -> list[str]:
    """Return the indexes of the caller's folders that are being built, in any process."""
    active = await permitted_jobs(await jobs.list(ACTIVE_STATES, BUILD, MAX_JOBS), code, context)
    return list(dict.fromkeys(map(index_of, active)))


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


RESOURCES = (repo_status, index_status, index_manifest, index_log, index_bundle)
