"""Remembering, recalling and forgetting."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from recollect.domain.clock import Clock, system_clock
from recollect.domain.errors import InvalidRequest, NotFound, Unavailable
from recollect.domain.identifiers import new_id
from recollect.domain.memories import (
    CandidatePool,
    CandidateQuery,
    Derived,
    Memory,
    MemoryFilter,
    MemoryWrite,
    WriteOutcome,
)
from recollect.domain.scopes import Scope, Visibility
from recollect.inference.embedding import Embedder
from recollect.retrieval.question import read_question
from recollect.retrieval.terms import passages, terms
from recollect.retrieval.traits import traits_of
from recollect.storage.memories import MemoryStore

if TYPE_CHECKING:
    from recollect.retrieval.ranking import Reasons

logger = logging.getLogger("recollect.memory")

# How many candidates each way of searching brings, and at least for every memory that is wanted: what is not among the
# best of any way is not among the best of all.
CANDIDATES = 60
CANDIDATES_FOR_EACH = 3
# A question waits no longer than this for its meaning.
PATIENCE_SECONDS = 5.0
# So much text is analysed in a few milliseconds; more is done off the event loop.
INLINE_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What somebody wants remembered. `given` names the fields that they chose themselves."""

    content: str
    scope: Scope | None = None
    session_id: str | None = None
    key: str | None = None
    category: str | None = None
    importance: float = 0.5
    confidence: float = 1.0
    speaker: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    occurred_at: datetime | None = None
    given: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, and how well."""

    memory: Memory
    score: float
    explain: "Callable[[], Reasons]"
    """Where the score comes from, worked out when asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What a question brought back, and how it was chosen."""

    hits: Sequence[Hit]
    """Best first."""
    near_misses: Sequence[Hit]
    """The best of those that scored too low."""
    considered: int
    """Candidates that were scored."""
    below_threshold: int
    """Candidates that were scored and left out because they scored too low."""
    texts: int
    """Memories that could be seen at all."""
    terms: tuple[str, ...]
    """The words that were looked for."""
    seconds: Mapping[str, float]
    """How long each stage took."""
    degraded: str | None
    """Why the search was less than it should have been."""


class MemoryService:
    """The memories of one store."""

    def __init__(self, store: MemoryStore, embedder: Embedder, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock

    async def remember(self, drafts: Sequence[Draft], project_id: str | None) -> Sequence[WriteOutcome]:
        """Keep all of these or none; durable when this returns."""
        now = self._clock()
        memories = [_memory(draft, project_id, now) for draft in drafts]
        derived = await self.derive(memories, may_lack_meaning=True)
        writes = [
            MemoryWrite(memory=memory, derived=found, given=draft.given | {"content"}, passages_of=_passages_of)
            for memory, found, draft in zip(memories, derived, drafts, strict=True)
        ]
        return await self._store.put(writes)

    async def recall(
        self,
        query: str,
        visibility: Visibility,
        filter: MemoryFilter,
        *,
        limit: int,
        threshold: float,
        near_misses: int = 0,
    ) -> Recollection:
        """What is most relevant to a question; what scores below the threshold only as so many near misses."""
        from recollect.retrieval.ranking import Ranking

        watch = _Stopwatch()
        question = read_question(query, self._clock())
        vector, degraded = await self._meaning_of(query)
        watch.lap("reading the question")
        chosen: list[tuple[int, float, Callable[[], Reasons]]] = []
        good = 0
        offered: list[CandidatePool] = []

        def choose(pool: CandidatePool) -> list[int]:
            nonlocal good
            watch.lap("finding candidates")
            offered.append(pool)
            ranking = Ranking(pool, question)
            scores, handles = ranking.scores.tolist(), pool.handles.tolist()
            order = ranking.best_first()
            good = sum(score >= threshold and score > 0 for score in scores)
            wanted = order[: min(good, limit)] + order[good : good + near_misses]
            chosen.extend((handles[place], scores[place], partial(ranking.reasons, place)) for place in wanted)
            watch.lap("ranking")
            return [handle for handle, _, _ in chosen]

        memories = await self._store.search(
            CandidateQuery(
                visibility=visibility,
                filter=filter,
                terms=question.terms_given,
                vector=vector,
                model=self._embedder.model,
                limit=max(CANDIDATES, limit * CANDIDATES_FOR_EACH),
                moments=tuple((span.start, span.end) for span in question.spans),
            ),
            choose,
        )
        watch.lap("reading memories")
        hits = [Hit(memories[handle], score, explain) for handle, score, explain in chosen]
        answered = min(good, limit)
        return Recollection(
            hits=hits[:answered],
            near_misses=hits[answered:],
            considered=len(offered[0].handles),
            below_threshold=len(offered[0].handles) - good,
            texts=offered[0].texts,
            terms=offered[0].terms,
            seconds=watch.laps,
            degraded=degraded,
        )

    async def _meaning_of(self, query: str) -> tuple[bytes, str | None]:
        """The question's vector; none, and why not, when the embedder fails or takes too long."""
        try:
            with anyio.fail_after(PATIENCE_SECONDS):
                (vector,) = await self._embedder.embed([query])
        except TimeoutError:
            return b"", f"searched by words only: {self._embedder.model} did not answer in {PATIENCE_SECONDS:g} s"
        except (Unavailable, InvalidRequest) as error:
            return b"", f"searched by words only: {error.message}"
        return vector, None

    async def forget(self, memory_id: str, visibility: Visibility) -> Memory:
        """Erase one memory by its id."""
        if erased := await self._store.delete(visibility, [memory_id]):
            return erased[0]
        raise NotFound(
            f"there is no memory {memory_id[:80]!r} here",
            hint="recall shows ids; a memory of another project or session can only be forgotten there",
        )

    async def forget_key(self, key: str, visibility: Visibility, scope: Scope | None) -> Memory:
        """Erase the one memory under this key."""
        found = await self._store.find(visibility, MemoryFilter(key=key, scope=scope), limit=2)
        if len(found) > 1:
            raise InvalidRequest(
                f"the key {key!r} is used in several scopes",
                hint="name the scope, or forget by id",
                details={"ids": [memory.id for memory in found]},
            )
        if not found:
            raise NotFound(f"nothing is remembered here under the key {key[:80]!r}", hint="recall shows keys")
        return await self.forget(found[0].id, visibility)

    async def derive(self, memories: Sequence[Memory], *, may_lack_meaning: bool = False) -> list[Derived]:
        """What search needs of each memory, made from its content and its labels.

        When the embedder fails, what may lack its meaning is found by its words until everything is rebuilt.
        """
        try:
            vectors = await self._embedder.embed([memory.content for memory in memories])
        except (Unavailable, InvalidRequest) as error:
            if not may_lack_meaning:
                raise
            logger.warning("kept without its meaning", extra={"memories": len(memories), "problem": error.message})
            vectors = [b""] * len(memories)
        if sum(len(memory.content) for memory in memories) <= INLINE_CHARACTERS:
            found = [_passages_of(memory) for memory in memories]
        else:
            found = await anyio.to_thread.run_sync(lambda: [_passages_of(memory) for memory in memories])
        return [
            Derived(passages=own, traits=traits_of(memory.content), vector=vector, model=self._embedder.model)
            for memory, own, vector in zip(memories, found, vectors, strict=True)
        ]


class _Stopwatch:
    """Tells how long one thing after another took."""

    def __init__(self) -> None:
        self._since = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage] = now - self._since
        self._since = now


def _memory(draft: Draft, project_id: str | None, now: datetime) -> Memory:
    scope = draft.scope or (Scope.PROJECT if project_id else Scope.GLOBAL)
    if scope is Scope.PROJECT and project_id is None:
        raise InvalidRequest(
            "no project is active, so nothing can be kept in its scope",
            hint="call set_project first, name a project, or use scope global",
        )
    if scope is Scope.SESSION and draft.session_id is None:
        raise InvalidRequest("a memory of session scope needs a session_id", hint="give the session's id")
    return Memory(
        id=new_id("mem"),
        scope=scope,
        project_id=None if scope is Scope.GLOBAL else project_id,
        session_id=draft.session_id,
        content=draft.content,
        key=draft.key,
        category=draft.category,
        importance=draft.importance,
        confidence=draft.confidence,
        speaker=draft.speaker,
        tags=draft.tags,
        metadata=draft.metadata,
        occurred_at=draft.occurred_at,
        recorded_at=now,
        updated_at=now,
    )


def _passages_of(memory: Memory) -> tuple[tuple[str, ...], ...]:
    """The words by which a memory can be found: those of its content, then of its labels and of who said it."""
    labels = "\n".join(label for label in (memory.speaker, memory.key, memory.category, *memory.tags) if label)
    return (*passages(memory.content), terms(labels)) if labels else passages(memory.content)
