"""Store, read and search the working memory of a session."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import NotFound
from scrubjay.core.ids import new_id
from scrubjay.core.policies import SecretsPolicy
from scrubjay.features.memory.secret_policy import guard, guard_data
from scrubjay.features.memory.service import INLINE_CHARACTERS
from scrubjay.features.working_memory.consolidation import LOOKAHEAD, Consolidator
from scrubjay.features.working_memory.models import (
    ConsolidationMark,
    ItemDetails,
    WorkingItem,
    WorkingScope,
    WorkingUsage,
)
from scrubjay.features.working_memory.store import WorkingStore
from scrubjay.search_index.terms import query_terms, terms

# Shorter parts of words are in almost every text.
MIN_PART_LENGTH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem(ItemDetails):
    """An item to store."""

    ttl_seconds: float | None = None
    """Seconds until it expires; default: the setting."""
    candidate: bool | None = None
    """True: it becomes a memory. False: never. None: decided by importance."""


@dataclass(frozen=True, slots=True)
class PutOutcome:
    """A stored item, and the items evicted for it."""

    item: WorkingItem
    evicted: Sequence[WorkingItem]
    """Items that are not memories and do not wait to become one are deleted."""
    masked: Sequence[str] = ()
    """Kinds of secrets that were masked."""


@dataclass(frozen=True, slots=True)
class ItemMatch:
    """An item that matches a query."""

    item: WorkingItem
    score: float
    """Share of the query's words that match, 0 to 1, weighted by rarity; 1 if the query is a substring."""
    words: Sequence[str]
    """Matching words as indexed terms."""


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

    async def put(self, scope: WorkingScope, new: NewItem) -> PutOutcome:
        """Store an item; durable on return.

        Beyond the capacity the item that expires first is evicted, items that wait to become memories last. A marked
        item that would expire before the next sweep becomes a memory immediately.
        """
        guarded = guard(new.content, self._secrets)
        now = self._clock()
        lifetime = timedelta(seconds=self.ttl_seconds if new.ttl_seconds is None else new.ttl_seconds)
        item = WorkingItem(
            id=new_id("wrk"),
            scope=scope,
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
        if (item.is_waiting and lifetime <= LOOKAHEAD) or any(gone.is_waiting for gone in evicted):
            swept = await self._consolidator.sweep(scope)
            item, *evicted = [
                replace(one, memory_id=swept.memories.get(one.id, one.memory_id)) for one in (item, *evicted)
            ]
            evicted = [replace(one, mark=ConsolidationMark.NONE) if one.id in swept.dropped else one for one in evicted]
        return PutOutcome(item, evicted, guarded.masked)

    async def get(self, scope: WorkingScope, item_id: str) -> WorkingItem:
        """Return one item and count the read."""
        found = await self._store.access(scope, [item_id], self._clock())
        return _require(found[0] if found else None, item_id)

    async def recent(self, scope: WorkingScope, limit: int) -> Sequence[WorkingItem]:
        """Return the newest items, newest first."""
        return await self._store.items(scope, self._clock(), limit)

    async def search(self, scope: WorkingScope, query: str, limit: int) -> Sequence[ItemMatch]:
        """Return items with words of the query, best first, then newest; count a read of each."""
        now = self._clock()
        items = await self._store.items(scope, now)
        is_brief = sum(len(item.content) for item in items) <= INLINE_CHARACTERS
        found = _matches(query, items) if is_brief else await anyio.to_thread.run_sync(_matches, query, items)
        matches = found[:limit]
        read = {item.id: item for item in await self._store.access(scope, [match.item.id for match in matches], now)}
        return [ItemMatch(read[match.item.id], match.score, match.words) for match in matches if match.item.id in read]

    async def mark(self, scope: WorkingScope, item_id: str, *, candidate: bool) -> WorkingItem:
        """Mark an item to become a memory regardless of its score, or never."""
        mark = ConsolidationMark.CALLER if candidate else ConsolidationMark.NONE
        return _require(await self._store.mark(scope, item_id, mark, self._clock()), item_id)

    async def delete(self, scope: WorkingScope, item_id: str) -> WorkingItem:
        """Delete an item; a memory it has become remains."""
        return _require(await self._store.delete(scope, item_id, self._clock()), item_id)

    async def clear(self, scope: WorkingScope) -> Sequence[WorkingItem]:
        """Delete all items of a session; memories they have become remain."""
        return await self._store.clear(scope, self._clock())

    async def clear_expired(self, scope: WorkingScope) -> int:
        """Consolidate due items, then delete expired ones; return the number deleted."""
        return (await self._consolidator.sweep(scope)).erased

    async def usage(self, scope: WorkingScope) -> WorkingUsage:
        return await self._store.usage(scope, self._clock())

    def _mark(self, new: NewItem) -> ConsolidationMark:
        if new.candidate is not None:
            return ConsolidationMark.CALLER if new.candidate else ConsolidationMark.NONE
        return (
            ConsolidationMark.IMPORTANCE if new.importance >= self._consolidator.threshold else ConsolidationMark.NONE
        )


def _require(item: WorkingItem | None, item_id: str) -> WorkingItem:
    if item is None:
        raise NotFound(
            f"there is no item {item_id[:80]!r} in the working memory of this session",
            hint="it may have expired; working_recent lists the items, recall finds those that became memories",
        )
    return item


def _matches(query: str, items: Sequence[WorkingItem]) -> list[ItemMatch]:
    """Return items with at least one word of the query, or a part of a word, best first; ties keep their order."""
    wanted, literal = query_terms(query), query.strip().casefold()
    texts = [item.content.casefold() for item in items]
    had = [
        {term for term in wanted if term in found or (len(term) >= MIN_PART_LENGTH and term in text)}
        for text, found in ((text, frozenset(terms(text))) for text in texts)
    ]
    # Rare words weigh more, as in recall.
    worth = {term: math.log(1 + len(items) / (1 + sum(term in words for words in had))) for term in wanted}
    matches: list[ItemMatch] = []
    for item, text, words in zip(items, texts, had, strict=True):
        if literal and literal in text:
            matches.append(ItemMatch(item, 1.0, sorted(words)))
        elif words:
            matches.append(ItemMatch(item, sum(worth[term] for term in words) / sum(worth.values()), sorted(words)))
    return sorted(matches, key=lambda match: -match.score)
