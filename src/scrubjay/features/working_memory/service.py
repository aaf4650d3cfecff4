"""Working memory: what an agent has in mind in one session."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import NotFound
from scrubjay.core.ids import new_id
from scrubjay.core.policies import SecretsPolicy
from scrubjay.features.memory.secret_policy import guard, guard_data
from scrubjay.features.memory.service import INLINE_CHARACTERS
from scrubjay.features.working_memory.consolidation import AHEAD, Consolidator
from scrubjay.features.working_memory.models import Desk, Mark, Tally, WorkingItem
from scrubjay.features.working_memory.store import WorkingStore
from scrubjay.search_index.terms import question_terms, terms

# Shorter parts of words are in almost every text.
LEAST_PART = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem:
    """What somebody wants to have in mind."""

    content: str
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    importance: float = 0.5
    source: str = "unknown"
    tool_name: str | None = None
    client: str | None = None
    ttl_seconds: float | None = None
    """How long; by default as long as the settings say."""
    candidate: bool | None = None
    """Whether it is to become a memory; by default when it is important enough."""


@dataclass(frozen=True, slots=True)
class Put:
    """An item that was put, and those that had to give way for it."""

    item: WorkingItem
    evicted: Sequence[WorkingItem]
    """Those that are neither memories nor wait to become some are gone."""
    masked: Sequence[str] = ()
    """The kinds of the secrets that a mark stands for now."""


@dataclass(frozen=True, slots=True)
class Match:
    """An item that has words of a question."""

    item: WorkingItem
    score: float
    """The share of what the question's words tell that it has; 1 when it has them all, or the question as it stands."""
    words: Sequence[str]
    """Those it has, as the index knows them."""


class WorkingMemory:
    """The working memory of one store."""

    def __init__(
        self,
        store: WorkingStore,
        consolidator: Consolidator,
        *,
        capacity: int = 100,
        ttl_seconds: float = 300,
        secrets: SecretsPolicy = SecretsPolicy.MASK,
        clock: Clock = system_clock,
    ) -> None:
        self._store = store
        self._consolidator = consolidator
        self._secrets = secrets
        self._clock = clock
        self.capacity = capacity
        self.ttl_seconds = ttl_seconds

    async def put(self, desk: Desk, new: NewItem) -> Put:
        """Have something in mind; durable when this returns.

        Over the capacity the item that expires soonest gives way, those that wait to become memories last. What would
        not live until somebody looks after it becomes a memory at once, if it is to become one.
        """
        guarded = guard(new.content, self._secrets)
        now = self._clock()
        lifetime = timedelta(seconds=self.ttl_seconds if new.ttl_seconds is None else new.ttl_seconds)
        item = WorkingItem(
            id=new_id("wrk"),
            desk=desk,
            content=guarded.text,
            context=guard_data(new.context, self._secrets),
            importance=new.importance,
            source=new.source,
            tool_name=new.tool_name,
            client=new.client,
            created_at=now,
            expires_at=now + lifetime,
            accessed_at=now,
            mark=self._mark(new),
        )
        evicted = await self._store.put(item, self.capacity)
        if (item.waits and lifetime <= AHEAD) or any(gone.waits for gone in evicted):
            tended = await self._consolidator.tend(desk)
            item, *evicted = [
                replace(one, memory_id=tended.memories.get(one.id, one.memory_id)) for one in (item, *evicted)
            ]
            evicted = [replace(one, mark=Mark.NONE) if one.id in tended.given_up else one for one in evicted]
        return Put(item, evicted, guarded.masked)

    async def get(self, desk: Desk, item_id: str) -> WorkingItem:
        """One item, counted as read once more."""
        found = await self._store.access(desk, [item_id], self._clock())
        return _found(found[0] if found else None, item_id)

    async def recent(self, desk: Desk, limit: int) -> Sequence[WorkingItem]:
        """The items put last, the last one first."""
        return await self._store.items(desk, self._clock(), limit)

    async def search(self, desk: Desk, query: str, limit: int) -> Sequence[Match]:
        """Items that have words of the question, best first, then latest; each is counted as read once more."""
        now = self._clock()
        items = await self._store.items(desk, now)
        is_brief = sum(len(item.content) for item in items) <= INLINE_CHARACTERS
        found = _matches(query, items) if is_brief else await anyio.to_thread.run_sync(_matches, query, items)
        matches = found[:limit]
        read = {item.id: item for item in await self._store.access(desk, [match.item.id for match in matches], now)}
        return [Match(read[match.item.id], match.score, match.words) for match in matches if match.item.id in read]

    async def mark(self, desk: Desk, item_id: str, *, candidate: bool) -> WorkingItem:
        """Let an item become a memory whatever its score, or never."""
        mark = Mark.CALLER if candidate else Mark.NONE
        return _found(await self._store.mark(desk, item_id, mark, self._clock()), item_id)

    async def delete(self, desk: Desk, item_id: str) -> WorkingItem:
        """Erase an item; a memory that it has become stays."""
        return _found(await self._store.delete(desk, item_id, self._clock()), item_id)

    async def clear(self, desk: Desk) -> Sequence[WorkingItem]:
        """Erase all items of a session; memories that they have become stay."""
        return await self._store.clear(desk, self._clock())

    async def clear_expired(self, desk: Desk) -> int:
        """Erase what has expired, once what is to become a memory has become one; how many items that were."""
        return (await self._consolidator.tend(desk)).erased

    async def tally(self, desk: Desk) -> Tally:
        return await self._store.tally(desk, self._clock())

    def _mark(self, new: NewItem) -> Mark:
        if new.candidate is not None:
            return Mark.CALLER if new.candidate else Mark.NONE
        return Mark.IMPORTANCE if new.importance >= self._consolidator.threshold else Mark.NONE


def _found(item: WorkingItem | None, item_id: str) -> WorkingItem:
    if item is None:
        raise NotFound(
            f"there is no item {item_id[:80]!r} in the working memory of this session",
            hint="it may have expired; working_recent shows what is there, recall what became a memory",
        )
    return item


def _matches(query: str, items: Sequence[WorkingItem]) -> list[Match]:
    """The items, latest first, that have at least one word of the question, or a part of a word; best first."""
    wanted, literal = question_terms(query), query.strip().casefold()
    texts = [item.content.casefold() for item in items]
    had = [
        {term for term in wanted if term in found or (len(term) >= LEAST_PART and term in text)}
        for text, found in ((text, frozenset(terms(text))) for text in texts)
    ]
    # A word that few items have tells more, as in recall.
    worth = {term: math.log(1 + len(items) / (1 + sum(term in words for words in had))) for term in wanted}
    matches: list[Match] = []
    for item, text, words in zip(items, texts, had, strict=True):
        if literal and literal in text:
            matches.append(Match(item, 1.0, sorted(words)))
        elif words:
            matches.append(Match(item, sum(worth[term] for term in words) / sum(worth.values()), sorted(words)))
    return sorted(matches, key=lambda match: -match.score)
