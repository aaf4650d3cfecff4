"""Write, recall and erase memories."""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from scrubjay.core.callers import Caller
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, InvalidRequest, NotFound, StoreUnusable, Unavailable
from scrubjay.core.ids import new_id
from scrubjay.core.lazy import lazy_module
from scrubjay.core.policies import SecretsPolicy, StorageQuota
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.embeddings.active_models import ActiveModels, LoadedModel, ModelRegistry
from scrubjay.features.embeddings.question_vector import STATIC_MODELS, embed_query
from scrubjay.features.memory.candidates import CandidatePool, CandidateQuery
from scrubjay.features.memory.drafts import Draft, DraftLinker
from scrubjay.features.memory.link_review import LinkReviewer
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import Memory, MemoryContent, MemoryFilter, MemoryPage
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.ranking.events import NamedEvent, find_event
from scrubjay.features.memory.ranking.presets import Preset
from scrubjay.features.memory.ranking.question import ParsedQuestion, parse_question
from scrubjay.features.memory.ranking.traits import find_traits
from scrubjay.features.memory.recall import Hit, Order, RecallOptions, RecallSelection
from scrubjay.features.memory.secret_policy import guard, guard_data
from scrubjay.features.memory.store import MemoryStore, SearchView
from scrubjay.features.memory.use_counts import UseCounter
from scrubjay.features.memory.writes import (
    Idempotency,
    IdempotentOutcome,
    MemoryWrite,
    SearchData,
    Updated,
    WriteOutcome,
)
from scrubjay.search_index.terms import passages, terms

if TYPE_CHECKING:
    import numpy as np

    from scrubjay.features.memory.ranking import selection
else:
    np = lazy_module("numpy")
    selection = lazy_module("scrubjay.features.memory.ranking.selection")

logger = logging.getLogger("scrubjay.features.memory")

# Candidates of each search method (words, vectors, time), and the minimum for each requested memory. A memory that no
# method finds among its best is not among the best overall.
CANDIDATES = 60
CANDIDATES_FOR_EACH = 3
# Text up to this length is analysed in a few milliseconds; longer text is analysed in a worker thread.
INLINE_CHARACTERS = 20_000
# Fields that a memory takes from its draft unchanged, but for the subject.
_CONTENT_FIELDS = tuple(field.name for field in fields(MemoryContent))
_CONTENT = frozenset({"content"})
# Memories can be written and recalled without the index of code.
_UNREADABLE_CODE = (StoreUnusable, Unavailable, Busy)
# Fields of a draft that become the links of the memory.
_CODE_FIELDS = frozenset({"about", "repository"})
_LINKS = frozenset({"links"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOutcome:
    """The result of a recall, with statistics of the search."""

    hits: Sequence[Hit]
    order: Order
    """SCORE (best first) or TIME (earliest first)."""
    near_misses: Sequence[Hit]
    """The best memories below the threshold."""
    considered: int
    """Number of candidates that were scored."""
    below_threshold: int
    """Number of candidates below the threshold."""
    tokens: int
    """Estimated tokens of the hits."""
    over_budget: int
    """Number of memories left out because they exceed the token budget."""
    searched: int
    """Number of memories visible to the caller."""
    terms: tuple[str, ...]
    """The search terms."""
    seconds: Mapping[str, float]
    """Duration of each stage."""
    degraded: str | None
    """Why the result may be incomplete for other reasons than damaged rows; None if nothing failed."""


class MemoryService:
    """Writes, recalls and erases the memories of one store."""

    def __init__(
        self,
        store: MemoryStore,
        models: ModelRegistry,
        *,
        clock: Clock = system_clock,
        secrets: SecretsPolicy = SecretsPolicy.MASK,
        quota: Quota | None = None,
        linker: DraftLinker | None = None,
        link_reviewer: LinkReviewer | None = None,
    ) -> None:
        """Create the service. `secrets` is the policy for keys, tokens and passwords in new content.

        `linker` and `link_reviewer` connect memories with code; without them no memory is about code.
        """
        self._linker = linker
        self._link_reviewer = link_reviewer
        self._store = store
        self._quota = quota or Quota()
        self._secrets = secrets
        self._models = models
        self._clock = clock
        self.uses = UseCounter(store, clock)

    async def remember(
        self, drafts: Sequence[Draft], project_id: str | None, *, source_ids: Sequence[str] = ()
    ) -> Sequence[WriteOutcome]:
        """Write all drafts or none; durable on return.

        Raises `SourceGone` and writes nothing if a memory in `source_ids` has been erased.
        """
        allowance = self._admit(drafts)
        models = await self._models.current()
        outcomes = await self._store.put(await self._writes(drafts, project_id, models, source_ids), allowance)
        await self._complete(outcomes, models)
        return outcomes

    async def remember_once(
        self, drafts: Sequence[Draft], project_id: str | None, client: str, key: str, *, source_ids: Sequence[str] = ()
    ) -> IdempotentOutcome:
        """Like `remember`, unless this client has already written under this idempotency key."""
        allowance = self._admit(drafts)
        models = await self._models.current()
        once = Idempotency(client, key, _digest(drafts, project_id))
        writes = await self._writes(drafts, project_id, models, source_ids)
        written = await self._store.put_once(writes, once, self._clock(), allowance)
        await self._complete(written.outcomes or (), models)
        return written

    async def repository_root(self, given: str, working_directory: str | None, *, restricted: bool = False) -> str:
        """Return the folder of the repository that `about` refers to, given its path or the id of its index."""
        if self._link_reviewer is None:
            raise Unavailable("memories cannot be linked to code here", hint="leave out about and repository")
        return await self._link_reviewer.repository_root(given, working_directory, restricted=restricted)

    async def revise(
        self,
        memories: Sequence[Memory],
        contents: Sequence[str],
        provenance: Mapping[str, Any],
        *,
        additional: Draft,
        project_id: str | None,
    ) -> tuple[Sequence[WriteOutcome], WriteOutcome]:
        """Replace the contents of these memories and write the `additional` draft, in one transaction.

        The earlier contents are kept as history. The new ones are linked to code that the `code_reader` of the draft
        may read.
        """
        allowance = self._admit([additional])
        now = self._clock()
        models = await self._models.current()
        contents = [guard(content, self._secrets).text for content in contents]
        mentioned = [
            await self._mentioned_links(memory, content, additional.code_reader)
            for memory, content in zip(memories, contents, strict=True)
        ]
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
        derived = await self._derive(revised, models, allow_missing_vectors=True)
        changes = [
            MemoryWrite(memory=memory, derived=found, given=_CONTENT, passages_of=_memory_passages, revises=memory.id)
            for memory, found in zip(revised, derived, strict=True)
        ]
        outcomes = await self._store.put([*changes, *await self._writes([additional], project_id, models)], allowance)
        await self._complete(outcomes, models)
        return outcomes[:-1], outcomes[-1]

    async def amend(self, changes: Sequence[MemoryWrite]) -> None:
        """Change fields other than the content. Raises `Conflict` and changes nothing if a memory is gone."""
        await self._store.put(changes)

    async def _writes(
        self, drafts: Sequence[Draft], project_id: str | None, models: ActiveModels, source_ids: Sequence[str] = ()
    ) -> list[MemoryWrite]:
        now = self._clock()
        guarded = [self._apply_secrets_policy(draft) for draft in drafts]
        links = await self._linker.links(guarded, project_id) if self._linker else [()] * len(guarded)
        memories = [
            replace(_build_memory(draft, project_id, now), links=own) if own else _build_memory(draft, project_id, now)
            for draft, own in zip(guarded, links, strict=True)
        ]
        derived = await self._derive(memories, models, allow_missing_vectors=True)
        return [
            MemoryWrite(
                memory=memory,
                derived=found,
                given=_given(draft.given),
                passages_of=_memory_passages,
                source_ids=tuple(source_ids),
            )
            for memory, found, draft in zip(memories, derived, drafts, strict=True)
        ]

    async def _mentioned_links(self, memory: Memory, content: str, author: Caller) -> tuple[CodeLink, ...]:
        """Return the links to code that the memory would have with this content, written by this caller."""
        if self._linker is None:
            return ()
        (links,) = await self._linker.links(
            [Draft(content=content, kind=memory.kind, code_reader=author)], memory.project_id
        )
        return links

    def _admit(self, drafts: Sequence[Draft]) -> StorageQuota | None:
        """Count a write of the client and return its allowance. Raises `RateLimited` above the limit."""
        client = drafts[0].provenance.get("client") if drafts else None
        self._quota.admit(client)
        return self._quota.allowance(client)

    def _apply_secrets_policy(self, draft: Draft) -> Draft:
        """Apply the secrets policy to a draft; its provenance lists the kinds of secrets that were masked."""
        guarded = guard(draft.content, self._secrets)
        if guarded.masked:
            provenance = {**draft.provenance, "masked": [*guarded.masked]}
            draft = replace(draft, content=guarded.text, provenance=provenance)
        if draft.metadata or draft.details:
            metadata, details = guard_data(draft.metadata, self._secrets), guard_data(draft.details, self._secrets)
            if (metadata, details) != (draft.metadata, draft.details):
                draft = replace(draft, metadata=metadata, details=details)
        return draft

    async def _complete(self, outcomes: Sequence[WriteOutcome], models: ActiveModels) -> None:
        """Add the vectors of a model that was selected during the write, and renew the links of updated memories.

        A memory with new content refers to the current code, so later reviews compare its links with that.
        """
        memories = [outcome.memory for outcome in outcomes]
        if await self._models.current() is not models:
            await self._models.add_missing_vectors(memories, models)
        if self._link_reviewer is None:
            return
        changed = [one.memory for one in outcomes if isinstance(one, Updated) and one.memory.links]
        for visibility in {Visibility(one.project_id, one.session_id) for one in changed}:
            ids = [one.id for one in changed if Visibility(one.project_id, one.session_id) == visibility]
            try:
                await self._link_reviewer.renew(ids, visibility)
            except _UNREADABLE_CODE as error:  # the memories are written; review_stale names them later
                logger.warning("links to code were not renewed", extra={"problem": error.message})

    async def _with_reviews(
        self, hits: Sequence[Hit], visibility: Visibility, reader: Caller | None
    ) -> tuple[Sequence[Hit], str | None]:
        """Return the hits with the state of their code, as the reader may see it, and why it is unknown, if so."""
        linked = [hit.memory for hit in hits if hit.memory.links]
        if not linked or self._link_reviewer is None or reader is None:
            return hits, None
        try:
            reviews = {one.memory.id: one for one in await self._link_reviewer.review(linked, visibility, reader)}
        except _UNREADABLE_CODE as error:  # memories can be recalled without the index of code
            return hits, f"memories were not compared with their code: {error.message}"
        return [replace(hit, review=reviews.get(hit.memory.id)) for hit in hits], None

    async def recall(
        self, query: str, visibility: Visibility, filter: MemoryFilter, options: RecallOptions
    ) -> RecallOutcome:
        """Return the memories most relevant to a question; near misses are those below the threshold."""
        stopwatch = _Stopwatch()
        question = parse_question(query, self._clock())
        model = (await self._models.current()).active
        if not question.spans and (event := find_event(query)) is not None:
            question = await self._with_event_span(question, event, visibility, model.embedder.model)
        contextual = not model.embedder.model.startswith(STATIC_MODELS)
        if contextual:
            query = question.to_second_person(await self._store.speakers(visibility, model.embedder.model))
        vector, degraded = await embed_query(query, model)
        stopwatch.lap("reading the question")
        recall_selection = RecallSelection(question, options, contextual=contextual)
        candidate_query = CandidateQuery(
            visibility=visibility,
            filter=filter,
            choose_terms=question.search_terms,
            vector=vector,
            model=model.embedder.model,
            limit=max(CANDIDATES, recall_selection.limit * CANDIDATES_FOR_EACH),
            time_spans=tuple((span.start, span.end) for span in question.spans),
            with_uses=options.preset is not Preset.RELEVANT,
            now=question.asked_at,
        )

        def search(view: SearchView) -> Mapping[int, Memory]:
            pool = view.candidates()
            stopwatch.lap("finding candidates")
            ranked = recall_selection.select(_without_weak_cosines(pool, model.choice.similarity_threshold))
            stopwatch.lap("ranking")
            return view.read(ranked)

        memories = await self._store.in_snapshot(candidate_query, search)
        stopwatch.lap("reading memories")
        hits, near_misses = recall_selection.to_hits(memories)
        self.uses.count(hit.memory.id for hit in hits)
        hits, unreviewed = await self._with_reviews(hits, visibility, options.code_reader)
        return RecallOutcome(
            hits=hits,
            order=recall_selection.order,
            near_misses=near_misses,
            considered=recall_selection.considered,
            below_threshold=recall_selection.below_threshold,
            tokens=recall_selection.tokens,
            over_budget=recall_selection.over_budget,
            searched=recall_selection.pool.text_count,
            terms=recall_selection.pool.terms,
            seconds=stopwatch.laps,
            degraded="; ".join(reason for reason in (degraded, unreviewed) if reason) or None,
        )

    async def _with_event_span(
        self, question: ParsedQuestion, event: NamedEvent, visibility: Visibility, model: str
    ) -> ParsedQuestion:
        """Add the time span of the named event, if a memory contains all words of the event's name."""
        named = parse_question(event.name, question.asked_at)
        candidate_query = CandidateQuery(
            visibility=visibility,
            filter=MemoryFilter(),
            choose_terms=named.search_terms,
            vector=b"",
            model=model,
            limit=CANDIDATES,
            now=question.asked_at,
        )

        def search(view: SearchView) -> Mapping[int, Memory]:
            pool = view.candidates()
            row = selection.find_full_match(pool)
            return {} if row is None else view.read([int(pool.handles[row])])

        found = await self._store.in_snapshot(candidate_query, search)
        for memory in found.values():
            happened_at = memory.occurred_at or memory.recorded_at
            return replace(question, spans=(event.span(happened_at, question.asked_at),))
        return question

    async def get(self, memory_id: str, visibility: Visibility) -> Memory:
        """Return the memory with this id. Raises `NotFound` if it is not visible."""
        if (memory := await self._store.get(visibility, memory_id)) is None:
            raise unknown_memory(memory_id)
        return memory

    async def page(
        self, visibility: Visibility, filter: MemoryFilter, *, newest_first: bool, limit: int, offset: int
    ) -> MemoryPage:
        """Return one page of the memories that match the filter, by the time they happened."""
        return await self._store.page(visibility, filter, newest_first=newest_first, limit=limit, offset=offset)

    async def history(
        self, visibility: Visibility, *, memory_id: str | None = None, key: str | None = None
    ) -> Sequence[Memory]:
        """Return all versions of a memory, named by id or key, earliest valid first."""
        if memory_id is None:
            memory_id = (await self._keyed(key or "", visibility, None)).id
        found = await self._store.history(visibility, memory_id)
        if not found:
            raise unknown_memory(memory_id)
        return found

    async def forget(self, memory_id: str, visibility: Visibility) -> Memory:
        """Erase one memory by its id and return it. Raises `NotFound` if it is not visible."""
        if erased := await self._store.delete(visibility, [memory_id]):
            return erased[0]
        raise unknown_memory(memory_id)

    async def forget_key(self, key: str, visibility: Visibility, scope: Scope | None) -> Memory:
        """Erase the memory with this key. Raises `InvalidRequest` if the key is used in several scopes."""
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
            raise NotFound(f"no memory has the key {key[:80]!r} here", hint="recall shows keys")
        return found[0]

    async def derive(self, memories: Sequence[Memory]) -> list[SearchData]:
        """Compute the search data (terms, traits, vectors) of each memory."""
        return await self._derive(memories, await self._models.current(), allow_missing_vectors=False)

    async def _derive(
        self, memories: Sequence[Memory], models: ActiveModels, *, allow_missing_vectors: bool
    ) -> list[SearchData]:
        """Like `derive`, with these models. With `allow_missing_vectors`, a failing embedder leaves vectors empty."""
        contents = [memory.content for memory in memories]
        model, vectors = await _vectors(contents, models.active, allow_missing=allow_missing_vectors)
        to_come: Sequence[tuple[str, bytes] | None] = [None] * len(memories)
        if models.next is not None:
            name, made = await _vectors(contents, models.next, allow_missing=True)
            to_come = [(name, vector) for vector in made] if name else to_come
        if sum(map(len, contents)) <= INLINE_CHARACTERS:
            found = [_memory_passages(memory) for memory in memories]
        else:
            found = await anyio.to_thread.run_sync(lambda: [_memory_passages(memory) for memory in memories])
        return [
            SearchData(passages=own, traits=find_traits(memory.content), vector=vector, model=model, next_vector=later)
            for memory, own, vector, later in zip(memories, found, vectors, to_come, strict=True)
        ]


def _without_weak_cosines(pool: CandidatePool, least: float | None) -> CandidatePool:
    """Remove the cosine of the candidates whose similarity to the question is below `least`."""
    if least is None:
        return pool
    weak = pool.cosines < least
    return replace(
        pool,
        cosines=np.where(weak, np.float32(np.nan), pool.cosines),
        z_scores=np.where(weak, np.float32(np.nan), pool.z_scores),
    )


async def _vectors(contents: Sequence[str], model: LoadedModel, *, allow_missing: bool) -> tuple[str, Sequence[bytes]]:
    """Return the model's name and the vectors; with `allow_missing`, empty ones if the embedder fails."""
    try:
        return model.embedder.model, await model.embedder.embed(contents)
    except (Unavailable, InvalidRequest) as error:
        if not allow_missing:
            raise
        logger.warning("stored without vectors", extra={"memories": len(contents), "problem": error.message})
        return "", [b""] * len(contents)


def unknown_memory(memory_id: str) -> NotFound:
    return NotFound(
        f"there is no memory {memory_id[:80]!r} here",
        hint="recall shows ids; a memory of another project or session can only be seen and forgotten there",
    )


@lru_cache(maxsize=256)  # clients use few combinations of fields
def _given(drafted: frozenset[str]) -> frozenset[str]:
    """Map the fields that a caller set in a draft to the fields of the memory."""
    given = (drafted | _CONTENT) - _CODE_FIELDS
    return given | _LINKS if "about" in drafted else given


def _digest(drafts: Sequence[Draft], project_id: str | None) -> str:
    """Return a digest of the arguments of a call, independent of the order of names."""
    values = [project_id, *map(_digest_fields, drafts)]
    return sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()


def _digest_fields(draft: Draft) -> dict[str, Any]:
    """Return the fields to digest; without `about`, the fields that older versions digested."""
    values = asdict(draft) | {"given": sorted(draft.given)}
    del values["code_reader"]
    return values if draft.about else {name: value for name, value in values.items() if name not in _CODE_FIELDS}


class _Stopwatch:
    """Measures the duration of consecutive stages."""

    def __init__(self) -> None:
        self._since = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage] = now - self._since
        self._since = now


def _build_memory(draft: Draft, project_id: str | None, now: datetime) -> Memory:
    scope = draft.scope or (Scope.PROJECT if project_id else Scope.GLOBAL)
    if scope is Scope.PROJECT and project_id is None:
        raise InvalidRequest(
            "no project is active, and scope project needs one",
            hint="call set_project first, name a project, or use scope global",
        )
    if scope is Scope.SESSION and draft.session_id is None:
        raise InvalidRequest("scope session needs a session_id", hint="give the session's id")
    content = {name: getattr(draft, name) for name in _CONTENT_FIELDS}
    content["subject"] = " ".join(draft.subject.casefold().split()) if draft.subject else None
    return Memory(
        **content,
        id=new_id("mem"),
        scope=scope,
        project_id=None if scope is Scope.GLOBAL else project_id,
        session_id=draft.session_id,
        recorded_at=now,
        updated_at=now,
    )


def _memory_passages(memory: Memory) -> tuple[tuple[str, ...], ...]:
    """Return the search terms of a memory: of its content, then of its labels and speaker."""
    labels = "\n".join(label for label in (memory.speaker, memory.key, memory.category, *memory.tags) if label)
    return (*passages(memory.content), _label_terms(labels)) if labels else passages(memory.content)


@lru_cache(maxsize=4096)
def _label_terms(labels: str) -> tuple[str, ...]:
    return terms(labels)
