"""Tools that create, list, search and delete summaries of sessions, days and weeks."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Memory
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.summaries.models import GenerationMethod, Level, SummaryCategory
from scrubjay.features.summaries.service import FailedSummary, Summariser
from scrubjay.features.summaries.startup import UPKEEP_JOB
from scrubjay.features.turns.tools import Distance, Relevance, distance_of
from scrubjay.tooling.arguments import Label, provenance_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.job_view import ErrorView
from scrubjay.tooling.jobs.service import JobRun

# The call history uses this id to erase excerpts of calls that mention a deleted summary.
MEMORY_ID = "Memory id, for recall and forget."
LEVEL = "Level: 1 sessions, 2 days, 3 weeks."


class SummarizeSessionsRequest(Request):
    model_config = examples({}, {"sessionId": "session-1"})

    sessionId: Label | None = Field(  # noqa: N815 - the documented name
        default=None,
        description="Session to summarise, again if it has a summary; default: every session without a summary or "
        "with new turns, and all completed days and weeks.",
    )


class SummarizedSession(Result):
    """A summarised session."""

    sessionId: str  # noqa: N815 - the documented name
    summaryId: str  # noqa: N815 - as above
    title: str
    memoryCount: int  # noqa: N815 - as above
    method: GenerationMethod = Field(
        description="llm: written by a language model; extractive: composed of original sentences."
    )
    memoryId: str = Field(description=MEMORY_ID)  # noqa: N815 - in the family's form


class SummarizedPeriod(Result):
    """A summarised day or week."""

    period: str = Field(description="Such as 2026-05-01 or 2026-W18, in UTC.")
    summaryId: str  # noqa: N815 - the documented name
    title: str
    memoryId: str = Field(description=MEMORY_ID)  # noqa: N815 - in the family's form


class SummaryFailure(Result):
    """A failed summary."""

    name: str = Field(description="Session id, day or week.")
    level: Level
    error: ErrorView


class SummarizeSessionsResult(Result):
    processed: int = Field(description="Number of summarised sessions.")
    sessions: list[SummarizedSession]
    periods: list[SummarizedPeriod] = Field(description="Summarised days and weeks.")
    failed: list[SummaryFailure] = Field(description="Failures; they do not affect other summaries.")
    facts: int = Field(description="Number of new facts extracted from the sessions' turns and stored.")


class KeepSummariesRequest(Request):
    pass


class KeepSummariesResult(Result):
    processed: int = Field(description="Number of summarised sessions.")
    periods: int = Field(description="Number of summarised days and weeks.")
    failed: int = Field(description="Number of sessions, days and weeks that failed.")
    problem: str | None = Field(description="Error of the first failure.")
    facts: int = Field(description="Number of new facts extracted from the sessions' turns and stored.")


class StoredSummaryView(Result):
    """Summary of a session, a day or a week."""

    id: str
    sessionId: str | None = Field(description="Null for a day or a week.")  # noqa: N815 - the documented name
    timestamp: datetime = Field(description="When the summary was created.")
    title: str
    summary: str
    category: SummaryCategory
    memoryCount: int = Field(description="Number of memories it covers.")  # noqa: N815 - the documented name
    quality: int = Field(description="Flow and focus, 0 to 100.")
    productivity: int = Field(description="Goals reached, 0 to 100.")
    impact: int = Field(description="Significance, 0 to 100.")
    complexity: int = Field(description="Touch points and depth, 0 to 100.")
    technologies: list[str]
    level: Level = Field(description=LEVEL)
    period: str | None = Field(description="Day or week; null for a session.")
    method: GenerationMethod = Field(
        description="llm: written by a language model; extractive: composed of original sentences."
    )
    model: str | None = Field(description="Language model that wrote it; null if extractive.")
    memoryId: str = Field(description=MEMORY_ID)  # noqa: N815 - in the family's form


class GetAllSummariesRequest(Request):
    model_config = examples({"category": "bugfix", "limit": 10})

    limit: int = Field(default=50, ge=1, le=500, description="Maximum number of summaries.")
    offset: int = Field(default=0, ge=0, description="Number of summaries to skip.")
    category: SummaryCategory | None = Field(default=None, description="Only this category of work.")
    level: Level = Field(default=Level.SESSION, description=LEVEL)


class GetAllSummariesResult(Result):
    count: int = Field(description="Number of returned summaries.")
    total: int = Field(description="Number of matching summaries.")
    summaries: list[StoredSummaryView] = Field(description="Newest first, by the end of the covered period.")


class QuerySummariesRequest(Request):
    model_config = examples({"query": "how did we fix the login?"})

    query: str = Field(min_length=1, max_length=10_000, description="Query in natural language.")
    nResults: Annotated[int, Field(ge=1, le=100)] = Field(  # noqa: N815 - the documented name
        default=10, description="Maximum number of summaries."
    )
    category: SummaryCategory | None = Field(default=None, description="Only this category of work.")
    level: Level = Field(default=Level.SESSION, description=LEVEL)


class FoundSummary(StoredSummaryView):
    distance: Distance
    relevanceScore: Relevance  # noqa: N815 - the documented name


class QuerySummariesResult(Result):
    query: str
    count: int
    results: list[FoundSummary] = Field(description="Best match first, by keyword and vector score.")


class DeleteAllSummariesRequest(Request):
    pass


class DeleteAllSummariesResult(Result):
    deleted: int = Field(description="Number of deleted summaries of sessions, days and weeks.")
    message: str


@tool("summaries", runs_as_job=True, idempotent=True, reads=("memory",))
async def summarize_sessions(
    request: SummarizeSessionsRequest,
    summariser: Summariser,
    projects: ProjectService,
    context: CallContext,
    run: JobRun,
) -> SummarizeSessionsResult:
    """Summarise one session, or every session of the active project without an up-to-date summary.

    Each summary has a title, a text, a category, four scores and technologies, and is a memory that recall finds too.
    Facts stated in the turns are stored as with extract_facts. The turns remain. Without a language model the summary
    consists of original sentences; see method.
    """
    visibility = Visibility(await project_id_of(None, projects, context), request.sessionId)
    provenance = {**provenance_of(context, "summarize_sessions"), "job": run.job_id}
    if request.sessionId is not None:
        made = await summariser.summarise_session(request.sessionId, visibility, provenance, run)
    else:
        made = await summariser.summarise_all(visibility, provenance, run)
    return SummarizeSessionsResult(
        processed=len(made.sessions),
        sessions=[
            SummarizedSession(
                sessionId=memory.details["sessionId"],
                summaryId=_summary_id(memory),
                title=memory.details["title"],
                memoryCount=memory.details["memoryCount"],
                method=memory.details["method"],
                memoryId=memory.id,
            )
            for memory in made.sessions
        ],
        periods=[
            SummarizedPeriod(
                period=memory.details["period"],
                summaryId=_summary_id(memory),
                title=memory.details["title"],
                memoryId=memory.id,
            )
            for memory in made.periods
        ],
        failed=[_failure(failed) for failed in made.failed],
        facts=made.facts,
    )


@tool("summaries", runs_as_job=True, idempotent=True, core=False)
async def keep_summaries(request: KeepSummariesRequest, summariser: Summariser, run: JobRun) -> KeepSummariesResult:
    """Update the summaries of all projects: ended sessions, then completed days and weeks.

    The server can also do this automatically (see settings). The result contains only counts, because callers may not
    be allowed to read the summaries of other projects.
    """
    made = await summariser.summarise_all(None, {"tool": UPKEEP_JOB, "job": run.job_id}, run, only_ended=True)
    return KeepSummariesResult(
        processed=len(made.sessions),
        periods=len(made.periods),
        failed=len(made.failed),
        problem=made.failed[0].error.message if made.failed else None,
        facts=made.facts,
    )


@tool("summaries", read_only=True, reads=("memory",))
async def get_all_summaries(
    request: GetAllSummariesRequest, summariser: Summariser, projects: ProjectService, context: CallContext
) -> GetAllSummariesResult:
    """List summaries of sessions, days or weeks, newest first, in pages."""
    visibility = Visibility(await project_id_of(None, projects, context))
    total, found = await summariser.page(visibility, request.level, request.category, request.limit, request.offset)
    summaries = [StoredSummaryView(**_fields(memory)) for memory in found]
    return GetAllSummariesResult(count=len(summaries), total=total, summaries=summaries)


@tool("summaries", read_only=True, reads=("memory",))
async def query_summaries(
    request: QuerySummariesRequest, summariser: Summariser, projects: ProjectService, context: CallContext
) -> QuerySummariesResult:
    """Search summaries, best match first.

    Use it to find the relevant session, then search that session's turns with query_raw_memories.
    """
    visibility = Visibility(await project_id_of(None, projects, context))
    hits = await summariser.find(request.query, visibility, request.level, request.category, request.nResults)
    results = [
        FoundSummary(**_fields(hit.memory), distance=distance, relevanceScore=relevance)
        for hit in hits
        for distance, relevance in [distance_of(hit.cosine)]
    ]
    return QuerySummariesResult(query=request.query, count=len(results), results=results)


@tool("summaries", destructive=True, idempotent=True)
async def delete_all_summaries(
    request: DeleteAllSummariesRequest, summariser: Summariser, projects: ProjectService, context: CallContext
) -> DeleteAllSummariesResult:
    """Delete all summaries of the active project and all global ones; the underlying turns remain."""
    visibility = Visibility(await project_id_of(None, projects, context))
    deleted = await summariser.delete_all(visibility)
    return DeleteAllSummariesResult(deleted=deleted, message="All summaries successfully deleted")


def _summary_id(memory: Memory) -> str:
    return f"summary_{memory.details.get('sessionId') or memory.details.get('period')}"


def _failure(failed: FailedSummary) -> SummaryFailure:
    return SummaryFailure(name=failed.name, level=failed.level, error=ErrorView.of(failed.error))


def _made_at(memory: Memory) -> datetime:
    """Return when a summary was made; one of another system was made at the time that it brought along."""
    is_imported = "origin" in memory.provenance
    return memory.occurred_at if is_imported and memory.occurred_at is not None else memory.updated_at


def _fields(memory: Memory) -> dict[str, Any]:
    details = memory.details
    scores = ("quality", "productivity", "impact", "complexity")
    return {
        "id": _summary_id(memory),
        "sessionId": details.get("sessionId"),
        "timestamp": _made_at(memory),
        "title": details.get("title", ""),
        "summary": details.get("summary", memory.content),
        "category": memory.category,
        "memoryCount": details.get("memoryCount", 0),
        **{name: details.get(name, 0) for name in scores},
        "technologies": list(details.get("technologies", ())),
        "level": details.get("level", Level.SESSION),
        "period": details.get("period"),
        "method": details.get("method", GenerationMethod.EXTRACTIVE),
        "model": details.get("model"),
        "memoryId": memory.id,
    }
