"""Search of completed episodes, by words and vectors or by vectors only."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Unavailable
from scrubjay.core.lazy import lazy_module
from scrubjay.core.scopes import Visibility
from scrubjay.features.embeddings.models import QueryEmbedding
from scrubjay.features.episodes.embedding import EmbeddingSource
from scrubjay.features.episodes.models import Episode, Learner, OutcomeType, TaskType, outcome_type
from scrubjay.features.episodes.search_text import embedding_text
from scrubjay.features.episodes.store import EpisodeFilter, EpisodeQuery, EpisodeStore
from scrubjay.features.memory.candidates import CandidatePool
from scrubjay.features.memory.ranking.question import parse_question

if TYPE_CHECKING:
    from scrubjay.features.memory.ranking import ranker
else:  # imports numpy
    ranker = lazy_module("scrubjay.features.memory.ranking.ranker")

# Candidates of each search method: at least CANDIDATES, and CANDIDATES_FOR_EACH per requested episode.
CANDIDATES: Final = 60
CANDIDATES_FOR_EACH: Final = 3
# Matches below this relevance are dropped.
MIN_RELEVANCE: Final = 0.1
# Further query words are ignored.
MAX_TERMS: Final = 100
# An episode with a greater reward counts as a success in `success_rate`.
MIN_SUCCESS_REWARD: Final = 0.7
# Missing vectors that one query creates at most, and the batch size.
MAX_CREATED_VECTORS: Final = 512
BATCH_SIZE: Final = 64


class Sort(StrEnum):
    """Order of the results."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    OLDEST = "oldest"
    DURATION = "duration"
    """Shortest first."""
    SUCCESS = "success"
    """Successes first, then partial successes, then failures; by reward within each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEpisode:
    """A matching episode, without its steps, and its relevance."""

    episode: Episode
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeMatches:
    """Result of a query."""

    episodes: Sequence[FoundEpisode]
    """At most the requested number."""
    matched: int
    """Number of matches, including those beyond the limit."""
    success_rate: float
    """Share of all matches with a reward above 0.7; 0 without matches."""
    patterns: Sequence[Mapping[str, Any]]
    degraded: str | None
    """Reason for a degraded search; None for a full one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarEpisode:
    """An episode, without its steps, and its cosine similarity."""

    episode: Episode
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarEpisodes:
    """Result of a vector search."""

    episodes: Sequence[SimilarEpisode]
    nearest: float | None
    """Highest similarity found, even when below the threshold; None without episodes."""
    embedding: QueryEmbedding
    seconds: float


class EpisodeQueries:
    """Search the episodes of one store."""

    def __init__(
        self,
        store: EpisodeStore,
        embeddings: EmbeddingSource,
        *,
        learner: Learner | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._store = store
        self._embeddings = embeddings
        self._learner = learner
        self._clock = clock

    async def query(
        self,
        visibility: Visibility,
        text: str,
        domain: str,
        task_type: TaskType | None,
        limit: int,
        sort: Sort,
    ) -> EpisodeMatches:
        """Return the completed episodes of a domain that match a text, and matching patterns."""
        question = parse_question(text, self._clock())
        embedding = await self._embeddings.embed_query(text)
        incomplete = await self._create_missing_vectors(embedding)
        relevances: dict[int, float] = {}

        def choose(pool: CandidatePool) -> list[int]:
            ranking = ranker.Ranking(pool, question, contextual=embedding.contextual)
            fitting, _ = ranking.split(MIN_RELEVANCE)
            relevances.update({int(pool.handles[index]): float(ranking.relevance[index]) for index in fitting})
            return list(relevances)

        matches = await self._store.search(
            EpisodeQuery(
                visibility=visibility,
                only=EpisodeFilter(completed=True, domain=domain, task_type=task_type),
                terms=question.search_terms(())[:MAX_TERMS],
                vector=embedding.vector,
                model=embedding.model,
                limit=max(CANDIDATES, CANDIDATES_FOR_EACH * limit),
            ),
            choose,
        )
        episodes = [FoundEpisode(episode=one, relevance=relevances[seq]) for seq, one in matches.items()]
        rewarding = sum(
            one.episode.reward is not None and one.episode.reward.total > MIN_SUCCESS_REWARD for one in episodes
        )
        return EpisodeMatches(
            episodes=_sorted(episodes, sort)[:limit],
            matched=len(episodes),
            success_rate=rewarding / len(episodes) if episodes else 0.0,
            patterns=await self._patterns(visibility, text, domain, task_type, limit),
            degraded=embedding.problem or incomplete,
        )

    async def similar(
        self,
        visibility: Visibility,
        text: str,
        domain: str | None,
        task_type: TaskType | None,
        limit: int,
        threshold: float,
    ) -> SimilarEpisodes:
        """Return completed episodes with at least this cosine similarity, most similar first.

        Raises `Unavailable` when the query cannot be embedded.
        """
        began = time.perf_counter()
        embedding = await self._embeddings.embed_query(text)
        if embedding.problem is not None:
            raise Unavailable(
                embedding.problem.replace("searched by words only", "the query cannot be embedded"),
                hint="query_memory also searches by words; test_embeddings shows the cause",
            )
        await self._create_missing_vectors(embedding)
        similarities: dict[int, float] = {}
        nearest: list[float] = []

        def choose(pool: CandidatePool) -> list[int]:
            by_handle = dict(zip(pool.handles.tolist(), pool.cosines.tolist(), strict=True))
            ranked = sorted(by_handle, key=lambda handle: (-by_handle[handle], -handle))
            nearest.extend(by_handle[handle] for handle in ranked[:1])
            similarities.update(
                {handle: by_handle[handle] for handle in ranked[:limit] if by_handle[handle] >= threshold}
            )
            return list(similarities)

        matches = await self._store.search(
            EpisodeQuery(
                visibility=visibility,
                only=EpisodeFilter(completed=True, domain=domain, task_type=task_type),
                terms=(),
                vector=embedding.vector,
                model=embedding.model,
                limit=limit,
            ),
            choose,
        )
        return SimilarEpisodes(
            episodes=[SimilarEpisode(episode=one, similarity=similarities[seq]) for seq, one in matches.items()],
            nearest=nearest[0] if nearest else None,
            embedding=embedding,
            seconds=time.perf_counter() - began,
        )

    async def _create_missing_vectors(self, embedding: QueryEmbedding) -> str | None:
        """Create missing vectors of the active model; return the reason when some are still missing."""
        if not embedding.vector:
            return None
        for _ in range(MAX_CREATED_VECTORS // BATCH_SIZE):
            episodes = await self._store.unembedded(embedding.model, BATCH_SIZE)
            if not episodes:
                return None
            embeddings = await self._embeddings.embed_texts([embedding_text(episode) for episode in episodes])
            if embeddings.model != embedding.model:
                return f"some episodes have no vector of {embedding.model} yet and are searched by words only"
            await self._store.set_vectors(embeddings.model, list(zip(episodes, embeddings.vectors, strict=True)))
        if not await self._store.unembedded(embedding.model, 1):
            return None
        return f"some episodes are searched by words only until later queries create their vectors of {embedding.model}"

    async def _patterns(
        self, visibility: Visibility, text: str, domain: str, task_type: TaskType | None, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        if self._learner is None:
            return []
        return await self._learner.relevant(visibility, text, domain, task_type, limit)


_SUCCESS_FIRST: Final = {OutcomeType.SUCCESS: 0, OutcomeType.PARTIAL_SUCCESS: 1, OutcomeType.FAILURE: 2}


def _sorted(found: Sequence[FoundEpisode], sort: Sort) -> list[FoundEpisode]:
    """Sort the episodes; equal ones by relevance."""
    by_relevance = sorted(found, key=lambda one: -one.relevance)
    match sort:
        case Sort.RELEVANCE:
            return by_relevance
        case Sort.NEWEST:
            return sorted(by_relevance, key=lambda one: one.episode.start_time, reverse=True)
        case Sort.OLDEST:
            return sorted(by_relevance, key=lambda one: one.episode.start_time)
        case Sort.DURATION:
            return sorted(by_relevance, key=lambda one: one.episode.duration_seconds or 0.0)
        case Sort.SUCCESS:
            return sorted(by_relevance, key=_by_success)


def _by_success(found: FoundEpisode) -> tuple[int, float]:
    episode = found.episode
    rank = _SUCCESS_FIRST[outcome_type(episode.outcome)] if episode.outcome else len(_SUCCESS_FIRST)
    return rank, -(episode.reward.total if episode.reward else 0.0)
