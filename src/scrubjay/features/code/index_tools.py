"""The `index` tool: index the active project, and report what is indexed, being indexed and watched."""

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from scrubjay.code_index import CodeService, IndexOptions, IndexRecord, VectorCounts, index_id_of
from scrubjay.core.errors import Cancelled, InvalidRequest
from scrubjay.features.code.index_jobs import BUILD, BuildView, WatchView, active_builds, active_watches
from scrubjay.features.code.repository_tools import BuildRepoIndexResult, Freshness, freshness_of, readable_indexes
from scrubjay.features.code.tools import relative_path, root_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_view import JobView
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.optional_fields import is_empty

if TYPE_CHECKING:
    from scrubjay.code_index import EmbeddingState


class IndexRequest(Request):
    model_config = examples({"action": "project"}, {"action": "status"})

    action: Literal["project", "file", "status", "cleanup"] = Field(
        description="project: index the project, or what changed in it. file: update after a change of one file. "
        "status: list the indexes. cleanup: remove indexes of missing folders, and unused data."
    )
    path: str | None = Field(
        default=None, min_length=1, max_length=4_096, description="The folder; for action file, the file."
    )
    include_git: bool = Field(
        default=True, description="Accepted for compatibility and ignored: history is always read."
    )
    commit_limit: int | None = Field(default=None, ge=1, description="Ignored: the newest 20,000 are read.")
    parallel: bool = Field(default=True, description="Ignored: files are always read in parallel.")
    max_workers: int | None = Field(default=None, ge=1, le=64, description="Ignored: see the setting `code.workers`.")


class EmbeddingProgressView(Result):
    """Progress of embedding an index with the configured model."""

    model: str
    embedded: int = Field(description="Number of chunks with an embedding.")
    pending: int = Field(
        description="Number of chunks without one; they are embedded in the background or when a search needs them."
    )
    unread: int = Field(description="Number of files whose chunks are not counted yet.")


class IndexedRepository(Result):
    index_id: str
    root: str
    rev: str
    files: int
    symbols: int
    edges: int
    embeddings: EmbeddingProgressView | None = Field(
        default=None,
        exclude_if=is_empty,
        description="For status: progress of embedding with the model set in SCRUBJAY_CODE_EMBEDDINGS, if any.",
    )
    freshness: Freshness


class IndexResult(Result):
    message: str = Field(description="One sentence, such as: Indexed 120 files, 1500 symbols, 4000 uses.")
    indexes: list[IndexedRepository]
    changed: int = Field(description="Number of files read because they were new or had changed.")
    removed: int = Field(description="Number of files or indexes removed.")
    job_id: str | None = Field(default=None, description="The job that updates the index, if it is still running.")
    running: list[BuildView] = Field(default=[], description="For status: the indexes being built now.")
    watches: list[WatchView] = Field(default=[], description="For status: the watched folders.")
    in_batch: int = Field(
        default=0, exclude_if=is_empty, description="For status: number of chunks in the provider's current batch."
    )
    embedding_problem: str | None = Field(
        default=None,
        exclude_if=is_empty,
        description="For status: why the last attempt to embed code failed.",
    )


@tool("code", idempotent=True)
async def index(
    request: IndexRequest,
    code: CodeService,
    projects: ProjectService,
    jobs: JobService,
    dispatcher: Dispatcher,
    context: CallContext,
) -> IndexResult:
    """Index the code of a project, update one file, list the indexes, or clean up.

    Indexing is a job; if it takes longer than the call may wait, its id is returned.
    """
    if request.action == "status":
        return await _status(code, jobs, context)
    if request.action == "cleanup":
        removed = await code.clean_up()
        return IndexResult(message=f"Removed {removed} indexes", indexes=[], changed=0, removed=removed)
    if request.action == "file" and request.path is None:
        raise InvalidRequest("path: required for action file", hint="pass the file's path")
    root = await root_of(None if request.action == "file" else request.path, code, projects, context)
    # Without a client: its history records this call, not the inner one.
    done = await dispatcher.call(BUILD, {"path": root}, replace(context, client=None))
    job = JobView[BuildRepoIndexResult].model_validate(done, from_attributes=True)
    if job.state is JobState.CANCELLED:
        raise Cancelled("indexing was cancelled; the index is unchanged")
    if job.result is None:
        message = f"Indexing continues as {job.job_id}: {job.progress.message}"
        record = await code.store.index(index_id_of(root, "HEAD", IndexOptions()))
        shown = [_repository_view(record)] if record else []
        return IndexResult(message=message, indexes=shown, changed=0, removed=0, job_id=job.job_id)
    loaded = await code.load(job.result.index_id)
    if request.action == "file" and request.path is not None:
        facts = await code.facts(loaded, relative_path(request.path, root))
        message = f"Indexed {request.path}: {len(facts.symbols)} symbols"
    else:
        message = f"Indexed {job.result.files} files, {job.result.symbols} symbols, {job.result.edges} uses"
    return IndexResult(
        message=message,
        indexes=[_repository_view(loaded.record)],
        changed=job.result.changed,
        removed=job.result.removed,
    )


async def _status(code: CodeService, jobs: JobService, context: CallContext) -> IndexResult:
    records = [record for record in await readable_indexes(code, context) if record.generation]
    state = await code.embedding.state() if code.embedding is not None else None
    shown = [_repository_view(record, state) for record in records]
    symbols = sum(one.symbols for one in shown)
    message = f"Index status: {symbols} symbols in {sum(one.files for one in shown)} files of {len(shown)} indexes"
    running, watched = await active_builds(jobs, code, context), await active_watches(jobs, code, context)
    if running:
        message += f"; {len(running)} being built"
    if watched:
        message += f"; {len(watched)} watched"
    if state is not None:
        pending = sum(one.embeddings.pending for one in shown if one.embeddings)
        message += f"; {pending} chunks wait for {state.model}"
    return IndexResult(
        message=message,
        indexes=shown,
        changed=0,
        removed=0,
        running=running,
        watches=watched,
        in_batch=state.in_batch if state else 0,
        embedding_problem=state.problem if state else None,
    )


def _repository_view(record: IndexRecord, state: "EmbeddingState | None" = None) -> IndexedRepository:
    return IndexedRepository(
        index_id=record.id,
        root=record.root,
        rev=record.rev,
        files=record.details.get("files", 0),
        symbols=record.details.get("symbols", 0),
        edges=record.details.get("edges", 0),
        embeddings=_embedding_view(state, record.id) if state is not None else None,
        freshness=freshness_of(record, None),
    )


def _embedding_view(state: "EmbeddingState", index_id: str) -> EmbeddingProgressView:
    counts = state.counts.get(index_id, VectorCounts())
    return EmbeddingProgressView(
        model=state.model, embedded=counts.embedded, pending=counts.pending, unread=counts.unread
    )
