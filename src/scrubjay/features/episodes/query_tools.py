"""Finding what was done before: episodes and patterns that fit a question."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import Failure, Outcome, PartialSuccess, Success, TaskType
from scrubjay.features.episodes.search import EpisodeQueries, Sort
from scrubjay.features.episodes.service import EpisodeService
from scrubjay.features.episodes.views import (
    EPISODE_FIELDS,
    EpisodeRequest,
    FieldPaths,
    KindOfTask,
    projected,
    refuse_unknown,
    told,
)
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Result, examples, tool

Query = Annotated[str, Field(min_length=1, max_length=10_000)]
Limit = Annotated[int, Field(ge=1, le=100)]
Similarity = Annotated[float, Field(ge=-1, le=1)]
# The parts of the answer that `fields` can name; one that is not named is empty, so that the answer keeps its form.
_EMPTY: Final[dict[str, Any]] = {"episodes": [], "patterns": [], "insights": {}}


class QueryMemoryRequest(EpisodeRequest):
    model_config = examples(
        {"query": "Why did people not get in after they changed their password?", "domain": "web-api"},
        {"query": "flaky tests", "domain": "ci", "task_type": "testing", "sort": "success", "limit": 3},
    )

    query: Query = Field(description="What the task at hand is about, in plain words.")
    domain: Label = Field(description="Only episodes of this domain, whatever its capitals.")
    task_type: KindOfTask | None = Field(default=None, description="Only episodes of this sort of work.")
    limit: Limit = Field(default=10, description="How many episodes to return at most, and how many patterns.")
    sort: Sort = Field(
        default=Sort.RELEVANCE,
        description="The order of those that fit: best first (relevance), by their beginning (newest, oldest), the "
        "shortest first (duration), or successes first and among them the greatest reward (success).",
    )
    fields: FieldPaths = Field(
        default=None,
        description="Only these fields: of episodes (task_description, outcome.verdict, steps.tool), or with the part "
        "of the answer before them (episodes.reward.total, insights.success_rate, patterns).",
    )
    project: ProjectReference = None


class QueryInsights(Result):
    """What those that fit have in common."""

    total_episodes: int = Field(description="How many episodes fit, also those beyond the limit.")
    relevant_patterns: int = Field(description="How many patterns are told.")
    success_rate: float = Field(description="The share of those episodes whose reward is above 0.7; 0 without any.")


class QueryMemoryResult(Result):
    episodes: list[dict[str, Any]] = Field(
        description="Complete episodes that fit, each with its relevance_score from 0 to 1."
    )
    patterns: list[dict[str, Any]] = Field(description="Patterns that fit, best first.")
    insights: dict[str, Any] = Field(description="total_episodes, relevant_patterns and success_rate of all that fit.")
    degraded: str | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="Why the search was less than it should have been.",
    )


class QuerySemanticMemoryRequest(EpisodeRequest):
    model_config = examples({"query": "login fails after a password reset", "similarity_threshold": 0.3})

    query: Query = Field(description="What the task at hand is about, in plain words.")
    limit: Limit = Field(default=10, description="How many episodes to return at most.")
    similarity_threshold: Similarity = Field(
        default=0.7,
        description="The least cosine similarity. What is similar differs by model: with the built-in one, texts "
        "about one topic are often between 0.3 and 0.6, so that 0.7 finds little but near repetitions.",
    )
    domain: Label | None = Field(default=None, description="Only episodes of this domain, whatever its capitals.")
    task_type: KindOfTask | None = Field(default=None, description="Only episodes of this sort of work.")
    project: ProjectReference = None


class SimilarEpisodeView(Result):
    """A complete episode."""

    episode_id: str
    similarity_score: float = Field(description="The cosine of its meaning and the question's, -1 to 1.")
    task_description: str
    domain: str
    task_type: TaskType
    outcome: str = Field(description="How it ended, such as Success: all tests pass.")
    timestamp: datetime = Field(description="When it began.")


class QuerySemanticMemoryResult(Result):
    results_found: int
    results: list[SimilarEpisodeView] = Field(description="The most similar first.")
    embedding_dimension: int = Field(description="How many numbers a vector of the model has.")
    query_time_ms: float
    provider: str = Field(description="Who made the vectors.")
    model: str = Field(description="Which model.")
    nearest_score: float | None = Field(
        description="The greatest similarity of all that were compared, also below the threshold; null without any."
    )


@tool("episodes", core=False, read_only=True, fleeting=True)
async def query_memory(
    request: QueryMemoryRequest,
    queries: EpisodeQueries,
    episodes: EpisodeService,
    projects: ProjectService,
    context: CallContext,
) -> QueryMemoryResult:
    """Find complete episodes of a domain that are about a question, by words and by meaning, and patterns that fit."""
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
        "episodes": [{"relevance_score": round(relevances[one.episode_id], 6), **told(one)} for one in whole],
        "patterns": [dict(one) for one in found.patterns],
        "insights": insights.model_dump(),
    }
    if paths:
        answer = _EMPTY | projected(answer, paths)
    return QueryMemoryResult(**answer, degraded=found.degraded)


@tool("episodes", core=False, read_only=True, fleeting=True)
async def query_semantic_memory(
    request: QuerySemanticMemoryRequest, queries: EpisodeQueries, projects: ProjectService, context: CallContext
) -> QuerySemanticMemoryResult:
    """Find complete episodes by meaning alone, with their true cosine similarities."""
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
        embedding_dimension=found.meaning.dimensions,
        query_time_ms=round(1_000 * found.seconds, 3),
        provider=found.meaning.provider,
        model=found.meaning.model,
        nearest_score=None if found.nearest is None else round(found.nearest, 6),
    )


def _rooted(paths: Sequence[str]) -> list[str]:
    """The paths from the answer's root; those that name no part of it are of episodes."""
    rooted = [path if path.partition(".")[0] in _EMPTY else f"episodes.{path}" for path in paths]
    inside = [path.removeprefix("episodes.") for path in rooted if path.startswith("episodes.")]
    refuse_unknown(inside, ("relevance_score", *EPISODE_FIELDS))
    return rooted


def _in_words(outcome: Outcome | None) -> str:
    match outcome:
        case Success(verdict=verdict):
            return f"Success: {verdict}"
        case PartialSuccess(verdict=verdict):
            return f"Partial success: {verdict}"
        case Failure(reason=reason):
            return f"Failure: {reason}"
        case None:
            return "In progress"
