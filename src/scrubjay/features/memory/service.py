"""Remembering, recalling and forgetting."""

import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any

import anyio
import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import InvalidRequest, NotFound, Unavailable
from scrubjay.core.ids import new_id
from scrubjay.core.policies import Allowance, SecretsPolicy
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.embeddings.active_models import ModelInUse, Models, ModelsInUse
from scrubjay.features.embeddings.question_vector import STATIC_MODELS, meaning_of
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import (
    CandidatePool,
    CandidateQuery,
    Derived,
    Kind,
    Memory,
    MemoryFilter,
    MemoryWrite,
    Once,
    Page,
    WriteOutcome,
    Written,
)
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.ranking.events import Event, event_named
from scrubjay.features.memory.ranking.presets import Preset
from scrubjay.features.memory.ranking.question import Question, read_question
from scrubjay.features.memory.ranking.traits import traits_of
from scrubjay.features.memory.recall import Answering, Hit, Order, Wish
from scrubjay.features.memory.secret_policy import guard, guard_data
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.memory.use_counts import Uses
from scrubjay.search_index.terms import passages, terms

logger = logging.getLogger("scrubjay.features.memory")

# How many candidates each way of searching brings, and at least for every memory that is wanted: what is not among the
# best of any way is not among the best of all.
CANDIDATES = 60
CANDIDATES_FOR_EACH = 3
# So much text is analysed in a few milliseconds; more is done off the event loop.
INLINE_CHARACTERS = 20_000
_CONTENT = frozenset({"content"})
# What a draft says of code becomes a memory's links.
_OF_CODE = frozenset({"about", "repository"})
_LINKS = frozenset({"links"})


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
    kind: Kind = Kind.GENERAL
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    provenance: dict[str, Any] = field(default_factory=dict[str, Any])
    subject: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    protected: bool = False
    about: tuple[str, ...] = ()
    """The names of code that it is about."""
    repository: str | None = None
    """The folder that these are in; by default the project's."""
    given: frozenset[str] = frozenset()


Linker = Callable[[Sequence[Draft], str | None], Awaitable[Sequence[tuple[CodeLink, ...]]]]
"""Finds what each draft is about in the code of a project, by what it names and what its words mention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOutcome:
    """What a question brought back, and how it was chosen."""

    hits: Sequence[Hit]
    order: Order
    """Whether the hits come best first or earliest first."""
    near_misses: Sequence[Hit]
    """The best of those that are not relevant enough."""
    considered: int
    """Candidates that were scored."""
    below_threshold: int
    """Candidates that were left out because they are not relevant enough."""
    tokens: int
    """About how many tokens the hits take."""
    over_budget: int
    """Memories that were left out because they did not fit into the budget."""
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

    def __init__(
        self,
        store: MemoryStore,
        models: ModelsInUse,
        *,
        clock: Clock = system_clock,
        secrets: SecretsPolicy = SecretsPolicy.MASK,
        quota: Quota | None = None,
        linker: Linker | None = None,
    ) -> None:
        """`secrets` is what becomes of keys, tokens and passwords in what is to be kept."""
        self._linker = linker
        self._store = store
        self._quota = quota or Quota()
        self._secrets = secrets
        self._models = models
        self._clock = clock
        self.uses = Uses(store, clock)

    async def remember(
        self, drafts: Sequence[Draft], project_id: str | None, *, made_of: Sequence[str] = ()
    ) -> Sequence[WriteOutcome]:
        """Keep all of these or none; durable when this returns.

        `SourceGone`, and nothing is kept, when something that they are `made_of` was forgotten meanwhile.
        """
        allowance = self._admit(drafts)
        models = await self._models.now()
        outcomes = await self._store.put(await self._writes(drafts, project_id, models, made_of), allowance)
        await self._make_up(outcomes, models)
        return outcomes

    async def remember_once(
        self, drafts: Sequence[Draft], project_id: str | None, client: str, key: str, *, made_of: Sequence[str] = ()
    ) -> Written:
        """The same, unless this client has already done it under this key."""
        allowance = self._admit(drafts)
        models = await self._models.now()
        once = Once(client, key, _digest(drafts, project_id))
        writes = await self._writes(drafts, project_id, models, made_of)
        written = await self._store.put_once(writes, once, self._clock(), allowance)
        await self._make_up(written.outcomes or (), models)
        return written

    async def revise(
        self,
        memories: Sequence[Memory],
        contents: Sequence[str],
        provenance: Mapping[str, Any],
        *,
        beside: Draft,
        project_id: str | None,
    ) -> tuple[Sequence[WriteOutcome], WriteOutcome]:
        """Give each of these another content and keep a new memory beside them, all or nothing.

        What they said before is kept as history.
        """
        allowance = self._admit([beside])
        now = self._clock()
        models = await self._models.now()
        contents = [guard(content, self._secrets).text for content in contents]
        mentioned = [await self._mentioned(memory, content) for memory, content in zip(memories, contents, strict=True)]
        revised = [
            replace(
                memory,
                content=content,
                links=links,
                provenance=provenance,
                recorded_at=now,
                updated_at=now,
                occurred_at=None,
                valid_from=None,
                valid_until=None,
            )
            for memory, content, links in zip(memories, contents, mentioned, strict=True)
        ]
        derived = await self._derive(revised, models, may_lack_meaning=True)
        changes = [
            MemoryWrite(memory=memory, derived=found, given=_CONTENT, passages_of=_passages_of, revises=memory.id)
            for memory, found in zip(revised, derived, strict=True)
        ]
        outcomes = await self._store.put([*changes, *await self._writes([beside], project_id, models)], allowance)
        await self._make_up(outcomes, models)
        return outcomes[:-1], outcomes[-1]

    async def amend(self, changes: Sequence[MemoryWrite]) -> None:
        """Change what leaves contents as they are; `Conflict`, and nothing is changed, when one of these is gone."""
        await self._store.put(changes)

    async def _writes(
        self, drafts: Sequence[Draft], project_id: str | None, models: Models, made_of: Sequence[str] = ()
    ) -> list[MemoryWrite]:
        now = self._clock()
        guarded = [self._guarded(draft) for draft in drafts]
        links = await self._linker(guarded, project_id) if self._linker else [()] * len(guarded)
        memories = [
            replace(_memory(draft, project_id, now), links=own) if own else _memory(draft, project_id, now)
            for draft, own in zip(guarded, links, strict=True)
        ]
        derived = await self._derive(memories, models, may_lack_meaning=True)
        return [
            MemoryWrite(
                memory=memory,
                derived=found,
                given=_given(draft.given),
                passages_of=_passages_of,
                made_of=tuple(made_of),
            )
            for memory, found, draft in zip(memories, derived, drafts, strict=True)
        ]

    async def _mentioned(self, memory: Memory, content: str) -> tuple[CodeLink, ...]:
        """What a memory mentions of code when it says this."""
        if self._linker is None:
            return ()
        (links,) = await self._linker([Draft(content=content, kind=memory.kind)], memory.project_id)
        return links

    def _admit(self, drafts: Sequence[Draft]) -> Allowance | None:
        """Count a write of whoever brings these, and tell how much they may keep; `RateLimited` when it is too many."""
        client = drafts[0].provenance.get("client") if drafts else None
        self._quota.admit(client)
        return self._quota.allowance(client)

    def _guarded(self, draft: Draft) -> Draft:
        """The draft without secrets, unless these are to be kept; where it comes from tells what was masked."""
        guarded = guard(draft.content, self._secrets)
        if guarded.masked:
            provenance = {**draft.provenance, "masked": [*guarded.masked]}
            draft = replace(draft, content=guarded.text, provenance=provenance)
        if draft.metadata or draft.details:
            metadata, details = guard_data(draft.metadata, self._secrets), guard_data(draft.details, self._secrets)
            if (metadata, details) != (draft.metadata, draft.details):
                draft = replace(draft, metadata=metadata, details=details)
        return draft

    async def _make_up(self, outcomes: Sequence[WriteOutcome], models: Models) -> None:
        """Give what was just written the vectors of a model that was chosen meanwhile."""
        if await self._models.now() is not models:
            await self._models.make_up([outcome.memory for outcome in outcomes], models)

    async def recall(self, query: str, visibility: Visibility, filter: MemoryFilter, wish: Wish) -> RecallOutcome:
        """What is most relevant to a question; what is not relevant enough only as near misses."""
        watch = _Stopwatch()
        question = read_question(query, self._clock())
        model = (await self._models.now()).answering
        if not question.spans and (event := event_named(query)) is not None:
            question = await self._dated(question, event, visibility, model.embedder.model)
        contextual = not model.embedder.model.startswith(STATIC_MODELS)
        if contextual:
            query = question.put_to(await self._store.speakers(visibility, model.embedder.model))
        vector, degraded = await meaning_of(query, model)
        watch.lap("reading the question")
        answering = Answering(question, wish, contextual=contextual)

        def choose(pool: CandidatePool) -> list[int]:
            watch.lap("finding candidates")
            chosen = answering.choose(_similar_enough(pool, model.choice.similarity_threshold))
            watch.lap("ranking")
            return chosen

        memories = await self._store.search(
            CandidateQuery(
                visibility=visibility,
                filter=filter,
                terms=question.terms_given,
                vector=vector,
                model=model.embedder.model,
                limit=max(CANDIDATES, answering.limit * CANDIDATES_FOR_EACH),
                moments=tuple((span.start, span.end) for span in question.spans),
                with_uses=wish.preset is not Preset.RELEVANT,
                now=question.asked_at,
            ),
            choose,
        )
        watch.lap("reading memories")
        hits, near_misses = answering.tell(memories)
        self.uses.note(hit.memory.id for hit in hits)
        return RecallOutcome(
            hits=hits,
            order=answering.order,
            near_misses=near_misses,
            considered=answering.considered,
            below_threshold=answering.below_threshold,
            tokens=answering.tokens,
            over_budget=answering.over_budget,
            texts=answering.pool.texts,
            terms=answering.pool.terms,
            seconds=watch.laps,
            degraded=degraded,
        )

    async def _dated(self, question: Question, event: Event, visibility: Visibility, model: str) -> Question:
        """The question with the time that it means, if a memory has all words of the event that it names."""

        def choose(pool: CandidatePool) -> list[int]:
            from scrubjay.features.memory.ranking.selection import with_every_term

            place = with_every_term(pool)
            return [] if place is None else [int(pool.handles[place])]

        named = read_question(event.name, question.asked_at)
        found = await self._store.search(
            CandidateQuery(
                visibility=visibility,
                filter=MemoryFilter(),
                terms=named.terms_given,
                vector=b"",
                model=model,
                limit=CANDIDATES,
                now=question.asked_at,
            ),
            choose,
        )
        for memory in found.values():
            happened_at = memory.occurred_at or memory.recorded_at
            return replace(question, spans=(event.span(happened_at, question.asked_at),))
        return question

    async def get(self, memory_id: str, visibility: Visibility) -> Memory:
        if (memory := await self._store.get(visibility, memory_id)) is None:
            raise unknown_memory(memory_id)
        return memory

    async def page(
        self, visibility: Visibility, filter: MemoryFilter, *, newest_first: bool, limit: int, offset: int
    ) -> Page:
        """What passes the filter, a page of it, by the time it happened."""
        return await self._store.page(visibility, filter, newest_first=newest_first, limit=limit, offset=offset)

    async def history(
        self, visibility: Visibility, *, memory_id: str | None = None, key: str | None = None
    ) -> Sequence[Memory]:
        """What a memory was, is and will be, by its id or its key; what was true first before the others."""
        if memory_id is None:
            memory_id = (await self._keyed(key or "", visibility, None)).id
        found = await self._store.history(visibility, memory_id)
        if not found:
            raise unknown_memory(memory_id)
        return found

    async def forget(self, memory_id: str, visibility: Visibility) -> Memory:
        """Erase one memory by its id."""
        if erased := await self._store.delete(visibility, [memory_id]):
            return erased[0]
        raise unknown_memory(memory_id)

    async def forget_key(self, key: str, visibility: Visibility, scope: Scope | None) -> Memory:
        """Erase the one memory under this key."""
        return await self.forget((await self._keyed(key, visibility, scope)).id, visibility)

    async def _keyed(self, key: str, visibility: Visibility, scope: Scope | None) -> Memory:
        found = await self._store.find(visibility, MemoryFilter(key=key, scope=scope), limit=2)
        if len(found) > 1:
            raise InvalidRequest(
                f"the key {key!r} is used in several scopes",
                hint="name the scope, or the memory's id",
                details={"ids": [memory.id for memory in found]},
            )
        if not found:
            raise NotFound(f"nothing is remembered here under the key {key[:80]!r}", hint="recall shows keys")
        return found[0]

    async def derive(self, memories: Sequence[Memory]) -> list[Derived]:
        """What search needs of each memory, made from its content and its labels."""
        return await self._derive(memories, await self._models.now(), may_lack_meaning=False)

    async def _derive(self, memories: Sequence[Memory], models: Models, *, may_lack_meaning: bool) -> list[Derived]:
        """The same with these models. What may lack its meaning is found by its words until it is made up for."""
        contents = [memory.content for memory in memories]
        model, vectors = await _vectors(contents, models.answering, may_lack=may_lack_meaning)
        to_come: Sequence[tuple[str, bytes] | None] = [None] * len(memories)
        if models.coming is not None:
            name, made = await _vectors(contents, models.coming, may_lack=True)
            to_come = [(name, vector) for vector in made] if name else to_come
        if sum(map(len, contents)) <= INLINE_CHARACTERS:
            found = [_passages_of(memory) for memory in memories]
        else:
            found = await anyio.to_thread.run_sync(lambda: [_passages_of(memory) for memory in memories])
        return [
            Derived(passages=own, traits=traits_of(memory.content), vector=vector, model=model, vector_to_come=later)
            for memory, own, vector, later in zip(memories, found, vectors, to_come, strict=True)
        ]


def _similar_enough(pool: CandidatePool, least: float | None) -> CandidatePool:
    """The candidates, as if those that are less similar to the question had no meaning."""
    if least is None:
        return pool
    import numpy as np

    weak = pool.cosines < least
    return replace(
        pool,
        cosines=np.where(weak, np.float32(np.nan), pool.cosines),
        standings=np.where(weak, np.float32(np.nan), pool.standings),
    )


async def _vectors(contents: Sequence[str], model: ModelInUse, *, may_lack: bool) -> tuple[str, Sequence[bytes]]:
    """The vectors and their model's name, which is empty when these may be lacking and are."""
    try:
        return model.embedder.model, await model.embedder.embed(contents)
    except (Unavailable, InvalidRequest) as error:
        if not may_lack:
            raise
        logger.warning("kept without its meaning", extra={"memories": len(contents), "problem": error.message})
        return "", [b""] * len(contents)


def unknown_memory(memory_id: str) -> NotFound:
    return NotFound(
        f"there is no memory {memory_id[:80]!r} here",
        hint="recall shows ids; a memory of another project or session can only be seen and forgotten there",
    )


@lru_cache(maxsize=256)  # few ways to write a draft come again and again
def _given(drafted: frozenset[str]) -> frozenset[str]:
    """The fields of the memory that whoever gave these fields of a draft chose themselves."""
    given = (drafted | _CONTENT) - _OF_CODE
    return given | _LINKS if "about" in drafted else given


def _digest(drafts: Sequence[Draft], project_id: str | None) -> str:
    """What tells one call's memories from another's; the order of names does not matter."""
    told = [project_id, *map(_told, drafts)]
    return sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


def _told(draft: Draft) -> dict[str, Any]:
    """The draft as it is; what names no code is as it was before drafts could."""
    told = asdict(draft) | {"given": sorted(draft.given)}
    return told if draft.about else {name: value for name, value in told.items() if name not in _OF_CODE}


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
        kind=draft.kind,
        details=draft.details,
        provenance=draft.provenance,
        subject=" ".join(draft.subject.casefold().split()) if draft.subject else None,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        protected=draft.protected,
    )


def _passages_of(memory: Memory) -> tuple[tuple[str, ...], ...]:
    """The words by which a memory can be found: those of its content, then of its labels and of who said it."""
    labels = "\n".join(label for label in (memory.speaker, memory.key, memory.category, *memory.tags) if label)
    return (*passages(memory.content), _terms_of_labels(labels)) if labels else passages(memory.content)


@lru_cache(maxsize=4096)
def _terms_of_labels(labels: str) -> tuple[str, ...]:
    return terms(labels)
