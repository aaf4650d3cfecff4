"""Search patterns that match a task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.lazy import lazy_module
from scrubjay.core.scopes import Visibility
from scrubjay.features.embeddings.models import QueryEmbedding
from scrubjay.features.episodes.embedding import EmbeddingSource
from scrubjay.features.episodes.models import TaskType
from scrubjay.features.episodes.patterns.models import Pattern
from scrubjay.features.episodes.patterns.scoring import ScoreComponents, ScoreWeights, break_down
from scrubjay.features.episodes.patterns.store import PatternCandidate, PatternFilter, PatternStore
from scrubjay.search_index.terms import significant_terms

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

SEARCH_WEIGHTS: Final = ScoreWeights(semantic=0.4, context=0.2, effectiveness=0.1, recency=0.1, success=0.2)
RECOMMENDATION_WEIGHTS: Final = ScoreWeights(semantic=0.35, context=0.2, effectiveness=0.1, recency=0.05, success=0.3)
MIN_SEARCH_SCORE: Final = 0.3
MIN_RECOMMENDATION_SCORE: Final = 0.4
# Semantic similarity below which a pattern is about another task. The second applies to patterns of a kind of task that
# is the query's own, or whose best pattern has the first. Of the bundled model, unrelated texts are below both.
MIN_SIMILARITY: Final = 0.2
MIN_SIMILARITY_OF_KIND: Final = 0.1
# Missing vectors that one query creates at most; further patterns are compared by words until a later query.
MAX_CREATED_VECTORS: Final = 512
BATCH_SIZE: Final = 64

Method = Literal["embedding", "words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPatternQuery:
    """A task, and limits of the search."""

    query: str
    domain: str
    tags: Sequence[str] = ()
    same_domain: bool = False
    """Only patterns of this domain."""
    task_type: TaskType | None = None
    """Only patterns of this kind of task."""
    kind: TaskType | None = None
    """The kind of the task, if known; patterns of the same kind score higher."""
    only_proven: bool = False
    """Without patterns that failed as often as they succeeded."""
    limit: int
    min_score: float = MIN_SEARCH_SCORE
    episode_id: str | None = None
    """The open episode of the task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPattern:
    """A matching pattern with its score."""

    pattern: Pattern
    score: float
    breakdown: ScoreComponents


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPatternMatches:
    """Matching patterns, best first."""

    scored: Sequence[ScoredPattern]
    searched: int
    """Number of patterns compared."""
    method: Method
    """How semantic similarity was computed: `words` when any vector was missing."""


class PatternSearch:
    """Searches the patterns of one store."""

    def __init__(self, store: PatternStore, embeddings: EmbeddingSource, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._embeddings = embeddings
        self._clock = clock

    async def list_by_task_type(
        self, visibility: Visibility, task_type: TaskType, min_success_rate: float
    ) -> Sequence[Pattern]:
        """Return the patterns of a task type with at least this success rate, most frequent first."""
        return await self._store.find(visibility, PatternFilter(task_type=task_type, min_success_rate=min_success_rate))

    async def search(self, visibility: Visibility, task: TaskPatternQuery, weights: ScoreWeights) -> TaskPatternMatches:
        """Return patterns with at least the minimum score, and count them as retrieved."""
        embedding = await self._embeddings.embed_query(task.query)
        only = PatternFilter(domain=task.domain if task.same_domain else None, task_type=task.task_type)
        candidates = await self._store.candidates(visibility, only, embedding.model)
        if embedding.vector:
            candidates = await self._with_vectors(candidates, embedding)
        now = self._clock()
        found = await anyio.to_thread.run_sync(_rank, candidates, embedding.vector, task, weights, now)
        if found.scored:
            await self._store.record_retrieval([one.pattern.id for one in found.scored], now, task.episode_id)
        return found

    async def _with_vectors(
        self, candidates: Sequence[PatternCandidate], embedding: QueryEmbedding
    ) -> Sequence[PatternCandidate]:
        """Create missing vectors, at most `MAX_CREATED_VECTORS`, and return the candidates with them."""
        missing = [one.pattern for one in candidates if one.vector is None][:MAX_CREATED_VECTORS]
        vectors: dict[str, bytes] = {}
        for start in range(0, len(missing), BATCH_SIZE):
            some = missing[start : start + BATCH_SIZE]
            embeddings = await self._embeddings.embed_texts([embedding_text(pattern) for pattern in some])
            if embeddings.model != embedding.model:
                break
            vectors |= {pattern.id: vector for pattern, vector in zip(some, embeddings.vectors, strict=True)}
        if not vectors:
            return candidates
        await self._store.set_vectors(embedding.model, vectors)
        return [PatternCandidate(one.pattern, vectors.get(one.pattern.id, one.vector)) for one in candidates]


def embedding_text(pattern: Pattern) -> str:
    """Return the text of a pattern that is embedded: its description, task type and task descriptions."""
    return " ".join((f"{pattern.description}.", pattern.task_type.replace("_", " "), *pattern.about))


def _rank(
    candidates: Sequence[PatternCandidate],
    vector: bytes,
    task: TaskPatternQuery,
    weights: ScoreWeights,
    now: datetime,
) -> TaskPatternMatches:
    near = _cosines(candidates, vector)
    words = [] if len(near) == len(candidates) else _query_terms(task.query)
    kind = task.kind or task.task_type
    similarity = [
        near[index] if index in near else _shared_terms(words, embedding_text(one.pattern))
        for index, one in enumerate(candidates)
    ]
    own_kinds = {
        one.pattern.task_type for one, like in zip(candidates, similarity, strict=True) if like >= MIN_SIMILARITY
    } | {kind}
    scored: list[ScoredPattern] = []
    for one, semantic in zip(candidates, similarity, strict=True):
        pattern = one.pattern
        enough = MIN_SIMILARITY_OF_KIND if pattern.task_type in own_kinds else MIN_SIMILARITY
        if semantic < enough or (task.only_proven and not pattern.is_proven):
            continue
        parts = break_down(pattern, semantic, task.domain, task.tags, kind, now)
        score = parts.weighted_sum(weights)
        if score >= task.min_score:
            scored.append(ScoredPattern(pattern=pattern, score=score, breakdown=parts))
    scored.sort(key=lambda one: -one.score)
    method: Method = "words" if len(near) < len(candidates) or not vector else "embedding"
    return TaskPatternMatches(scored=scored[: task.limit], searched=len(candidates), method=method)


def _cosines(candidates: Sequence[PatternCandidate], vector: bytes) -> Mapping[int, float]:
    """Return the cosine of each candidate with a vector, by position; an empty vector has cosine 0."""
    known = [(index, one.vector) for index, one in enumerate(candidates) if one.vector is not None]
    if not vector or not known:
        return {}
    question = np.frombuffer(vector, dtype="<f2").astype(np.float32)
    return {
        index: float(np.frombuffer(held, dtype="<f2").astype(np.float32) @ question) if held else 0.0
        for index, held in known
        if not held or len(held) == len(vector)
    }


def _query_terms(query: str) -> list[str]:
    return list(dict.fromkeys(significant_terms(query)))


def _shared_terms(words: Sequence[str], text: str) -> float:
    """Return the share of the query's words that a text contains."""
    return len(set(words) & set(significant_terms(text))) / len(words) if words else 0.0
