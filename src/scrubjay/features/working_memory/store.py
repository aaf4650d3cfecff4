"""What a backend must offer to keep working memory."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from scrubjay.features.working_memory.models import Candidate, Desk, Mark, Tally, WorkingItem


class WorkingStore(Protocol):
    """Keeps items until they expire; what has expired at `now` is nowhere to be seen.

    An item that is just being moved can neither be marked nor erased: that is `Busy`, and nothing is changed.
    """

    async def put(self, item: WorkingItem, capacity: int) -> Sequence[WorkingItem]:
        """Keep an item, durable when this returns; those that had to give way for it, soonest to expire first.

        Items that wait to become memories go last, and they are not erased: they expire at once.
        """
        ...

    async def access(self, desk: Desk, item_ids: Sequence[str], now: datetime) -> Sequence[WorkingItem]:
        """Those of these items that are there, in the order of the ids, each counted as read once more."""
        ...

    async def items(self, desk: Desk, now: datetime, limit: int | None = None) -> Sequence[WorkingItem]:
        """What lies there, the item put last first."""
        ...

    async def mark(self, desk: Desk, item_id: str, mark: Mark, now: datetime) -> WorkingItem | None: ...

    async def delete(self, desk: Desk, item_id: str, now: datetime) -> WorkingItem | None:
        """Erase an item; what it was."""
        ...

    async def clear(self, desk: Desk, now: datetime) -> Sequence[WorkingItem]:
        """Erase everything there, also what has expired."""
        ...

    async def clear_expired(self, desk: Desk | None, now: datetime, without: Collection[str] = ()) -> int:
        """Erase what has expired, there or (None) everywhere, and need not wait; how many items that were.

        Items that wait to become memories are left, except for those in `without`, which have had their chance.
        """
        ...

    async def tally(self, desk: Desk, now: datetime) -> Tally: ...

    # -- how items become memories -------------------------------------------------------------------

    async def candidates(self, desk: Desk | None, limit: int) -> Sequence[Candidate]:
        """Items that wait to become memories, there or (None) everywhere, soonest to expire first, expired or not.

        Those of a move come all or not at all, even if there are then more than `limit`.
        """
        ...

    async def begin_moves(
        self, moves: Mapping[str, Sequence[str]], now: datetime, until: datetime
    ) -> Mapping[str, Sequence[str]]:
        """Begin these moves (an id, and the ids of its items), and have them for oneself until then; those begun.

        A move is begun with all of its items or not at all: not when one of them is gone, does not wait any more, or
        belongs to a move that is another one or that somebody else is at.
        """
        ...

    async def finish_move(self, move_id: str, memory_id: str) -> None:
        """Note which memory the items of a move have become."""
        ...

    async def release_move(self, move_id: str) -> None:
        """Let anybody go on with a move at once; its items stay together, because it may have been carried out."""
        ...
