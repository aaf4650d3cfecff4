"""Storage interface of working memory."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from scrubjay.features.working_memory.models import (
    ConsolidationCandidate,
    ConsolidationMark,
    WorkingItem,
    WorkingScope,
    WorkingUsage,
)


class WorkingStore(Protocol):
    """Stores items until they expire; items expired at `now` are not returned.

    Marking or deleting an item that is being moved raises `Busy` and changes nothing.
    """

    async def put(self, item: WorkingItem, capacity: int) -> Sequence[WorkingItem]:
        """Store an item, durable on return; return the evicted items, soonest to expire first.

        Items that wait to become memories are evicted last; they are not deleted but expire immediately.
        """
        ...

    async def access(self, scope: WorkingScope, item_ids: Sequence[str], now: datetime) -> Sequence[WorkingItem]:
        """Return the existing items in the order of the ids and count a read of each."""
        ...

    async def items(self, scope: WorkingScope, now: datetime, limit: int | None = None) -> Sequence[WorkingItem]:
        """Return the items of a scope, newest first."""
        ...

    async def mark(
        self, scope: WorkingScope, item_id: str, mark: ConsolidationMark, now: datetime
    ) -> WorkingItem | None: ...

    async def delete(self, scope: WorkingScope, item_id: str, now: datetime) -> WorkingItem | None:
        """Delete and return an item."""
        ...

    async def clear(self, scope: WorkingScope, now: datetime) -> Sequence[WorkingItem]:
        """Delete and return all items of a scope, including expired ones."""
        ...

    async def clear_expired(self, scope: WorkingScope | None, now: datetime, without: Collection[str] = ()) -> int:
        """Delete expired items of a scope, or of all (None); return the number.

        Items that wait to become memories remain, except for those in `without`.
        """
        ...

    async def usage(self, scope: WorkingScope, now: datetime) -> WorkingUsage: ...

    # -- consolidation -------------------------------------------------------------------------------

    async def candidates(self, scope: WorkingScope | None, limit: int) -> Sequence[ConsolidationCandidate]:
        """Return items that wait to become memories, expired or not, soonest to expire first; None: of all scopes.

        The items of a move are returned all or none, even beyond `limit`.
        """
        ...

    async def begin_moves(
        self, moves: Mapping[str, Sequence[str]], now: datetime, until: datetime
    ) -> Mapping[str, Sequence[str]]:
        """Lease these moves (move id to item ids) until `until`; return those that were leased.

        A move is leased with all of its items or not at all: not if an item is gone, no longer waits, or belongs to
        another move or to one leased by another process.
        """
        ...

    async def finish_move(self, move_id: str, memory_id: str) -> None:
        """Record the memory that the items of a move became."""
        ...

    async def release_move(self, move_id: str) -> None:
        """Release the lease of a move; its items stay together, because the memory may have been stored."""
        ...
