"""Remembering, recalling and forgetting."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import anyio.to_thread

from recollect.domain.clock import Clock, system_clock
from recollect.domain.errors import InvalidRequest, NotFound
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
from recollect.retrieval.fusion import Ranked, Signal, fuse
from recollect.retrieval.terms import question_terms, terms
from recollect.storage.memories import MemoryStore

# How many candidates each way of searching brings for every memory that is wanted: what is not among the best of
# either way is not among the best of both.
CANDIDATES_EACH = 3
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
    signals: Sequence[Signal]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What a question brought back, and how it was chosen."""

    hits: Sequence[Hit]
    """Best first."""
    considered: int
    """Candidates that were scored."""
    below_threshold: int
    """Candidates that were scored and left out because they scored too low."""


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
        derived = await self.derive(memories)
        writes = [
            MemoryWrite(memory=memory, derived=found, given=draft.given | {"content"}, terms_of=_terms_of)
            for memory, found, draft in zip(memories, derived, drafts, strict=True)
        ]
        return await self._store.put(writes)

    async def recall(
        self, query: str, visibility: Visibility, filter: MemoryFilter, *, limit: int, threshold: float
    ) -> Recollection:
        """What is most relevant to a question; nothing that scores below the threshold."""
        wanted = question_terms(query)
        (vector,) = await self._embedder.embed([query])
        ranked: list[Ranked] = []
        good: list[Ranked] = []

        def choose(pool: CandidatePool) -> list[int]:
            ranked.extend(fuse(pool, wanted))
            good.extend(hit for hit in ranked if hit.score >= threshold and hit.score > 0)
            return [hit.handle for hit in good[:limit]]

        memories = await self._store.search(
            CandidateQuery(
                visibility=visibility,
                filter=filter,
                terms=wanted,
                vector=vector,
                model=self._embedder.model,
                limit=max(10, limit) * CANDIDATES_EACH,
            ),
            choose,
        )
        return Recollection(
            hits=[Hit(memories[hit.handle], hit.score, hit.signals) for hit in good[:limit]],
            considered=len(ranked),
            below_threshold=len(ranked) - len(good),
        )

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

    async def derive(self, memories: Sequence[Memory]) -> list[Derived]:
        """What search needs of each memory, made from its content and its labels."""
        vectors = await self._embedder.embed([memory.content for memory in memories])
        if sum(len(memory.content) for memory in memories) <= INLINE_CHARACTERS:
            found = [_terms_of(memory) for memory in memories]
        else:
            found = await anyio.to_thread.run_sync(lambda: [_terms_of(memory) for memory in memories])
        return [
            Derived(terms=own, vector=vector, model=self._embedder.model)
            for own, vector in zip(found, vectors, strict=True)
        ]


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


def _terms_of(memory: Memory) -> tuple[str, ...]:
    """The words by which a memory can be found: those of its content, of its labels, and of who said it."""
    labels = (memory.speaker, memory.key, memory.category, *memory.tags)
    return terms("\n".join([memory.content, *(label for label in labels if label)]))
