"""Tools that build, update, search and question the index of a repository, with citations."""

import time
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from scrubjay import code_index
from scrubjay.code_index import (
    GRAPH_PROBLEM,
    PENDING_RELINK,
    CodeHit,
    CodeService,
    IndexedFile,
    IndexOptions,
    IndexRecord,
    Intent,
    LoadedIndex,
    Snapshot,
    Span,
    index_id_of,
    left_out_of,
    unknown_index,
)
from scrubjay.core.errors import Busy
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.index_jobs import BUILD, CodeJobGuard, jobs_of
from scrubjay.features.code.views import CodeMemoryView, Degraded, Memories, memories_about
from scrubjay.features.code_links.service import CodeLinkService, CodeRange
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.jobs.service import JobRun, JobService

IndexId = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_-]{1,100}$", description="Id of the index, as returned by ensure_repo_index.")
]
Rev = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        pattern=r"^[^-\x00-\x1f][^\x00-\x1f]*$",
        description="HEAD means the work tree, including uncommitted changes. Any other revision is read from git's "
        "object store without touching the work tree.",
    ),
]


class Features(Request):
    vector: bool = Field(default=True, description="Similarity of embeddings.")
    symbol: bool = Field(default=True, description="Definitions of the names in the query.")
    graph: bool = Field(default=True, description="Commit history and the use graph.")


class IndexOpts(Request):
    context_lines: int = Field(
        default=5,
        ge=0,
        le=20,
        description="Lines of context around each result, unless a search sets its own, and around the snippets of a "
        "bundle.",
    )
    max_files_to_embed: int | None = Field(
        default=None, ge=1, description="Accepted for compatibility and ignored: all files are embedded, at no cost."
    )
    excludes: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field(
        default=[], max_length=100, description="Patterns of files to exclude, in .gitignore syntax."
    )
    features: Features = Field(default_factory=Features, description="Ranking signals that searches use by default.")


class EnsureRepoIndexRequest(Request):
    model_config = examples({"path": "/home/you/code/apollo"}, {"path": ".", "rev": "v1.2.0"})

    path: str = Field(
        min_length=1, max_length=4_096, description="The folder: absolute, or relative to your working folder."
    )
    rev: Rev = "HEAD"
    language: Literal["ts", "tsx", "js", "jsx", "py", "rs", "go"] | None = Field(
        default=None, description="Accepted for compatibility and ignored: all languages are indexed."
    )
    index_opts: IndexOpts = Field(default_factory=IndexOpts, description="Options of the index.")


class Freshness(Result):
    commit: str | None = Field(description="The indexed commit; null outside git.")
    dirty: int = Field(description="Number of files that differ from that commit.")
    changed_since: int | None = Field(
        description="Number of files changed since they were indexed; null if not checked."
    )
    updated_at: str
    graph_problem: str | None = Field(
        default=None, description="Why the index has no use graph (no callers, no impact); null if it has one."
    )


class EnsureRepoIndexResult(Result):
    index_id: str
    status_uri: str
    manifest_uri: str
    state: Literal["completed", "running"] = Field(description="completed: up to date. running: a job is updating it.")
    job_id: str | None = Field(description="The job that updates the index; get_job reports its progress.")


class BuildRepoIndexRequest(Request):
    model_config = examples({"path": "/home/you/code/apollo"})

    path: str = Field(
        min_length=1, max_length=4_096, description="The folder: absolute, or relative to your working folder."
    )
    rev: Rev = "HEAD"
    excludes: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field(
        default=[], max_length=100, description="Patterns of files to exclude, in .gitignore syntax."
    )
    context_lines: int = Field(default=5, ge=0, le=20, description="As in ensure_repo_index.")
    disabled_signals: list[Literal["vector", "symbol", "graph"]] = Field(
        default=[],
        # Jobs of earlier versions have the second name.
        validation_alias=AliasChoices("disabled_signals", "unheard"),
        description="Ranking signals that are off: the `features` that were false in ensure_repo_index.",
    )


class LeftOutView(Result):
    reason: str
    files: int
    paths: list[str] = Field(description="The first 20 of them.")


class BuildRepoIndexResult(Result):
    index_id: str
    files: int
    changed: int = Field(description="Number of files that were new or had changed.")
    removed: int
    symbols: int
    edges: int = Field(description="Number of uses resolved to a definition.")
    unresolved: int = Field(description="Number of uses without a definition here, most of them of libraries.")
    pending_relink: int = Field(
        0,
        description="Changed files whose effect on values passed through other files waits for a full relink.",
    )
    skipped: int = Field(description="Number of files that were not read: binaries, large files, lock files.")
    left_out: list[LeftOutView] = Field(default=[], description="Skipped files by reason, most frequent first.")
    sorts: dict[str, int] = Field(
        default={}, description="Number of files recognized as tests, vendored, generated, minified and so on."
    )
    broken: list[str] = Field(
        default=[],
        description="Files with syntax errors, at most 200; get_symbols returns the lines.",
    )
    freshness: Freshness


class SearchRepoRequest(Request):
    model_config = examples({"index_id": "idx_abc", "query": "where are sessions signed?"})

    index_id: IndexId
    query: str = Field(min_length=1, max_length=10_000, description="A question, a name, or the words of a change.")
    k: int = Field(default=20, ge=1, le=100, description="Maximum number of results.")
    features: Features = Field(
        default_factory=Features,
        description="Ranking signals to use. Default: those of the index.",
    )
    context_lines: int = Field(
        default=5,
        ge=0,
        le=20,
        description="Lines of context around each result. Default: the setting of the index.",
    )
    token_budget: TokenBudget = 20_000


class SignalScores(Result):
    vector: float
    symbol: float
    graph: float
    text: float


class CodeExcerptView(Result):
    pre: str
    text: str
    post: str


class CodeCitation(Result):
    repo_root: str
    rev: str = Field(description="The commit, or the requested revision if there is no commit.")
    path: str
    span: list[int]
    content_sha: str = Field(description="The git blob id of the file's content.")


Stale = Annotated[
    bool,
    Field(
        description="Whether the file changed since it was indexed. If so, the content is the indexed version, or "
        "empty if that is no longer available."
    ),
]


class FoundCode(Result):
    path: str
    span: list[int] = Field(description="Byte offsets: first byte, and one past the last.")
    lines: list[int] = Field(description="First and last line, counted from 1.")
    symbol: str = Field(description="Qualified name of the definition; empty if there is none.")
    score: float
    scores: SignalScores
    content: CodeExcerptView
    stale: Stale
    citation: CodeCitation
    memories: Memories


class SearchRepoResult(Result):
    results: list[FoundCode] = Field(description="Best first, one per file.")
    total: int = Field(description="Number of results found, at most `k`.")
    query_time_ms: float
    degraded: Degraded
    truncated: Truncated
    freshness: Freshness


class AskIndexRequest(Request):
    model_config = examples(
        {"index_id": "idx_abc", "question": "What functions call the validatePassword method?"},
        {"index_id": "idx_abc", "question": "Where is UserNotFoundError thrown?", "token_budget": 1000},
    )

    index_id: IndexId
    question: str = Field(
        min_length=1,
        max_length=10_000,
        description="Ask what a symbol is, where it is defined or used, who calls, imports, raises, catches or sets "
        "it, how it works, or how one symbol reaches or relates to another. Write names as in the code.",
    )
    context_lines: int = Field(default=5, ge=0, le=20, description="Lines of context around each piece of evidence.")
    token_budget: TokenBudget = 4_000


class ReasoningStepView(Result):
    step: int
    intent: Intent
    query: str
    results_count: int


class EvidenceView(Result):
    path: str
    span: list[int] = Field(description="Byte offsets: first byte, and one past the last.")
    lines: list[int] = Field(description="First and last line, counted from 1.")
    symbol: str = Field(description="Qualified name of the definition; empty if there is none or several.")
    relevance: float
    content: CodeExcerptView
    stale: Stale
    citation: CodeCitation


class AskIndexResult(Result):
    question: str
    answer: str = Field(
        description="The answer; [1] refers to the first piece of evidence. Guesses are marked as such."
    )
    reasoning_steps: list[ReasoningStepView] = Field(description="The lookups that were made, in order.")
    evidence: list[EvidenceView] = Field(description="Most relevant first.")
    query_time_ms: float
    truncated: Truncated
    freshness: Freshness


class CancelRequest(Request):
    model_config = examples({"index_id": "idx_abc"})

    index_id: IndexId


class CancelResult(Result):
    ok: bool
    message: str


@tool("code", idempotent=True)
async def ensure_repo_index(
    request: EnsureRepoIndexRequest, code: CodeService, jobs: JobService, context: CallContext
) -> EnsureRepoIndexResult:
    """Ensure that the index of a repository is up to date, and return the id of the index.

    Returns at once if nothing changed. Otherwise a job reads only the changed files; until it ends, the index answers
    from its previous state.
    """
    root = await resolved_root(request.path, context, code)
    opts = request.index_opts
    options = IndexOptions(
        excludes=tuple(opts.excludes),
        context_lines=opts.context_lines,
        disabled_signals=tuple(name for name, is_enabled in opts.features.model_dump().items() if not is_enabled),
    )
    snapshot = await code.indexer.snapshot(root, request.rev, options)
    index_id = index_id_of(snapshot.root, request.rev, options)
    record = await code.store.index(index_id)
    job = next(iter(await jobs_of(index_id, BUILD, jobs, code, context)), None)
    if job is None and (record is None or await changed_since(record, snapshot, code)):
        arguments = {"path": snapshot.root, "rev": request.rev, **options.as_data()}
        del arguments["languages"]  # all languages are indexed
        job = await jobs.start(BUILD, {"arguments": arguments, "context": context.kept(), "index_id": index_id})
    return EnsureRepoIndexResult(
        index_id=index_id,
        status_uri=f"mimir://indexes/{index_id}/status.json",
        manifest_uri=f"mimir://indexes/{index_id}/manifest.json",
        state="completed" if job is None else "running",
        job_id=job.id if job else None,
    )


@tool("code", runs_as_job=True, idempotent=True, core=False, job_guard=CodeJobGuard)
async def build_repo_index(
    request: BuildRepoIndexRequest, code: CodeService, context: CallContext, run: JobRun
) -> BuildRepoIndexResult:
    """Update the index of a repository and wait until it is complete. This is the job that ensure_repo_index starts."""
    root = await resolved_root(request.path, context, code)
    options = IndexOptions(tuple(request.excludes), (), request.context_lines, tuple(request.disabled_signals))
    built = await code.indexer.build(root, request.rev, options, run)
    await code.load(built.record.id)  # so that the first query need not wait for it
    details = built.record.details
    return BuildRepoIndexResult(
        index_id=built.record.id,
        files=details["files"],
        changed=len(built.changed),
        removed=len(built.removed),
        symbols=details["symbols"],
        edges=details["edges"],
        unresolved=details["unresolved"],
        pending_relink=details.get(PENDING_RELINK, 0),
        skipped=details["skipped"],
        left_out=[LeftOutView(**one._asdict()) for one in left_out_of(details)],
        sorts=details.get("sorts", {}),
        broken=details.get("broken", []),
        freshness=freshness_of(built.record, 0),
    )


@tool("code", read_only=True, withholds=("memory",))
async def search_repo(
    request: SearchRepoRequest,
    code: CodeService,
    code_links: CodeLinkService,
    projects: ProjectService,
    jobs: JobService,
    context: CallContext,
) -> SearchRepoResult:
    """Find the code of an indexed repository that answers a question, defines a name, or would change for a feature.

    Each result is one part of a file with its lines, a citation of the exact content, and related memories.
    """
    began = time.perf_counter()
    record = await finished_index(request.index_id, code, jobs, context)
    toggles = code_index.SignalToggles(
        **IndexOptions.of(record.options).features | request.features.model_dump(exclude_unset=True)
    )
    lines = lines_around(request, record)
    hits = await code.search(request.index_id, request.query, limit=request.k, toggles=toggles, context_lines=lines)
    record = await known_index(request.index_id, code, context)
    memories = await memories_about(record.root, [code_range_of(hit) for hit in hits], code_links, projects, context)
    found = (found_code(hit, record, related) for hit, related in zip(hits, memories, strict=True))
    answer = SearchRepoResult(
        results=[],
        total=len(hits),
        query_time_ms=round((time.perf_counter() - began) * 1000, 2),
        degraded=hits.degraded,
        truncated=False,
        freshness=freshness_of(record, None),
    )
    results = Budget(request.token_budget, answer).fitting(found, at_least=1)
    return answer.model_copy(update={"results": results, "truncated": hits.more or len(results) < len(hits)})


@tool("code", read_only=True)
async def ask_index(
    request: AskIndexRequest, code: CodeService, jobs: JobService, context: CallContext
) -> AskIndexResult:
    """Answer a question about an indexed repository from its symbols and use graph, with evidence for every claim.

    Uses no language model. For an unknown name the answer says so and suggests similar names; a question without a
    name is answered by search.
    """
    began = time.perf_counter()
    await finished_index(request.index_id, code, jobs, context)
    loaded = await code.load(request.index_id)
    lines = lines_around(request, loaded.record)
    result = AskIndexResult(
        question=request.question,
        answer="",
        reasoning_steps=[],
        evidence=[],
        query_time_ms=0,
        truncated=False,
        freshness=freshness_of(loaded.record, None),
    )
    left = Budget(request.token_budget, result).left
    answer = await code_index.answer_question(request.question, code, loaded, context_lines=lines, token_budget=left)
    return result.model_copy(
        update={
            "answer": answer.text,
            "reasoning_steps": [
                ReasoningStepView(step=number, intent=step.intent, query=step.query, results_count=step.results_count)
                for number, step in enumerate(answer.steps, start=1)
            ],
            "evidence": [
                EvidenceView(
                    path=printable_path(one.file.path),
                    span=[one.excerpt.span.start, one.excerpt.span.end],
                    lines=[one.excerpt.span.first_line, one.excerpt.span.last_line],
                    symbol=one.symbol,
                    relevance=one.relevance,
                    content=CodeExcerptView(pre=one.excerpt.before, text=one.excerpt.text, post=one.excerpt.after),
                    stale=one.stale,
                    citation=_citation(one.file, one.excerpt.span, loaded.record),
                )
                for one in answer.evidence
            ],
            "query_time_ms": round((time.perf_counter() - began) * 1000, 2),
            "truncated": answer.truncated,
        }
    )


@tool("code", idempotent=True, core=False)
async def cancel(request: CancelRequest, code: CodeService, jobs: JobService, context: CallContext) -> CancelResult:
    """Cancel the job that updates an index. The index keeps its previous state; a watch of its folder continues."""
    under_way = await jobs_of(request.index_id, BUILD, jobs, code, context)
    if not under_way:
        known = await code.store.index(request.index_id)
        if known is not None and not await code.folders.allows(known, restricted=context.caller.holds_key):
            known = None
        return CancelResult(ok=False, message="Pipeline not running" if known else "Pipeline not found")
    for job in under_way:
        await jobs.cancel(job.id, patience=None)
    return CancelResult(ok=True, message="Pipeline cancelled")


# -- shared by the tools about code ---------------------------------------------------------------


async def resolved_root(path: str, context: CallContext, code: CodeService) -> str:
    """Return the resolved folder; raise `Forbidden` if the caller may not index it."""
    return await code.folders.permit(path, context.working_directory, restricted=context.caller.holds_key)


async def known_index(index_id: str, code: CodeService, context: CallContext) -> IndexRecord:
    """Return the record of an index; one that the caller may not read counts as missing."""
    record = await code.store.index(index_id)
    return await code.folders.permit_index(record, index_id, restricted=context.caller.holds_key)


async def readable_index(index_id: str, code: CodeService, context: CallContext) -> LoadedIndex:
    """Load an index; one that the caller may not read counts as missing."""
    await known_index(index_id, code, context)
    return await code.load(index_id)


async def readable_indexes(code: CodeService, context: CallContext) -> list[IndexRecord]:
    """Return the indexes that the caller may read."""
    restricted = context.caller.holds_key
    return [one for one in await code.store.indexes() if await code.folders.allows(one, restricted=restricted)]


async def finished_index(index_id: str, code: CodeService, jobs: JobService, context: CallContext) -> IndexRecord:
    """Return the record of an index that can be queried; raise `Busy` while it is built for the first time."""
    if (record := await code.store.index(index_id)) is not None:
        return await code.folders.permit_index(record, index_id, restricted=context.caller.holds_key)
    if job := next(iter(await jobs_of(index_id, BUILD, jobs, code, context)), None):
        raise Busy(
            f"the index {index_id} is being built for the first time",
            hint=f"retry when get_job reports that {job.id} is completed",
            details={"job_id": job.id, "progress": job.progress.done},
        )
    raise unknown_index(index_id)


def lines_around(request: SearchRepoRequest | AskIndexRequest, record: IndexRecord) -> int:
    """Return the requested lines of context, else the setting of the index."""
    if "context_lines" in request.model_fields_set:
        return request.context_lines
    return IndexOptions.of(record.options).context_lines


async def changed_since(record: IndexRecord, snapshot: Snapshot, code: CodeService) -> int:
    """Return how many files differ from the index; at least 1 when only the commit differs."""
    changed, removed = await code.indexer.changes_since(snapshot, record)
    return len(changed) + len(removed) or int(record.commit != snapshot.commit)


def freshness_of(record: IndexRecord, changed: int | None) -> Freshness:
    return Freshness(
        commit=record.commit,
        dirty=record.details.get("dirty", 0),
        changed_since=changed,
        updated_at=record.updated_at.isoformat(),
        graph_problem=record.details.get(GRAPH_PROBLEM),
    )


def code_range_of(hit: CodeHit) -> CodeRange:
    return CodeRange(hit.file.path, hit.symbol, hit.excerpt.span.first_line, hit.excerpt.span.last_line)


def found_code(hit: CodeHit, record: IndexRecord, memories: Sequence[CodeMemoryView] = ()) -> FoundCode:
    span = hit.excerpt.span
    return FoundCode(
        path=printable_path(hit.file.path),
        span=[span.start, span.end],
        lines=[span.first_line, span.last_line],
        symbol=hit.symbol,
        score=hit.score,
        scores=SignalScores(**{name: hit.scores[name] for name in ("vector", "symbol", "graph", "text")}),
        content=CodeExcerptView(pre=hit.excerpt.before, text=hit.excerpt.text, post=hit.excerpt.after),
        stale=hit.stale,
        citation=_citation(hit.file, span, record),
        memories=[*memories],
    )


def _citation(file: IndexedFile, span: Span, record: IndexRecord) -> CodeCitation:
    return CodeCitation(
        repo_root=record.root,
        rev=record.commit or record.rev,
        path=printable_path(file.path),
        span=[span.start, span.end],
        content_sha=file.content.blob,
    )


def printable_path(path: str) -> str:
    """Return a path as valid UTF-8 text; undecodable bytes become escapes."""
    return path.encode("utf-8", "backslashreplace").decode()


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
