"""Tools that watch folders and keep their indexes up to date."""

from typing import Annotated, Literal

import anyio
from pydantic import Field

from scrubjay.code_index import CodeService, FolderWatcher, IndexOptions, RefreshResult, index_id_of
from scrubjay.core.errors import Conflict, NotFound
from scrubjay.features.code.index_jobs import (
    BUILD,
    WATCH,
    CodeJobGuard,
    WatchView,
    active_watches,
    is_of_another_key,
    jobs_of,
    watch_view,
)
from scrubjay.features.code.repository_tools import BuildRepoIndexResult, resolved_root
from scrubjay.features.code.tools import root_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_view import JobView
from scrubjay.tooling.jobs.service import JobRun, JobService

# Seconds to wait for a watch to stop.
STOP_SECONDS = 5.0

Excludes = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=500)]],
    Field(
        default=[],
        max_length=100,
        description="Patterns of files to exclude, in .gitignore syntax; other patterns mean another index.",
    ),
]


class WatchRepoRequest(Request):
    model_config = examples({"action": "start", "path": "/home/you/code/apollo"}, {"action": "list"})

    action: Literal["start", "stop", "list"] = Field(
        description="start: keep the index of a folder up to date. stop: end the watch. list: list the watches."
    )
    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_096,
        description="The folder. Default: the active project, or your working folder.",
    )
    excludes: Excludes


class WatchRepoResult(Result):
    message: str
    watches: list[WatchView] = Field(description="The watch that was started or stopped; for list, all.")


class KeepRepoIndexRequest(Request):
    model_config = examples({"path": "/home/you/code/apollo"})

    path: str = Field(
        min_length=1, max_length=4_096, description="The folder: absolute, or relative to your working folder."
    )
    excludes: Excludes


class KeepRepoIndexResult(Result):
    index_id: str
    builds: int = Field(description="Number of index updates.")


@tool("code", idempotent=True, core=False)
async def watch_repo(
    request: WatchRepoRequest, code: CodeService, jobs: JobService, projects: ProjectService, context: CallContext
) -> WatchRepoResult:
    """Start or stop keeping the index of a folder up to date as its files change, or list the watches.

    A watch is a job of the server: it continues after you disconnect and after a restart, until you stop it or the key
    that started it last is revoked or expires. It reads files only when they change.
    """
    if request.action == "list":
        found = await active_watches(jobs, code, context)
        return WatchRepoResult(message=f"{len(found)} watched", watches=found)
    root = await root_of(request.path, code, projects, context)
    index_id = index_id_of(root, "HEAD", IndexOptions(excludes=tuple(request.excludes)))
    active = await jobs_of(index_id, WATCH, jobs, code, context)
    if request.action == "stop":
        stopped = [watch_view(await jobs.cancel(job.id, patience=STOP_SECONDS)) for job in active]
        message = f"{root} is no longer watched" if stopped else f"{root} was not watched"
        return WatchRepoResult(message=message, watches=stopped)
    # A watch ends with the key that started it, so a caller who relies on it must not share that of another key.
    for job in active:
        if is_of_another_key(job, context.caller):
            await jobs.cancel(job.id, patience=STOP_SECONDS)
    if active := await jobs_of(index_id, WATCH, jobs, code, context):
        return WatchRepoResult(message=f"{root} is already watched", watches=[watch_view(active[0])])
    if not await anyio.Path(root).is_dir():
        raise NotFound(f"folder {root} does not exist", hint="pass the path of a folder on the server's machine")
    arguments = {"path": root, "excludes": request.excludes}
    job = await jobs.start(WATCH, {"arguments": arguments, "context": context.kept(), "index_id": index_id})
    return WatchRepoResult(message=f"{root} is now watched", watches=[watch_view(job)])


@tool("code", runs_as_job=True, idempotent=True, core=False, job_guard=CodeJobGuard)
async def keep_repo_index(
    request: KeepRepoIndexRequest,
    code: CodeService,
    jobs: JobService,
    dispatcher: Dispatcher,
    context: CallContext,
    run: JobRun,
) -> KeepRepoIndexResult:
    """Keep the index of a folder up to date as its files change, until the job is cancelled.

    This is the job that watch_repo starts. If it is called directly, it ends with the server process.
    """
    root = await resolved_root(request.path, context, code)
    options = IndexOptions(excludes=tuple(request.excludes))
    index_id = index_id_of(root, "HEAD", options)
    if run.resumed and "index_id" not in run.payload:
        return KeepRepoIndexResult(index_id=index_id, builds=0)
    mine = await jobs.get(run.job_id)
    for job in await jobs_of(index_id, WATCH, jobs, code, context):
        if job.owner is not None and (job.created_at, job.id) < (mine.created_at, mine.id):
            raise Conflict(
                f"{root} is already watched",
                hint="watch_repo with action stop ends that watch",
                details={"job_id": job.id},
            )

    async def build() -> RefreshResult | None:
        calling = CallContext(
            surface=context.surface, caller=context.caller, working_directory=context.working_directory
        )
        done = await dispatcher.call(BUILD, {"path": root, "excludes": request.excludes}, calling)
        result = JobView[BuildRepoIndexResult].model_validate(done, from_attributes=True).result
        return RefreshResult(result.changed, result.removed) if result is not None else None

    watch = FolderWatcher(code, root, options, build)
    await watch.run(run)
    return KeepRepoIndexResult(index_id=index_id, builds=watch.builds)
