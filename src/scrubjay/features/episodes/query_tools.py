"""Tools that search completed episodes and their patterns."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import FailureOutcome, Outcome, PartialSuccessOutcome, SuccessOutcome, TaskType
from scrubjay.features.episodes.search import EpisodeQueries, Sort
from scrubjay.features.episodes.service import EpisodeService
from scrubjay.features.episodes.views import (
    EPISODE_FIELDS,
    EpisodeRequest,
    FieldPaths,
    KindOfTask,
    episode_fields,
    projected,
    refuse_unknown,
)
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Result, examples, tool

Query = Annotated[str, Field(min_length=1, max_length=10_000)]
Limit = Annotated[int, Field(ge=1, le=100)]
Similarity = Annotated[float, Field(ge=-1, le=1)]
# The parts of the result that `fields` can select. Parts that are not selected are empty, so the shape stays the same.
_EMPTY: Final[dict[str, Any]] = {"episodes": [], "patterns": [], "insights": {}}


class QueryMemoryRequest(EpisodeRequest):
    model_config = examples(
        {"query": "Why did people not get in after they changed their password?", "domain": "web-api"},
        {"query": "flaky tests", "domain": "ci", "task_type": "testing", "sort": "success", "limit": 3},
    )

    query: Query = Field(description="Description of the current task, in plain words.")
    domain: Label = Field(description="Only episodes of this domain (case-insensitive).")
    task_type: KindOfTask | None = Field(default=None, description="Only episodes of this kind of work.")
    limit: Limit = Field(default=10, description="Maximum number of episodes, and of patterns, to return.")
    sort: Sort = Field(
        default=Sort.RELEVANCE,
        description="Order of the matches: relevance (best first), newest or oldest (by start time), duration "
        "(shortest first), success (successes first, then by reward).",
    )
    fields: FieldPaths = Field(
        default=None,
        description="Return only these fields, relative to an episode (task_description, outcome.verdict, steps.tool) "
        "or to the result (episodes.reward.total, insights.success_rate, patterns).",
    )
    project: ProjectReference = None


class QueryInsights(Result):
    """Statistics of all matching episodes."""

    total_episodes: int = Field(description="Number of matching episodes, including those beyond the limit.")
    relevant_patterns: int = Field(description="Number of patterns returned.")
    success_rate: float = Field(description="Share of matching episodes with a reward above 0.7; 0 without matches.")


class QueryMemoryResult(Result):
    episodes: list[dict[str, Any]] = Field(
        description="Matching completed episodes, each with its relevance_score, 0 to 1."
    )
    patterns: list[dict[str, Any]] = Field(description="Matching patterns, best first.")
    insights: dict[str, Any] = Field(description="total_episodes, relevant_patterns and success_rate of all matches.")
    degraded: str | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="Reason for a degraded search, such as words only; absent otherwise.",
    )


class QuerySemanticMemoryRequest(EpisodeRequest):
    model_config = examples({"query": "login fails after a password reset", "similarity_threshold": 0.3})

    query: Query = Field(description="Description of the current task, in plain words.")
    limit: Limit = Field(default=10, description="Maximum number of episodes to return.")
    similarity_threshold: Similarity = Field(
        default=0.7,
        description="Minimum cosine similarity. Typical values depend on the model: with the built-in one, texts about "
        "the same topic often score 0.3 to 0.6, and 0.7 finds little more than near duplicates.",
    )
    domain: Label | None = Field(default=None, description="Only episodes of this domain (case-insensitive).")
    task_type: KindOfTask | None = Field(default=None, description="Only episodes of this kind of work.")
    project: ProjectReference = None


class SimilarEpisodeView(Result):
    """A completed episode with its similarity to the query."""

    episode_id: str
    similarity_score: float = Field(description="Cosine similarity to the query, -1 to 1.")
    task_description: str
    domain: str
    task_type: TaskType
    outcome: str = Field(description="Outcome as text, such as Success: all tests pass.")
    timestamp: datetime = Field(description="Start time.")


class QuerySemanticMemoryResult(Result):
    results_found: int
    results: list[SimilarEpisodeView] = Field(description="Most similar first.")
    embedding_dimension: int = Field(description="Number of dimensions of the model's vectors.")
    query_time_ms: float
    provider: str = Field(description="Embedding provider.")
    model: str = Field(description="Embedding model.")
    nearest_score: float | None = Field(
        description="Highest similarity found, even when below the threshold; null without episodes."
    )


@tool("episodes", core=False, read_only=True, log_payload=False)
async def query_memory(
    request: QueryMemoryRequest,
    queries: EpisodeQueries,
    episodes: EpisodeService,
    projects: ProjectService,
    context: CallContext,
) -> QueryMemoryResult:
    """Search the completed episodes of a domain by words and by vectors, and return matching patterns too."""
    paths = _rooted(request.fields or ())
    visibility = Visibility(await project_id_of(request.project, projects, context))
    found = await queries.query(
        visibility, request.query, request.domain, request.task_type, request.limit, request.sort
    )
    relevances = {one.episode.episode_id: one.relevance for one in found.episodes}
    whole = await episodes.get_many(visibility, list(relevances)) if relevances else ()
    insights = QueryInsights(
        total_episodes=found.matched,
        relevant_patterns=len(found.patterns),
        success_rate=round(found.success_rate, 6),
    )
    answer: dict[str, Any] = {
        "episodes": [{"relevance_score": round(relevances[one.episode_id], 6), **episode_fields(one)} for one in whole],
        "patterns": [dict(one) for one in found.patterns],
        "insights": insights.model_dump(),
    }
    if paths:
        answer = _EMPTY | projected(answer, paths)
    return QueryMemoryResult(**answer, degraded=found.degraded)


@tool("episodes", core=False, read_only=True, log_payload=False)
async def query_semantic_memory(
    request: QuerySemanticMemoryRequest, queries: EpisodeQueries, projects: ProjectService, context: CallContext
) -> QuerySemanticMemoryResult:
    """Search completed episodes by vectors only, and return their cosine similarities."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    found = await queries.similar(
        visibility, request.query, request.domain, request.task_type, request.limit, request.similarity_threshold
    )
    results = [
        SimilarEpisodeView(
            episode_id=one.episode.episode_id,
            similarity_score=round(one.similarity, 6),
            task_description=one.episode.task_description,
            domain=one.episode.context.domain,
            task_type=one.episode.task_type,
            outcome=_in_words(one.episode.outcome),
            timestamp=one.episode.start_time,
        )
        for one in found.episodes
    ]
    return QuerySemanticMemoryResult(
        results_found=len(results),
        results=results,
        embedding_dimension=found.embedding.dimensions,
        query_time_ms=round(1_000 * found.seconds, 3),
        provider=found.embedding.provider,
        model=found.embedding.model,
        nearest_score=None if found.nearest is None else round(found.nearest, 6),
    )


def _rooted(paths: Sequence[str]) -> list[str]:
    """Return the paths relative to the result; paths that name no part of it are relative to an episode."""
    rooted = [path if path.partition(".")[0] in _EMPTY else f"episodes.{path}" for path in paths]
    inside = [path.removeprefix("episodes.") for path in rooted if path.startswith("episodes.")]
    refuse_unknown(inside, ("relevance_score", *EPISODE_FIELDS))
    return rooted


def _in_words(outcome: Outcome | None) -> str:
    match outcome:
        case SuccessOutcome(verdict=verdict):
            return f"Success: {verdict}"
        case PartialSuccessOutcome(verdict=verdict):
            return f"Partial success: {verdict}"
        case FailureOutcome(reason=reason):
            return f"Failure: {reason}"
        case None:
            return "In progress"
