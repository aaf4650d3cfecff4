"""What was learned from episodes: patterns that fit a task, and which ones a sort of work has."""

from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.patterns.models import PatternType
from scrubjay.features.episodes.patterns.overview import overview
from scrubjay.features.episodes.patterns.search import (
    LEAST_OF_RECOMMENDATION,
    LEAST_OF_SEARCH,
    RECOMMENDING,
    SEARCHING,
    FoundPatterns,
    PatternSearch,
    Wanted,
)
from scrubjay.features.episodes.patterns.views import told
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

    task_type: KindOfTask = Field(description="Patterns of this sort of work.")
    min_success_rate: Share = Field(default=0.7, description="The least share of their episodes that ended well.")
    limit: Limit = Field(default=20, description="How many patterns to return at most.")
    project: ProjectReference = None


class PatternStatistics(Result):
    """Of all patterns that pass, also those beyond the limit."""

    total_patterns: int
    avg_success_rate: float | None = Field(description="The mean of their success rates; null without any.")
    most_common_tools: list[str] = Field(description="The tools that most of their episodes used, at most five.")


class AnalyzePatternsResult(Result):
    patterns: list[dict[str, Any]] = Field(
        description="Those that were seen most often first. Each has id, type, description, the fields of its type, "
        "success_rate, occurrence_count, confidence, context, evidence, effectiveness, and heuristic when enough "
        "episodes bear it out."
    )
    statistics: PatternStatistics


class SearchPatternsRequest(EpisodeRequest):
    model_config = examples({"query": "login fails after a password reset", "domain": "web-api", "tags": ["auth"]})

    query: Query = Field(description="What the task at hand is about, in plain words.")
    domain: Label = Field(description="The domain that the task belongs to.")
    tags: Tags = Field(default_factory=list[str], description="Tags of the task; what patterns share with them counts.")
    limit: Limit = Field(default=5, description="How many patterns to return at most.")
    min_relevance: Share = Field(default=LEAST_OF_SEARCH, description="The least score.")
    filter_by_domain: bool = Field(default=False, description="Only patterns of this domain.")
    project: ProjectReference = None


class RecommendPatternsRequest(EpisodeRequest):
    model_config = examples({"task_description": "Make the flaky upload test reliable", "domain": "web-api"})

    task_description: Query = Field(description="What is to be done, in plain words.")
    domain: Label = Field(description="The domain that the task belongs to; only its patterns are recommended.")
    tags: Tags = Field(default_factory=list[str], description="Tags of the task; what patterns share with them counts.")
    limit: Limit = Field(default=3, description="How many patterns to return at most.")
    episode_id: EpisodeId | None = Field(
        default=None,
        description="The open episode that it is for: a pattern that it then shows counts as applied at its end.",
    )
    project: ProjectReference = None


class ScoreBreakdown(Result):
    """The parts of a score, each 0 to 1."""

    semantic_similarity: float = Field(description="The cosine of both meanings, or the share of words; see method.")
    context_match: float = Field(description="Whether the domain is the same, and what the tags share.")
    effectiveness: float = Field(description="How much it helped when it was applied; 0.25 as long as nobody has.")
    recency: float = Field(description="1 for one of today, a third after thirty days.")
    success_rate: float


class PatternHit(Result):
    """A pattern that fits."""

    id: str
    pattern_type: PatternType
    description: str
    relevance_score: float
    score_breakdown: ScoreBreakdown
    success_rate: float = Field(description="The share of its episodes that ended well.")
    domain: str
    times_applied: int


class SearchPatternsResult(Result):
    results: list[PatternHit] = Field(description="Best first.")
    total_searched: int = Field(description="How many patterns were compared.")
    query: str = Field(description="What was asked, or the task.")
    method: Literal["embedding", "words"] = Field(description="By what the semantic similarity was told.")


@tool("episodes", core=False, read_only=True)
async def analyze_patterns(
    request: AnalyzePatternsRequest, patterns: PatternSearch, projects: ProjectService, context: CallContext
) -> AnalyzePatternsResult:
    """Show the patterns that were learned from episodes of a sort of work, and what they have in common."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    found = await patterns.of_task_type(visibility, request.task_type, request.min_success_rate)
    common = overview(found)
    return AnalyzePatternsResult(
        patterns=[told(pattern) for pattern in found[: request.limit]],
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

    The score is .4 nearness in meaning, .2 context, .2 effectiveness, .1 recency and .1 success rate.
    """
    visibility = Visibility(await project_id_of(request.project, projects, context))
    wanted = Wanted(
        query=request.query,
        domain=request.domain,
        tags=request.tags,
        same_domain=request.filter_by_domain,
        limit=request.limit,
        least=request.min_relevance,
    )
    found = await search.search(visibility, wanted, SEARCHING)
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
    """Recommend the patterns of a domain that are most likely to help with a task about to begin.

    The score is .35 nearness in meaning, .25 context, .25 effectiveness, .1 recency and .05 success rate; nothing below
    .4 is recommended. Give the episode's id, and what becomes of it teaches how good the pattern is.
    """
    visibility = Visibility(await project_id_of(request.project, projects, context))
    if request.episode_id is not None:
        await episodes.get(visibility, request.episode_id)
    wanted = Wanted(
        query=request.task_description,
        domain=request.domain,
        tags=request.tags,
        same_domain=True,
        limit=request.limit,
        least=LEAST_OF_RECOMMENDATION,
        episode_id=request.episode_id,
    )
    found = await search.search(visibility, wanted, RECOMMENDING)
    return SearchPatternsResult(
        results=_hits(found), total_searched=found.searched, query=request.task_description, method=found.method
    )


def _hits(found: FoundPatterns) -> list[PatternHit]:
    return [
        PatternHit(
            id=one.pattern.id,
            pattern_type=one.pattern.type,
            description=one.pattern.description,
            relevance_score=one.score,
            score_breakdown=ScoreBreakdown(
                semantic_similarity=one.breakdown.semantic_similarity,
                context_match=one.breakdown.context_match,
                effectiveness=one.breakdown.effectiveness,
                recency=one.breakdown.recency,
                success_rate=one.breakdown.success_rate,
            ),
            success_rate=one.pattern.success_rate,
            domain=one.pattern.context.domain,
            times_applied=one.pattern.effectiveness.times_applied,
        )
        for one in found.scored
    ]
