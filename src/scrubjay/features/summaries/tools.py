"""What sessions, days and weeks came to."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Memory
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.summaries.models import Level, Method, SummaryCategory
from scrubjay.features.summaries.service import Failed, Summariser
from scrubjay.features.summaries.startup import UPKEEP_JOB
from scrubjay.features.turns.tools import Distance, Relevance, distance_of
from scrubjay.tooling.arguments import Label, provenance_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.job_view import ErrorView
from scrubjay.tooling.jobs.service import JobRun

# By it the history of calls also knows which calls tell of a summary, and forgets their words with it.
MEMORY_ID = "The id by which recall and forget know it."
LEVEL = "What the summaries are of: 1 sessions, 2 days, 3 weeks."


class SummarizeSessionsRequest(Request):
    model_config = examples({}, {"sessionId": "session-1"})

    sessionId: Label | None = Field(  # noqa: N815 - the documented name
        default=None,
        description="The session to summarise, anew if it has a summary; without it, every session that has none or "
        "that went on since, and the days and weeks that are over.",
    )


class SummarizedSession(Result):
    """A session that has a summary now."""

    sessionId: str  # noqa: N815 - the documented name
    summaryId: str  # noqa: N815 - as above
    title: str
    memoryCount: int  # noqa: N815 - as above
    method: Method = Field(description="llm: a language model wrote it; extractive: it consists of what was said.")
    memoryId: str = Field(description=MEMORY_ID)  # noqa: N815 - in the family's form


class SummarizedPeriod(Result):
    """A day or a week that has a summary now."""

    period: str = Field(description="Such as 2026-05-01 or 2026-W18, in UTC.")
    summaryId: str  # noqa: N815 - the documented name
    title: str
    memoryId: str = Field(description=MEMORY_ID)  # noqa: N815 - in the family's form


class SummaryFailure(Result):
    """What could not be summarised."""

    name: str = Field(description="The session's id, the day or the week.")
    level: Level
    error: ErrorView


class SummarizeSessionsResult(Result):
    processed: int = Field(description="How many sessions were summarised.")
    sessions: list[SummarizedSession]
    periods: list[SummarizedPeriod] = Field(description="Days and weeks that were summarised.")
    failed: list[SummaryFailure] = Field(description="What failed, which stopped nothing else.")
    facts: int = Field(description="How many facts the sessions' turns stated that were not known, and are kept now.")


class KeepSummariesRequest(Request):
    pass


class KeepSummariesResult(Result):
    processed: int = Field(description="How many sessions were summarised.")
    periods: int = Field(description="How many days and weeks were.")
    failed: int = Field(description="How many sessions, days and weeks could not be.")
    problem: str | None = Field(description="Why the first of these failed.")
    facts: int = Field(description="How many facts the sessions' turns stated that were not known, and are kept now.")


class SummaryView(Result):
    """What a session, a day or a week came to."""

    id: str
    sessionId: str | None = Field(description="Null for a day or a week.")  # noqa: N815 - the documented name
    timestamp: datetime = Field(description="When the summary was made.")
    title: str
    summary: str
    category: SummaryCategory
    memoryCount: int = Field(description="How many memories it is made of.")  # noqa: N815 - the documented name
    quality: int = Field(description="Flow and focus, 0 to 100.")
    productivity: int = Field(description="Goals reached, 0 to 100.")
    impact: int = Field(description="Significance, 0 to 100.")
    complexity: int = Field(description="Touch points and depth, 0 to 100.")
    technologies: list[str]
    level: Level = Field(description=LEVEL)
    period: str | None = Field(description="The day or the week; null for a session.")
    method: Method = Field(description="llm: a language model wrote it; extractive: it consists of what was said.")
    model: str | None = Field(description="The language model that wrote it.")
    memoryId: str = Field(description=MEMORY_ID)  # noqa: N815 - in the family's form


class GetAllSummariesRequest(Request):
    model_config = examples({"category": "bugfix", "limit": 10})

    limit: int = Field(default=50, ge=1, le=500, description="How many summaries at most.")
    offset: int = Field(default=0, ge=0, description="How many of the latest to skip.")
    category: SummaryCategory | None = Field(default=None, description="Only this sort of work.")
    level: Level = Field(default=Level.SESSION, description=LEVEL)


class GetAllSummariesResult(Result):
    count: int = Field(description="How many summaries are here.")
    total: int = Field(description="How many there are.")
    summaries: list[SummaryView] = Field(description="The latest first, by the end of what they are of.")


class QuerySummariesRequest(Request):
    model_config = examples({"query": "how did we fix the login?"})

    query: str = Field(min_length=1, max_length=10_000, description="What to look for, in plain words.")
    nResults: Annotated[int, Field(ge=1, le=100)] = Field(  # noqa: N815 - the documented name
        default=10, description="How many summaries at most."
    )
    category: SummaryCategory | None = Field(default=None, description="Only this sort of work.")
    level: Level = Field(default=Level.SESSION, description=LEVEL)


class FoundSummary(SummaryView):
    distance: Distance
    relevanceScore: Relevance  # noqa: N815 - the documented name


class QuerySummariesResult(Result):
    query: str
    count: int
    results: list[FoundSummary] = Field(description="Best first, by words and meaning together.")


class DeleteAllSummariesRequest(Request):
    pass


class DeleteAllSummariesResult(Result):
    deleted: int = Field(description="How many summaries were erased, of sessions, days and weeks.")
    message: str


@tool("summaries", runs_as_job=True, idempotent=True)
async def summarize_sessions(
    request: SummarizeSessionsRequest,
    summariser: Summariser,
    projects: ProjectService,
    context: CallContext,
    run: JobRun,
) -> SummarizeSessionsResult:
    """Summarise one session, or every session of the active project that has no summary or went on since.

    Each summary has a title, a text, the sort of work, four scores and the technologies, and is a memory that recall
    finds too. Facts that the turns state are kept as well, as extract_facts does. The turns themselves stay. Without a
    language model the summary consists of sentences that were said, and method says so.
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
    """Bring the summaries of all projects up to date: sessions that are over, then days and weeks that are.

    The server does this by itself when its settings say so. What was summarised is only told in numbers, because not
    everybody may see it.
    """
    made = await summariser.summarise_all(None, {"tool": UPKEEP_JOB, "job": run.job_id}, run, only_settled=True)
    return KeepSummariesResult(
        processed=len(made.sessions),
        periods=len(made.periods),
        failed=len(made.failed),
        problem=made.failed[0].error.message if made.failed else None,
        facts=made.facts,
    )


@tool("summaries", read_only=True)
async def get_all_summaries(
    request: GetAllSummariesRequest, summariser: Summariser, projects: ProjectService, context: CallContext
) -> GetAllSummariesResult:
    """List the summaries of sessions (or days, or weeks), the latest first, a page at a time."""
    visibility = Visibility(await project_id_of(None, projects, context))
    total, found = await summariser.page(visibility, request.level, request.category, request.limit, request.offset)
    summaries = [SummaryView(**_fields(memory)) for memory in found]
    return GetAllSummariesResult(count=len(summaries), total=total, summaries=summaries)


@tool("summaries", read_only=True)
async def query_summaries(
    request: QuerySummariesRequest, summariser: Summariser, projects: ProjectService, context: CallContext
) -> QuerySummariesResult:
    """Find the summaries that fit a question best.

    Look here first to learn which session it was, then look at that session's turns with query_raw_memories.
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
    """Erase every summary of the active project and every global one; the turns that they were made of stay."""
    visibility = Visibility(await project_id_of(None, projects, context))
    deleted = await summariser.delete_all(visibility)
    return DeleteAllSummariesResult(deleted=deleted, message="All summaries successfully deleted")


def _summary_id(memory: Memory) -> str:
    return f"summary_{memory.details.get('sessionId') or memory.details.get('period')}"


def _failure(failed: Failed) -> SummaryFailure:
    return SummaryFailure(name=failed.name, level=failed.level, error=ErrorView.of(failed.error))


def _fields(memory: Memory) -> dict[str, Any]:
    details = memory.details
    scores = ("quality", "productivity", "impact", "complexity")
    return {
        "id": _summary_id(memory),
        "sessionId": details.get("sessionId"),
        "timestamp": memory.updated_at,
        "title": details.get("title", ""),
        "summary": details.get("summary", memory.content),
        "category": memory.category,
        "memoryCount": details.get("memoryCount", 0),
        **{name: details.get(name, 0) for name in scores},
        "technologies": list(details.get("technologies", ())),
        "level": details.get("level", Level.SESSION),
        "period": details.get("period"),
        "method": details.get("method", Method.EXTRACTIVE),
        "model": details.get("model"),
        "memoryId": memory.id,
    }
