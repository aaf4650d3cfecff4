"""Tools that show, search and recommend patterns learned from episodes."""

from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import TaskType
from scrubjay.features.episodes.patterns.models import PatternType
from scrubjay.features.episodes.patterns.overview import summarize_patterns
from scrubjay.features.episodes.patterns.search import (
    MIN_RECOMMENDATION_SCORE,
    MIN_SEARCH_SCORE,
    RECOMMENDATION_WEIGHTS,
    SEARCH_WEIGHTS,
    PatternSearch,
    TaskPatternMatches,
    TaskPatternQuery,
)
from scrubjay.features.episodes.patterns.views import pattern_fields
from scrubjay.features.episodes.service import EpisodeService
from scrubjay.features.episodes.views import EpisodeId, EpisodeRequest, KindOfTask
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label, Share
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Result, examples, tool

Query = Annotated[str, Field(min_length=1, max_length=10_000)]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=100)]
Limit = Annotated[int, Field(ge=1, le=100)]


class AnalyzePatternsRequest(EpisodeRequest):
    model_config = examples({"task_type": "debugging"}, {"task_type": "testing", "min_success_rate": 0.5, "limit": 5})

    task_type: KindOfTask = Field(description="Only patterns of this kind of work.")
    min_success_rate: Share = Field(default=0.7, description="Minimum success rate of a pattern, 0 to 1.")
    limit: Limit = Field(default=20, description="Maximum number of patterns to return.")
    project: ProjectReference = None


class PatternStatistics(Result):
    """Statistics of all matching patterns, including those beyond the limit."""

    total_patterns: int
    avg_success_rate: float | None = Field(description="Mean success rate; null without patterns.")
    most_common_tools: list[str] = Field(description="Most frequently used tools, at most five.")


class AnalyzePatternsResult(Result):
    patterns: list[dict[str, Any]] = Field(
        description="Most frequent first. Each has id, type, description, the fields of its type, success_rate, "
        "occurrence_count, confidence, context, evidence, effectiveness, and heuristic when enough episodes "
        "confirm it."
    )
    statistics: PatternStatistics


class SearchPatternsRequest(EpisodeRequest):
    model_config = examples({"query": "login fails after a password reset", "domain": "web-api", "tags": ["auth"]})

    query: Query = Field(description="Description of the current task, in plain words.")
    domain: Label = Field(description="Domain of the task.")
    tags: Tags = Field(
        default_factory=list[str], description="Tags of the task; patterns that share them score higher."
    )
    limit: Limit = Field(default=5, description="Maximum number of patterns to return.")
    min_relevance: Share = Field(default=MIN_SEARCH_SCORE, description="Minimum score, 0 to 1.")
    filter_by_domain: bool = Field(default=False, description="Only patterns of this domain.")
    project: ProjectReference = None


class RecommendPatternsRequest(EpisodeRequest):
    model_config = examples({"task_description": "Make the flaky upload test reliable", "domain": "web-api"})

    task_description: Query = Field(description="Description of the task, in plain words.")
    domain: Label = Field(description="Domain of the task; only its patterns are recommended.")
    tags: Tags = Field(
        default_factory=list[str], description="Tags of the task; patterns that share them score higher."
    )
    task_type: KindOfTask | None = Field(
        default=None, description="Kind of work; patterns of the same kind score higher. Defaults to the episode's."
    )
    limit: Limit = Field(default=3, description="Maximum number of patterns to return.")
    episode_id: EpisodeId | None = Field(
        default=None,
        description="Open episode of the task. A recommended pattern that the episode then shows counts as applied "
        "when the episode is completed.",
    )
    project: ProjectReference = None


class ScoreBreakdown(Result):
    """Components of a score, each 0 to 1."""

    semantic_similarity: float = Field(description="Cosine similarity, or share of common words; see method.")
    context_match: float = Field(description="Match of the domain and the kind of work, and overlap of the tags.")
    effectiveness: float = Field(description="Effect of earlier applications; 0.25 when never applied.")
    recency: float = Field(description="1 today, about a third after 30 days.")
    success_rate: float = Field(
        description="Expected success the next time, by the rule of succession: 2/3 after one success, .9 after eight."
    )


class PatternHit(Result):
    """A matching pattern."""

    id: str
    pattern_type: PatternType
    description: str
    relevance_score: float
    score_breakdown: ScoreBreakdown
    success_rate: float = Field(description="Share of its episodes that succeeded.")
    occurrence_count: int = Field(description="Number of its episodes.")
    task_type: TaskType = Field(description="The kind of work of its episodes.")
    domain: str
    times_applied: int


class SearchPatternsResult(Result):
    results: list[PatternHit] = Field(description="Best first.")
    total_searched: int = Field(description="Number of patterns compared.")
    query: str = Field(description="The query or the task description.")
    method: Literal["embedding", "words"] = Field(description="How semantic similarity was computed.")


@tool("episodes", core=False, read_only=True)
async def analyze_patterns(
    request: AnalyzePatternsRequest, patterns: PatternSearch, projects: ProjectService, context: CallContext
) -> AnalyzePatternsResult:
    """List the patterns learned from episodes of one kind of work, with statistics."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    found = await patterns.list_by_task_type(visibility, request.task_type, request.min_success_rate)
    common = summarize_patterns(found)
    return AnalyzePatternsResult(
        patterns=[pattern_fields(pattern) for pattern in found[: request.limit]],
        statistics=PatternStatistics(
            total_patterns=len(found),
            avg_success_rate=common.average_success_rate,
            most_common_tools=list(common.most_common_tools),
        ),
    )


@tool("episodes", core=False, read_only=True)
async def search_patterns(
    request: SearchPatternsRequest, search: PatternSearch, projects: ProjectService, context: CallContext
) -> SearchPatternsResult:
    """Find patterns of earlier episodes that fit a task: tool sequences, decisions, recoveries, approaches.

    The score is .4 semantic similarity, .2 context, .2 expected success, .1 effectiveness and .1 recency. Patterns of
    unrelated tasks are left out.
    """
    visibility = Visibility(await project_id_of(request.project, projects, context))
    task = TaskPatternQuery(
        query=request.query,
        domain=request.domain,
        tags=request.tags,
        same_domain=request.filter_by_domain,
        limit=request.limit,
        min_score=request.min_relevance,
    )
    found = await search.search(visibility, task, SEARCH_WEIGHTS)
    return SearchPatternsResult(
        results=_hits(found), total_searched=found.searched, query=request.query, method=found.method
    )


@tool("episodes", core=False)
async def recommend_patterns(
    request: RecommendPatternsRequest,
    search: PatternSearch,
    episodes: EpisodeService,
    projects: ProjectService,
    context: CallContext,
) -> SearchPatternsResult:
    """Recommend the patterns of a domain that are most likely to help with a new task.

    Patterns that failed as often as they succeeded, and those of unrelated tasks, are not recommended. The score is .35
    semantic similarity, .3 expected success, .2 context, .1 effectiveness and .05 recency. Pass episode_id so that the
    outcome of the episode updates the effectiveness of the patterns it applied.
    """
    visibility = Visibility(await project_id_of(request.project, projects, context))
    kind = request.task_type
    if request.episode_id is not None:
        kind = kind or (await episodes.get(visibility, request.episode_id)).task_type
    task = TaskPatternQuery(
        query=request.task_description,
        domain=request.domain,
        tags=request.tags,
        same_domain=True,
        kind=kind,
        only_proven=True,
        limit=request.limit,
        min_score=MIN_RECOMMENDATION_SCORE,
        episode_id=request.episode_id,
    )
    found = await search.search(visibility, task, RECOMMENDATION_WEIGHTS)
    return SearchPatternsResult(
        results=_hits(found), total_searched=found.searched, query=request.task_description, method=found.method
    )


def _hits(found: TaskPatternMatches) -> list[PatternHit]:
    return [
        PatternHit(
            id=one.pattern.id,
            pattern_type=one.pattern.type,
            description=one.pattern.description,
            relevance_score=one.score,
            score_breakdown=ScoreBreakdown.model_validate(one.breakdown, from_attributes=True),
            success_rate=one.pattern.success_rate,
            occurrence_count=one.pattern.sample,
            task_type=one.pattern.task_type,
            domain=one.pattern.context.domain,
            times_applied=one.pattern.effectiveness.times_applied,
        )
        for one in found.scored
    ]
