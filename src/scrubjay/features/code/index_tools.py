"""Indexing the code of the project one works in, and telling what is indexed, being indexed and watched."""

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from scrubjay.code_index.index.indexer import IndexOptions, index_id_of
from scrubjay.code_index.service import CodeService
from scrubjay.code_index.store import IndexRecord
from scrubjay.code_index.vector_store import VectorCounts
from scrubjay.core.errors import Cancelled, InvalidRequest
from scrubjay.features.code.index_jobs import BUILD, BuildView, WatchView, builds_under_way, watches
from scrubjay.features.code.repository_tools import BuildRepoIndexResult, Freshness, freshness_of
from scrubjay.features.code.tools import root_of, within
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_view import JobView
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.optional_fields import is_nothing

if TYPE_CHECKING:
    from scrubjay.code_index.reranking.service import EmbeddingState


class IndexRequest(Request):
    model_config = examples({"action": "project"}, {"action": "status"})

    action: Literal["project", "file", "status", "cleanup"] = Field(
        description="project: index it, or what changed in it. file: only look at one file again. status: what is "
        "indexed. cleanup: remove indexes of folders that are gone, and what no index needs."
    )
    path: str | None = Field(
        default=None, min_length=1, max_length=4_096, description="The folder, or for file the file."
    )
    include_git: bool = Field(default=True, description="Accepted for those who give it: history is always read.")
    commit_limit: int | None = Field(default=None, ge=1, description="Accepted likewise: the newest 20,000 are read.")
    parallel: bool = Field(default=True, description="Accepted likewise: files are always read in parallel.")
    max_workers: int | None = Field(default=None, ge=1, le=64, description="Accepted likewise: settings tell it.")


class EmbeddedView(Result):
    """How far a model beside the bundled one is with an index."""

    model: str
    embedded: int = Field(description="How many parts of files have their meaning of it.")
    pending: int = Field(description="How many have not yet: the server asks for them, or a search that needs them.")
    unread: int = Field(description="How many files have parts that are not counted yet.")


class IndexedRepository(Result):
    index_id: str
    root: str
    rev: str
    files: int
    symbols: int
    edges: int
    embeddings: EmbeddedView | None = Field(
        default=None,
        exclude_if=is_nothing,
        description="For status: how far the model is that SCRUBJAY_CODE_EMBEDDINGS names, if it names one.",
    )
    freshness: Freshness


class IndexResult(Result):
    message: str = Field(description="In one sentence, such as: Indexed 120 files, 1500 symbols, 4000 uses.")
    indexes: list[IndexedRepository]
    changed: int = Field(description="How many files were read because they were new or had changed.")
    removed: int = Field(description="How many files or indexes were removed.")
    job_id: str | None = Field(default=None, description="The job that brings the index up to date, if it still does.")
    running: list[BuildView] = Field(default=[], description="For status: the indexes that are being built now.")
    watches: list[WatchView] = Field(default=[], description="For status: the folders that are watched.")
    in_batch: int = Field(
        default=0, exclude_if=is_nothing, description="For status: how many parts a batch of the provider is at."
    )
    embedding_problem: str | None = Field(
        default=None,
        exclude_if=is_nothing,
        description="For status: why this server could not have code embedded when it last tried.",
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
    """Index the code of a project, look at one file again, tell what is indexed, or clean up.

    Indexing is a job; when it takes longer than you can wait, its id is told.
    """
    if request.action == "status":
        return await _status(code, jobs)
    if request.action == "cleanup":
        removed = await code.clean_up()
        return IndexResult(message=f"Removed {removed} indexes", indexes=[], changed=0, removed=removed)
    if request.action == "file" and request.path is None:
        raise InvalidRequest("path: needed to look at a file again", hint="give the file's path")
    root = await root_of(None if request.action == "file" else request.path, code, projects, context)
    # It is this call that the client's history tells of.
    done = await dispatcher.call(BUILD, {"path": root}, replace(context, client=None))
    job = JobView[BuildRepoIndexResult].model_validate(done, from_attributes=True)
    if job.state is JobState.CANCELLED:
        raise Cancelled("indexing was cancelled; the index is as it was before")
    if job.result is None:
        message = f"Indexing goes on as {job.job_id}: {job.progress.message}"
        record = await code.store.index(index_id_of(root, "HEAD", IndexOptions()))
        shown = [_repository(record)] if record else []
        return IndexResult(message=message, indexes=shown, changed=0, removed=0, job_id=job.job_id)
    loaded = await code.load(job.result.index_id)
    if request.action == "file" and request.path is not None:
        facts = await code.facts(loaded, within(request.path, root))
        message = f"Indexed {request.path}: {len(facts.symbols)} symbols"
    else:
        message = f"Indexed {job.result.files} files, {job.result.symbols} symbols, {job.result.edges} uses"
    return IndexResult(
        message=message,
        indexes=[_repository(loaded.record)],
        changed=job.result.changed,
        removed=job.result.removed,
    )


async def _status(code: CodeService, jobs: JobService) -> IndexResult:
    records = [record for record in await code.store.indexes() if record.generation]
    state = await code.embedding.state() if code.embedding is not None else None
    shown = [_repository(record, state) for record in records]
    symbols = sum(one.symbols for one in shown)
    message = f"Index status: {symbols} symbols in {sum(one.files for one in shown)} files of {len(shown)} indexes"
    running, watched = await builds_under_way(jobs), await watches(jobs)
    if running:
        message += f"; {len(running)} being built"
    if watched:
        message += f"; {len(watched)} watched"
    if state is not None:
        pending = sum(one.embeddings.pending for one in shown if one.embeddings)
        message += f"; {pending} parts wait for {state.model}"
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


def _repository(record: IndexRecord, state: "EmbeddingState | None" = None) -> IndexedRepository:
    return IndexedRepository(
        index_id=record.id,
        root=record.root,
        rev=record.rev,
        files=record.details.get("files", 0),
        symbols=record.details.get("symbols", 0),
        edges=record.details.get("edges", 0),
        embeddings=_embedded(state, record.id) if state is not None else None,
        freshness=freshness_of(record, None),
    )


def _embedded(state: "EmbeddingState", index_id: str) -> EmbeddedView:
    counts = state.counts.get(index_id, VectorCounts())
    return EmbeddedView(model=state.model, embedded=counts.embedded, pending=counts.pending, unread=counts.unread)
