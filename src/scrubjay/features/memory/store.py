"""What a backend must offer to keep memories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from scrubjay.core.policies import Allowance
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import (
    CandidateQuery,
    Choose,
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


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """How much is kept, over all scopes."""

    memories: int
    indexed: int
    """Memories that the text index holds."""
    vectors: dict[str, int]
    """Vectors by the model that made them."""


@dataclass(frozen=True, slots=True)
class DerivedFile:
    """A file that can be made again from the store."""

    name: str
    rows: int
    bytes: int


class MemoryStore(Protocol):
    """Keeps memories with what search needs of them, always in one transaction."""

    async def put(self, writes: Sequence[MemoryWrite], allowance: Allowance | None = None) -> Sequence[WriteOutcome]:
        """Keep all or none, durable when this returns; the outcomes are in the order of the writes.

        `QuotaExceeded`, and nothing is kept, when a client would then keep more than it is allowed.

        One key is one memory among those of the same scope, project and (for session scope) session: a later write of
        it, also in the same call, revises it in place. When that gives a content, what is derived is replaced too, and
        what was there before is kept as a version without a key. A new memory about a subject takes the place of others
        about it as `domain.truth` judges. `SourceGone`, and nothing is kept, when something is gone that a write is
        made of.
        """
        ...

    async def put_once(
        self, writes: Sequence[MemoryWrite], once: Once, now: datetime, allowance: Allowance | None = None
    ) -> Written:
        """The same, unless it was done before with this client and key: then what became of it then.

        `Conflict` when the key was used for another write. Both are noted in one transaction with the writes.
        """
        ...

    async def get(self, visibility: Visibility, memory_id: str) -> Memory | None:
        """The memory with this id; None when there is none, or none that is visible."""
        ...

    async def find(self, visibility: Visibility, filter: MemoryFilter, limit: int) -> Sequence[Memory]:
        """What passes the filter, the one kept last first."""
        ...

    async def page(
        self, visibility: Visibility, filter: MemoryFilter, *, newest_first: bool, limit: int, offset: int
    ) -> Page:
        """A page of what passes the filter, by the time it happened."""
        ...

    async def history(self, visibility: Visibility, memory_id: str) -> Sequence[Memory]:
        """The memory, all that took its place and all whose place it took, what was true first before the others."""
        ...

    async def protect(self, visibility: Visibility, memory_ids: Sequence[str], protected: bool) -> Sequence[Memory]:
        """Keep visible memories from fading, or no more; these, as they are now."""
        ...

    async def erase(self, memory_ids: Sequence[str]) -> int:
        """Erase these, whoever may see them, unless they are protected, also from every index; how many there were.

        For maintenance only.
        """
        ...

    async def delete(self, visibility: Visibility, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Erase all or none of these, also from every index, with what they were before.

        What gave way to one of them is true again. The visible ones that were there are returned, in the order of the
        ids; others are left alone.
        """
        ...

    async def search(self, query: CandidateQuery, choose: Choose) -> Mapping[int, Memory]:
        """Offer what may answer to `choose`, with what is known of it and around it; what it chose, by handle.

        Ranking is not decided here. Candidates are the best by text and those next to them, the nearest in meaning, and
        what happened at the moments that the question names. All is read from one state of the store, which has every
        write that any process was told is durable. `choose` may run on another thread than the caller's.
        """
        ...

    async def speakers(self, visibility: Visibility, model: str) -> Sequence[str]:
        """Who speaks in what can be seen, in no order, as the search with this model's vectors knows it."""
        ...

    async def note_uses(self, uses: Mapping[str, int], used_at: datetime) -> None:
        """Count these ids as answers once more, so many times each; those that are gone are passed over."""
        ...

    def is_scattered(self) -> bool:
        """Whether what this process searches in has so many parts, or so much that is dead, that searches suffer."""
        ...

    async def compact(self) -> Sequence[DerivedFile]:
        """Write every derived file anew, in one piece and without what is dead, while searches go on.

        Nothing of the store is changed; what others write to the old files meanwhile is not lost, only read again.
        """
        ...

    async def counts(self) -> MemoryCounts: ...

    async def kinds(self) -> Mapping[Kind, int]:
        """How many memories of each kind are held true, over all scopes."""
        ...

    async def scan(self, after: str | None, limit: int) -> Sequence[Memory]:
        """Every memory of every scope in the order of their ids, for maintenance only; continue after the last id.

        That id need not exist any more.
        """
        ...

    async def begin_rebuild(self, *, resume: bool) -> str | None:
        """Start a second text index beside the one in use, or go on with it; the id to continue after.

        Until it is finished, every write and deletion goes to both, and answers come from the one in use.
        """
        ...

    async def rebuild(self, batch: Sequence[tuple[str, Derived]]) -> None:
        """Put these into the second index and replace their vectors.

        Ids deleted meanwhile are passed over, and so are those that the second index already holds, because these were
        written later than they were scanned. `Conflict` when no rebuild is under way.
        """
        ...

    async def finish_rebuild(self) -> Sequence[DerivedFile]:
        """Exchange the indexes in one step and write every derived file anew.

        `Conflict`, and nothing is changed, when no rebuild is under way or it does not hold every memory yet.
        """
        ...
