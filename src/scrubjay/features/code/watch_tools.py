"""Watching folders: their indexes are kept as the folders are, until somebody says stop."""

from typing import Annotated, Literal

import anyio
from pydantic import Field

from scrubjay.code_index.index.indexer import IndexOptions, index_id_of
from scrubjay.code_index.index.watcher import Refreshed, Watch
from scrubjay.code_index.service import CodeService
from scrubjay.core.errors import Conflict, NotFound
from scrubjay.features.code.index_jobs import BUILD, KEEP, WatchView, jobs_of, watch_view, watches
from scrubjay.features.code.repository_tools import BuildRepoIndexResult, resolved_root
from scrubjay.features.code.tools import root_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_view import JobView
from scrubjay.tooling.jobs.service import JobRun, JobService

# So long it is waited until a watch that is to stop has stopped.
STOP_SECONDS = 5.0

Excludes = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=500)]],
    Field(
        default=[],
        max_length=100,
        description="What is left out, as lines of a .gitignore; an index with others is another.",
    ),
]


class WatchRepoRequest(Request):
    model_config = examples({"action": "start", "path": "/home/you/code/apollo"}, {"action": "list"})

    action: Literal["start", "stop", "list"] = Field(
        description="start: keep the index of a folder up to date from now on. stop: no more. list: what is watched."
    )
    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_096,
        description="The folder; by default the active project, or the folder you work in.",
    )
    excludes: Excludes


class WatchRepoResult(Result):
    message: str
    watches: list[WatchView] = Field(description="The one that was started or stopped; for list, all.")


class KeepRepoIndexRequest(Request):
    model_config = examples({"path": "/home/you/code/apollo"})

    path: str = Field(min_length=1, max_length=4_096, description="The folder: absolute, or from where you work.")
    excludes: Excludes


class KeepRepoIndexResult(Result):
    index_id: str
    builds: int = Field(description="How often the index was brought up to date.")


@tool("code", idempotent=True, core=False)
async def watch_repo(
    request: WatchRepoRequest, code: CodeService, jobs: JobService, projects: ProjectService, context: CallContext
) -> WatchRepoResult:
    """Keep the index of a folder up to date by itself while its files change, or stop that.

    A watch is a job of the server: it goes on after you have left, and after a restart, until you stop it. Nothing is
    read while nothing changes.
    """
    if request.action == "list":
        found = await watches(jobs)
        return WatchRepoResult(message=f"{len(found)} watched", watches=found)
    root = await root_of(request.path, code, projects, context)
    index_id = index_id_of(root, "HEAD", IndexOptions(excludes=tuple(request.excludes)))
    under_way = await jobs_of(index_id, KEEP, jobs)
    if request.action == "stop":
        stopped = [watch_view(await jobs.cancel(job.id, patience=STOP_SECONDS)) for job in under_way]
        message = f"{root} is no longer watched" if stopped else f"{root} was not watched"
        return WatchRepoResult(message=message, watches=stopped)
    if under_way:
        return WatchRepoResult(message=f"{root} is watched already", watches=[watch_view(under_way[0])])
    if not await anyio.Path(root).is_dir():
        raise NotFound(f"there is no folder {root}", hint="give the path of a folder on this machine")
    arguments = {"path": root, "excludes": request.excludes}
    job = await jobs.start(KEEP, {"arguments": arguments, "context": context.kept(), "index_id": index_id})
    return WatchRepoResult(message=f"{root} is watched from now on", watches=[watch_view(job)])


@tool("code", runs_as_job=True, idempotent=True, core=False)
async def keep_repo_index(
    request: KeepRepoIndexRequest,
    code: CodeService,
    jobs: JobService,
    dispatcher: Dispatcher,
    context: CallContext,
    run: JobRun,
) -> KeepRepoIndexResult:
    """Keep the index of a folder up to date while its files change, until the job is cancelled.

    What watch_repo begins is this job. One that was begun by a call of its own ends with the process that ran it.
    """
    root = resolved_root(request.path, context, code)
    options = IndexOptions(excludes=tuple(request.excludes))
    index_id = index_id_of(root, "HEAD", options)
    if run.resumed and "index_id" not in run.payload:
        return KeepRepoIndexResult(index_id=index_id, builds=0)
    mine = await jobs.get(run.job_id)
    for job in await jobs_of(index_id, KEEP, jobs):
        if job.owner is not None and (job.created_at, job.id) < (mine.created_at, mine.id):
            raise Conflict(
                f"{root} is watched already", hint="watch_repo with stop ends that", details={"job_id": job.id}
            )

    async def build() -> Refreshed | None:
        calling = CallContext(surface=context.surface, working_directory=context.working_directory)
        done = await dispatcher.call(BUILD, {"path": root, "excludes": request.excludes}, calling)
        result = JobView[BuildRepoIndexResult].model_validate(done, from_attributes=True).result
        return Refreshed(result.changed, result.removed) if result is not None else None

    watch = Watch(code, root, options, build)
    await watch.run(run)
    return KeepRepoIndexResult(index_id=index_id, builds=watch.builds)
