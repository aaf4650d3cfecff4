"""Finding complete episodes by a question, and by meaning alone."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Unavailable
from scrubjay.core.scopes import Visibility
from scrubjay.features.embeddings.models import QuestionMeaning
from scrubjay.features.episodes.embedding import Meanings
from scrubjay.features.episodes.models import Episode, Learner, OutcomeType, TaskType, outcome_type
from scrubjay.features.episodes.search_text import meaning_text
from scrubjay.features.episodes.store import EpisodeFilter, EpisodeQuery, EpisodeStore
from scrubjay.features.memory.models import CandidatePool
from scrubjay.features.memory.ranking.question import read_question

# How many candidates each way of searching brings, and at least for every episode that is wanted.
CANDIDATES: Final = 60
CANDIDATES_FOR_EACH: Final = 3
# Less relevant than this is not about the question.
LEAST_RELEVANCE: Final = 0.1
# More words than this say nothing more about what is wanted.
MOST_TERMS: Final = 100
# An episode whose reward is greater than this counts as a success among those that were found.
REWARDING: Final = 0.7
# How many episodes that lack a vector of the model are given one by a question that needs them, and how many at once.
MADE_UP_FOR: Final = 512
AT_ONCE: Final = 64


class Sort(StrEnum):
    """How episodes are put in order."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    OLDEST = "oldest"
    DURATION = "duration"
    """The shortest first."""
    SUCCESS = "success"
    """Successes first, then partial ones, and among these what had the greater reward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEpisode:
    """An episode that answers, without its steps, and how well."""

    episode: Episode
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a question brought back."""

    episodes: Sequence[FoundEpisode]
    """As many as were wanted."""
    matched: int
    """How many there were."""
    success_rate: float
    """The share of all of these whose reward is greater than 0.7; 0 without any."""
    patterns: Sequence[Mapping[str, Any]]
    degraded: str | None
    """Why the search was less than it should have been."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarEpisode:
    """An episode near in meaning, without its steps."""

    episode: Episode
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """What is near to a question in meaning."""

    episodes: Sequence[SimilarEpisode]
    nearest: float | None
    """The greatest similarity of all that were compared, also when it is below what was wanted."""
    meaning: QuestionMeaning
    seconds: float


class EpisodeQueries:
    """Questions about the episodes of one store."""

    def __init__(
        self,
        store: EpisodeStore,
        meanings: Meanings,
        *,
        learner: Learner | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._store = store
        self._meanings = meanings
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
    ) -> Findings:
        """Complete episodes of a domain that are about this, and the patterns that fit."""
        question = read_question(text, self._clock())
        meaning = await self._meanings.question(text)
        lacking = await self._make_up(meaning)
        relevances: dict[int, float] = {}

        def choose(pool: CandidatePool) -> list[int]:
            from scrubjay.features.memory.ranking.ranker import Ranking

            ranking = Ranking(pool, question, contextual=meaning.contextual)
            fitting, _ = ranking.parted(LEAST_RELEVANCE)
            relevances.update({int(pool.handles[place]): float(ranking.relevance[place]) for place in fitting})
            return list(relevances)

        found = await self._store.search(
            EpisodeQuery(
                visibility=visibility,
                only=EpisodeFilter(completed=True, domain=domain, task_type=task_type),
                terms=question.terms_given(())[:MOST_TERMS],
                vector=meaning.vector,
                model=meaning.model,
                limit=max(CANDIDATES, CANDIDATES_FOR_EACH * limit),
            ),
            choose,
        )
        episodes = [FoundEpisode(episode=one, relevance=relevances[seq]) for seq, one in found.items()]
        rewarding = sum(one.episode.reward is not None and one.episode.reward.total > REWARDING for one in episodes)
        return Findings(
            episodes=_sorted(episodes, sort)[:limit],
            matched=len(episodes),
            success_rate=rewarding / len(episodes) if episodes else 0.0,
            patterns=await self._patterns(visibility, text, domain, task_type, limit),
            degraded=meaning.problem or lacking,
        )

    async def similar(
        self,
        visibility: Visibility,
        text: str,
        domain: str | None,
        task_type: TaskType | None,
        limit: int,
        threshold: float,
    ) -> Similar:
        """Complete episodes that are at least so similar in meaning, the most similar first.

        `Unavailable` when the meaning of the question cannot be had: no similarity is made up.
        """
        began = time.perf_counter()
        meaning = await self._meanings.question(text)
        if meaning.problem is not None:
            raise Unavailable(
                meaning.problem.replace("searched by words only", "the meaning of the question cannot be had"),
                hint="query_memory also finds by words; test_embeddings tells what is wrong",
            )
        await self._make_up(meaning)
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

        found = await self._store.search(
            EpisodeQuery(
                visibility=visibility,
                only=EpisodeFilter(completed=True, domain=domain, task_type=task_type),
                terms=(),
                vector=meaning.vector,
                model=meaning.model,
                limit=limit,
            ),
            choose,
        )
        return Similar(
            episodes=[SimilarEpisode(episode=one, similarity=similarities[seq]) for seq, one in found.items()],
            nearest=nearest[0] if nearest else None,
            meaning=meaning,
            seconds=time.perf_counter() - began,
        )

    async def _make_up(self, meaning: QuestionMeaning) -> str | None:
        """Give episodes a vector of the model that answers now; why some of them are still without, if they are."""
        if not meaning.vector:
            return None
        for _ in range(MADE_UP_FOR // AT_ONCE):
            lacking = await self._store.unembedded(meaning.model, AT_ONCE)
            if not lacking:
                return None
            made = await self._meanings.texts([meaning_text(episode) for episode in lacking])
            if made.model != meaning.model:
                return f"some episodes have no vector of {meaning.model} yet, and are found by words only"
            await self._store.set_vectors(made.model, list(zip(lacking, made.vectors, strict=True)))
        if not await self._store.unembedded(meaning.model, 1):
            return None
        return f"more episodes get their vectors of {meaning.model} with the next questions, and are found by words"

    async def _patterns(
        self, visibility: Visibility, text: str, domain: str, task_type: TaskType | None, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        if self._learner is None:
            return []
        return await self._learner.relevant(visibility, text, domain, task_type, limit)


_SUCCESS_FIRST: Final = {OutcomeType.SUCCESS: 0, OutcomeType.PARTIAL_SUCCESS: 1, OutcomeType.FAILURE: 2}


def _sorted(found: Sequence[FoundEpisode], sort: Sort) -> list[FoundEpisode]:
    """In order; what is alike in it, the most relevant first."""
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
