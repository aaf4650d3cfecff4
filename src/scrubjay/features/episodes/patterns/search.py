"""Finding the patterns that fit a task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.scopes import Visibility
from scrubjay.features.embeddings.models import QuestionMeaning
from scrubjay.features.episodes.embedding import Meanings
from scrubjay.features.episodes.models import TaskType
from scrubjay.features.episodes.patterns.models import Pattern
from scrubjay.features.episodes.patterns.scoring import Breakdown, Weights, breakdown
from scrubjay.features.episodes.patterns.store import Candidate, PatternFilter, PatternStore

SEARCHING: Final = Weights(semantic=0.4, context=0.2, effectiveness=0.2, recency=0.1, success=0.1)
RECOMMENDING: Final = Weights(semantic=0.35, context=0.25, effectiveness=0.25, recency=0.1, success=0.05)
LEAST_OF_SEARCH: Final = 0.3
LEAST_OF_RECOMMENDATION: Final = 0.4
# So many that lack their meaning get it from one question; the others are compared by words until the next.
MADE_UP_FOR: Final = 512
AT_ONCE: Final = 64

Method = Literal["embedding", "words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What somebody looks for."""

    query: str
    domain: str
    tags: Sequence[str] = ()
    same_domain: bool = False
    """Only patterns of this domain."""
    task_type: TaskType | None = None
    limit: int
    least: float = LEAST_OF_SEARCH
    episode_id: str | None = None
    """The open episode that it is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPattern:
    """A pattern that fits, and why."""

    pattern: Pattern
    score: float
    breakdown: Breakdown


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPatterns:
    """What fits, best first."""

    scored: Sequence[ScoredPattern]
    searched: int
    """How many were compared."""
    method: Method
    """By what nearness in meaning was told: words when one of the vectors could not be had."""


class PatternSearch:
    """The patterns of one store, by how well they fit."""

    def __init__(self, store: PatternStore, meanings: Meanings, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._meanings = meanings
        self._clock = clock

    async def of_task_type(
        self, visibility: Visibility, task_type: TaskType, least_success_rate: float
    ) -> Sequence[Pattern]:
        """All patterns of a sort of work whose episodes ended well often enough, those seen most often first."""
        return await self._store.find(
            visibility, PatternFilter(task_type=task_type, least_success_rate=least_success_rate)
        )

    async def search(self, visibility: Visibility, wanted: Wanted, weights: Weights) -> FoundPatterns:
        """What fits at least as well as is wanted; those that are told are counted as retrieved."""
        meaning = await self._meanings.question(wanted.query)
        only = PatternFilter(domain=wanted.domain if wanted.same_domain else None, task_type=wanted.task_type)
        candidates = await self._store.candidates(visibility, only, meaning.model)
        if meaning.vector:
            candidates = await self._made_up(candidates, meaning)
        now = self._clock()
        found = await anyio.to_thread.run_sync(_ranked, candidates, meaning.vector, wanted, weights, now)
        if found.scored:
            await self._store.retrieved([one.pattern.id for one in found.scored], now, wanted.episode_id)
        return found

    async def _made_up(self, candidates: Sequence[Candidate], meaning: QuestionMeaning) -> Sequence[Candidate]:
        """The candidates, with the meaning of those that lacked it."""
        lacking = [one.pattern for one in candidates if one.vector is None][:MADE_UP_FOR]
        vectors: dict[str, bytes] = {}
        for start in range(0, len(lacking), AT_ONCE):
            some = lacking[start : start + AT_ONCE]
            made = await self._meanings.texts([text_of(pattern) for pattern in some])
            if made.model != meaning.model:
                break
            vectors |= {pattern.id: vector for pattern, vector in zip(some, made.vectors, strict=True)}
        if not vectors:
            return candidates
        await self._store.set_vectors(meaning.model, vectors)
        return [Candidate(one.pattern, vectors.get(one.pattern.id, one.vector)) for one in candidates]


def text_of(pattern: Pattern) -> str:
    """What stands for a pattern's meaning: what it says, and what it was for."""
    return " ".join((f"{pattern.description}.", pattern.task_type.replace("_", " "), *pattern.about))


def _ranked(
    candidates: Sequence[Candidate], vector: bytes, wanted: Wanted, weights: Weights, now: datetime
) -> FoundPatterns:
    near = _cosines(candidates, vector)
    words = [] if len(near) == len(candidates) else _words(wanted.query)
    scored: list[ScoredPattern] = []
    for place, one in enumerate(candidates):
        semantic = near[place] if place in near else _shared(words, text_of(one.pattern))
        parts = breakdown(one.pattern, semantic, wanted.domain, wanted.tags, now)
        score = parts.weighed(weights)
        if score >= wanted.least:
            scored.append(ScoredPattern(pattern=one.pattern, score=score, breakdown=parts))
    scored.sort(key=lambda one: -one.score)
    method: Method = "words" if len(near) < len(candidates) or not vector else "embedding"
    return FoundPatterns(scored=scored[: wanted.limit], searched=len(candidates), method=method)


def _cosines(candidates: Sequence[Candidate], vector: bytes) -> Mapping[int, float]:
    """How near each is to the question, where both have a vector; one in which the model sees nothing is not near."""
    known = [(place, one.vector) for place, one in enumerate(candidates) if one.vector is not None]
    if not vector or not known:
        return {}
    import numpy as np

    question = np.frombuffer(vector, dtype="<f2").astype(np.float32)
    return {
        place: float(np.frombuffer(held, dtype="<f2").astype(np.float32) @ question) if held else 0.0
        for place, held in known
        if not held or len(held) == len(vector)
    }


def _words(query: str) -> list[str]:
    from scrubjay.search_index.terms import telling_terms

    return list(dict.fromkeys(telling_terms(query)))


def _shared(words: Sequence[str], text: str) -> float:
    """Which share of the question's words a text has."""
    from scrubjay.search_index.terms import telling_terms

    return len(set(words) & set(telling_terms(text))) / len(words) if words else 0.0
