"""Indexes of repositories: made once, kept up to date by what changed, and searched with citations."""

import time
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from scrubjay.code_index.index.indexer import IndexOptions, index_id_of, unknown_index
from scrubjay.code_index.index.linker import UNSETTLED
from scrubjay.code_index.index.statistics import PROBLEM, left_out_of
from scrubjay.code_index.models import Snapshot, Span
from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.repository_root import resolve_root
from scrubjay.code_index.service import CodeHit, CodeService
from scrubjay.code_index.store import IndexedFile, IndexRecord
from scrubjay.core.errors import Busy
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.index_jobs import BUILD, jobs_of
from scrubjay.features.code.views import AboutCode, Degraded, Memories, remembered_about
from scrubjay.features.code_links.service import Grounding, Part
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.jobs.service import JobRun, JobService

IndexId = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_-]{1,100}$", description="Of the index; ensure_repo_index tells it.")
]
Rev = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        pattern=r"^[^-\x00-\x1f][^\x00-\x1f]*$",
        description="HEAD is the work tree as it is, with what is not committed. Any other revision is read from git's "
        "objects, and the work tree is left alone.",
    ),
]


class Features(Request):
    vector: bool = Field(default=True, description="What means something similar.")
    symbol: bool = Field(default=True, description="Who defines what the question names.")
    graph: bool = Field(default=True, description="What history and use say.")


class IndexOpts(Request):
    context_lines: int = Field(
        default=5,
        ge=0,
        le=20,
        description="How many lines are shown around what is found, unless a search says otherwise, and around the "
        "snippets of a bundle.",
    )
    max_files_to_embed: int | None = Field(
        default=None, ge=1, description="Accepted for those who give it: all files are embedded, at no cost."
    )
    excludes: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field(
        default=[], max_length=100, description="What is left out, as lines of a .gitignore."
    )
    features: Features = Field(
        default_factory=Features, description="Which witnesses are heard, unless a search says otherwise."
    )


class EnsureRepoIndexRequest(Request):
    model_config = examples({"path": "/home/you/code/apollo"}, {"path": ".", "rev": "v1.2.0"})

    path: str = Field(min_length=1, max_length=4_096, description="The folder: absolute, or from where you work.")
    rev: Rev = "HEAD"
    language: Literal["ts", "tsx", "js", "jsx", "py", "rs", "go"] | None = Field(
        default=None, description="Accepted for those who give it: all languages are indexed."
    )
    index_opts: IndexOpts = Field(default_factory=IndexOpts, description="What the index is to hold.")


class Freshness(Result):
    commit: str | None = Field(description="The commit that the index is of; null when there is none.")
    dirty: int = Field(description="How many files differ from that commit.")
    changed_since: int | None = Field(description="How many files changed since they were indexed; null: not looked.")
    updated_at: str
    graph_problem: str | None = Field(
        default=None, description="Why it is not known who uses what, so that nothing is told of it; null when it is."
    )


class EnsureRepoIndexResult(Result):
    index_id: str
    status_uri: str
    manifest_uri: str
    state: Literal["completed", "running"] = Field(description="Whether it is up to date, or is being brought there.")
    job_id: str | None = Field(description="The job that brings it up to date; get_job tells how far it is.")


class BuildRepoIndexRequest(Request):
    model_config = examples({"path": "/home/you/code/apollo"})

    path: str = Field(min_length=1, max_length=4_096, description="The folder: absolute, or from where you work.")
    rev: Rev = "HEAD"
    excludes: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field(
        default=[], max_length=100, description="What is left out, as lines of a .gitignore."
    )
    context_lines: int = Field(default=5, ge=0, le=20, description="As in ensure_repo_index.")
    unheard: list[Literal["vector", "symbol", "graph"]] = Field(
        default=[], description="The features that ensure_repo_index was given as false."
    )


class LeftOutView(Result):
    reason: str
    files: int
    paths: list[str] = Field(description="The first 20 of them.")


class BuildRepoIndexResult(Result):
    index_id: str
    files: int
    changed: int = Field(description="How many files were new or had changed.")
    removed: int
    symbols: int
    edges: int = Field(description="How many uses were resolved.")
    unresolved: int = Field(description="How many were not, most of them of libraries.")
    unsettled: int = Field(
        0,
        description="Of how many changed files it is not known yet what they mean for values passed through others.",
    )
    skipped: int = Field(description="How many files were not read: binaries, too large, locked versions.")
    left_out: list[LeftOutView] = Field(default=[], description="Why these were not read, the commonest reason first.")
    sorts: dict[str, int] = Field(
        default={}, description="How many files were recognised as tests, vendored, generated, minified and so on."
    )
    broken: list[str] = Field(
        default=[],
        description="The files with syntax that could not be read, 200 at most; get_symbols tells the lines.",
    )
    freshness: Freshness


class SearchRepoRequest(Request):
    model_config = examples({"index_id": "idx_abc", "query": "where are sessions signed?"})

    index_id: IndexId
    query: str = Field(min_length=1, max_length=10_000, description="A question, a name, or the words of a change.")
    k: int = Field(default=20, ge=1, le=100, description="How many results at most.")
    features: Features = Field(
        default_factory=Features,
        description="Which witnesses are heard; those that are not given as the index has them.",
    )
    context_lines: int = Field(
        default=5,
        ge=0,
        le=20,
        description="How many lines around each result are shown; else as many as the index was made with.",
    )
    token_budget: TokenBudget = 20_000


class Scores(Result):
    vector: float
    symbol: float
    graph: float
    text: float


class Shown(Result):
    pre: str
    text: str
    post: str


class Citation(Result):
    repo_root: str
    rev: str = Field(description="The commit, or the revision as it was asked for where there is none.")
    path: str
    span: list[int]
    content_sha: str = Field(description="The id that git gives the file's content.")


Stale = Annotated[
    bool,
    Field(
        description="Whether the file changed since it was indexed: then what was indexed is shown, or nothing where "
        "that cannot be had any more."
    ),
]


class FoundCode(Result):
    path: str
    span: list[int] = Field(description="The first byte, and the one behind the last.")
    lines: list[int] = Field(description="The first line and the last, counted from 1.")
    symbol: str = Field(description="The definition that it is about; empty when it is about none.")
    score: float
    scores: Scores
    content: Shown
    stale: Stale
    citation: Citation
    memories: Memories


class SearchRepoResult(Result):
    results: list[FoundCode] = Field(description="Best first, one of each file.")
    total: int = Field(description="How many were found, of the `k` that were asked for at most.")
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
        description="What a thing is, where it is defined or used, who calls, imports, raises, catches or sets it, how "
        "it works, how one thing reaches or relates to another; names as they are written in the code.",
    )
    context_lines: int = Field(default=5, ge=0, le=20, description="How many lines around each evidence are shown.")
    token_budget: TokenBudget = 4_000


class ReasoningStepView(Result):
    step: int
    intent: Intent
    query: str
    results_count: int


class EvidenceView(Result):
    path: str
    span: list[int] = Field(description="The first byte, and the one behind the last.")
    lines: list[int] = Field(description="The first line and the last, counted from 1.")
    symbol: str = Field(description="The definition that it is of; empty when it is of none, or of several.")
    relevance: float
    content: Shown
    stale: Stale
    citation: Citation


class AskIndexResult(Result):
    question: str
    answer: str = Field(description="What the evidence says; [1] is the first of it. Guesses are said to be guesses.")
    reasoning_steps: list[ReasoningStepView] = Field(description="What was looked up, in order.")
    evidence: list[EvidenceView] = Field(description="The most relevant first.")
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
    """Make sure that a repository is indexed as it is now, and tell the id by which the index is asked.

    When nothing changed this answers at once. Else a job reads what changed, and only that; the index answers with what
    it had before until then.
    """
    root = resolved_root(request.path, context, code)
    opts = request.index_opts
    options = IndexOptions(
        excludes=tuple(opts.excludes),
        context_lines=opts.context_lines,
        unheard=tuple(name for name, is_heard in opts.features.model_dump().items() if not is_heard),
    )
    snapshot = await code.indexer.snapshot(root, request.rev, options)
    index_id = index_id_of(snapshot.root, request.rev, options)
    record = await code.store.index(index_id)
    job = next(iter(await jobs_of(index_id, BUILD, jobs)), None)
    if job is None and (record is None or await changed_since(record, snapshot, code)):
        arguments = {"path": snapshot.root, "rev": request.rev, **options.as_data()}
        del arguments["languages"]  # all of them are
        job = await jobs.start(BUILD, {"arguments": arguments, "context": context.kept(), "index_id": index_id})
    return EnsureRepoIndexResult(
        index_id=index_id,
        status_uri=f"mimir://indexes/{index_id}/status.json",
        manifest_uri=f"mimir://indexes/{index_id}/manifest.json",
        state="completed" if job is None else "running",
        job_id=job.id if job else None,
    )


@tool("code", runs_as_job=True, idempotent=True, core=False)
async def build_repo_index(
    request: BuildRepoIndexRequest, code: CodeService, context: CallContext, run: JobRun
) -> BuildRepoIndexResult:
    """Bring the index of a repository up to date, and wait for it. What ensure_repo_index begins is this job."""
    root = resolved_root(request.path, context, code)
    options = IndexOptions(tuple(request.excludes), (), request.context_lines, tuple(request.unheard))
    built = await code.indexer.build(root, request.rev, options, run)
    await code.load(built.record.id)  # so that nobody waits for it when they ask
    details = built.record.details
    return BuildRepoIndexResult(
        index_id=built.record.id,
        files=details["files"],
        changed=len(built.changed),
        removed=len(built.removed),
        symbols=details["symbols"],
        edges=details["edges"],
        unresolved=details["unresolved"],
        unsettled=details.get(UNSETTLED, 0),
        skipped=details["skipped"],
        left_out=[LeftOutView(**one._asdict()) for one in left_out_of(details)],
        sorts=details.get("sorts", {}),
        broken=details.get("broken", []),
        freshness=freshness_of(built.record, 0),
    )


@tool("code", read_only=True)
async def search_repo(
    request: SearchRepoRequest,
    code: CodeService,
    grounding: Grounding,
    projects: ProjectService,
    jobs: JobService,
    context: CallContext,
) -> SearchRepoResult:
    """Find where an indexed repository answers a question, names a thing, or would be changed for something.

    Each result is one part of a file with its lines, a citation that says of which content it is, and what is
    remembered about it.
    """
    from scrubjay.code_index.search.ranker import Toggles

    began = time.perf_counter()
    record = await finished_index(request.index_id, code, jobs)
    toggles = Toggles(**IndexOptions.of(record.options).features | request.features.model_dump(exclude_unset=True))
    lines = lines_around(request, record)
    hits = await code.search(request.index_id, request.query, limit=request.k, toggles=toggles, context_lines=lines)
    record = await known_index(request.index_id, code)
    memories = await remembered_about(record.root, [part_of(hit) for hit in hits], grounding, projects, context)
    found = (found_code(hit, record, told) for hit, told in zip(hits, memories, strict=True))
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
async def ask_index(request: AskIndexRequest, code: CodeService, jobs: JobService) -> AskIndexResult:
    """Answer a question about an indexed repository from its symbols and who uses what, with evidence for every claim.

    No language model is asked. A name that does not exist is said not to exist, with the nearest ones; a question that
    names nothing is answered by what fits its words.
    """
    from scrubjay.code_index.questions.answerer import answered

    began = time.perf_counter()
    await finished_index(request.index_id, code, jobs)
    loaded = await code.load(request.index_id)
    lines = lines_around(request, loaded.record)
    told = AskIndexResult(
        question=request.question,
        answer="",
        reasoning_steps=[],
        evidence=[],
        query_time_ms=0,
        truncated=False,
        freshness=freshness_of(loaded.record, None),
    )
    left = Budget(request.token_budget, told).left
    answer = await answered(request.question, code, loaded, context_lines=lines, token_budget=left)
    return told.model_copy(
        update={
            "answer": answer.text,
            "reasoning_steps": [
                ReasoningStepView(step=number, intent=step.intent, query=step.query, results_count=step.results_count)
                for number, step in enumerate(answer.steps, start=1)
            ],
            "evidence": [
                EvidenceView(
                    path=printable_path(one.file.path),
                    span=[one.extract.span.start, one.extract.span.end],
                    lines=[one.extract.span.first_line, one.extract.span.last_line],
                    symbol=one.symbol,
                    relevance=one.relevance,
                    content=Shown(pre=one.extract.before, text=one.extract.text, post=one.extract.after),
                    stale=one.stale,
                    citation=_citation(one.file, one.extract.span, loaded.record),
                )
                for one in answer.evidence
            ],
            "query_time_ms": round((time.perf_counter() - began) * 1000, 2),
            "truncated": answer.truncated,
        }
    )


@tool("code", idempotent=True, core=False)
async def cancel(request: CancelRequest, code: CodeService, jobs: JobService) -> CancelResult:
    """Stop what brings an index up to date. The index stays as it was before; a watch of its folder goes on."""
    under_way = await jobs_of(request.index_id, BUILD, jobs)
    if not under_way:
        known = await code.store.index(request.index_id)
        return CancelResult(ok=False, message="Pipeline not running" if known else "Pipeline not found")
    for job in under_way:
        await jobs.cancel(job.id, patience=None)
    return CancelResult(ok=True, message="Pipeline cancelled")


# -- what tools about code have in common ----------------------------------------------------------


def resolved_root(path: str, context: CallContext, code: CodeService) -> str:
    """Return the folder that the caller means, resolved; raise `Forbidden` when the settings do not allow it."""
    return resolve_root(path, context.working_directory, code.roots)


async def known_index(index_id: str, code: CodeService) -> IndexRecord:
    if (record := await code.store.index(index_id)) is None:
        raise unknown_index(index_id)
    return record


async def finished_index(index_id: str, code: CodeService, jobs: JobService) -> IndexRecord:
    """An index that can be asked; one that is being made for the first time is not said not to exist."""
    if (record := await code.store.index(index_id)) is not None:
        return record
    if job := next(iter(await jobs_of(index_id, BUILD, jobs)), None):
        raise Busy(
            f"the index {index_id} is being made for the first time",
            hint=f"ask again when get_job tells that {job.id} is completed",
            details={"job_id": job.id, "progress": job.progress.done},
        )
    raise unknown_index(index_id)


def lines_around(request: SearchRepoRequest | AskIndexRequest, record: IndexRecord) -> int:
    """How many lines are shown around each result: as many as are asked for, or as the index was made with."""
    if "context_lines" in request.model_fields_set:
        return request.context_lines
    return IndexOptions.of(record.options).context_lines


async def changed_since(record: IndexRecord, snapshot: Snapshot, code: CodeService) -> int:
    """How many files are not as they were when the index was made."""
    changed, removed = await code.indexer.behind(snapshot, record)
    return len(changed) + len(removed) or int(record.commit != snapshot.commit)


def freshness_of(record: IndexRecord, changed: int | None) -> Freshness:
    return Freshness(
        commit=record.commit,
        dirty=record.details.get("dirty", 0),
        changed_since=changed,
        updated_at=record.updated_at.isoformat(),
        graph_problem=record.details.get(PROBLEM),
    )


def part_of(hit: CodeHit) -> Part:
    return Part(hit.file.path, hit.symbol, hit.extract.span.first_line, hit.extract.span.last_line)


def found_code(hit: CodeHit, record: IndexRecord, memories: Sequence[AboutCode] = ()) -> FoundCode:
    span = hit.extract.span
    return FoundCode(
        path=printable_path(hit.file.path),
        span=[span.start, span.end],
        lines=[span.first_line, span.last_line],
        symbol=hit.symbol,
        score=hit.score,
        scores=Scores(**{name: hit.scores[name] for name in ("vector", "symbol", "graph", "text")}),
        content=Shown(pre=hit.extract.before, text=hit.extract.text, post=hit.extract.after),
        stale=hit.stale,
        citation=_citation(hit.file, span, record),
        memories=[*memories],
    )


def _citation(file: IndexedFile, span: Span, record: IndexRecord) -> Citation:
    return Citation(
        repo_root=record.root,
        rev=record.commit or record.rev,
        path=printable_path(file.path),
        span=[span.start, span.end],
        content_sha=file.content.blob,
    )


def printable_path(path: str) -> str:
    """A path as text that every protocol can carry."""
    return path.encode("utf-8", "backslashreplace").decode()


def plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
