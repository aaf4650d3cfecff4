"""Storage interface of memories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from scrubjay.core.policies import StorageQuota
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.candidates import CandidatePool, CandidateQuery
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind, MemoryPage
from scrubjay.features.memory.writes import Idempotency, IdempotentOutcome, MemoryWrite, SearchData, WriteOutcome

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """Number of stored rows, over all scopes."""

    memories: int
    indexed: int
    """Memories in the text index."""
    vectors: dict[str, int]
    """Number of vectors by model."""


@dataclass(frozen=True, slots=True)
class DerivedFile:
    """An index file that can be rebuilt from the store."""

    name: str
    rows: int
    bytes: int


class SearchView(Protocol):
    """One state of the store, opened for one query. Use it only in the function that it was given to."""

    def candidates(self) -> CandidatePool:
        """Return the memories that may answer the query, unranked, with the values that ranking needs.

        These are the best by text and their neighbours in the session, the nearest by embedding, and the memories of
        the moments that the query names.
        """
        ...

    def read(self, handles: Sequence[int]) -> Mapping[int, Memory]:
        """Return the memories of these handles of candidates, by handle."""
        ...


class MemoryStore(Protocol):
    """Stores memories and their search data, always in one transaction."""

    async def put(self, writes: Sequence[MemoryWrite], allowance: StorageQuota | None = None) -> Sequence[WriteOutcome]:
        """Write all or none, durable on return; the outcomes are in the order of the writes.

        A key is unique within its scope, project and (for session scope) session: a later write of the same key, also
        in the same call, updates the memory in place. If it has a content, the search data is replaced too, and the
        earlier memory is kept as a version without a key. A new memory supersedes others about its subject as
        `conflicts.judge` decides.

        Raises `QuotaExceeded` above the allowance of the client and `SourceGone` if a memory in `made_of` is gone;
        nothing is written then.
        """
        ...

    async def put_once(
        self, writes: Sequence[MemoryWrite], once: Idempotency, now: datetime, allowance: StorageQuota | None = None
    ) -> IdempotentOutcome:
        """Like `put`, unless this client has used the key before: then return the earlier receipts.

        The key is recorded in the transaction of the writes. Raises `Conflict` if it was used for another write.
        """
        ...

    async def get(self, visibility: Visibility, memory_id: str) -> Memory | None:
        """Return the memory with this id; None if it does not exist or is not visible."""
        ...

    async def find(self, visibility: Visibility, filter: MemoryFilter, limit: int) -> Sequence[Memory]:
        """Return the memories that match the filter, last stored first."""
        ...

    async def page(
        self, visibility: Visibility, filter: MemoryFilter, *, newest_first: bool, limit: int, offset: int
    ) -> MemoryPage:
        """Return one page of the memories that match the filter, by the time they happened."""
        ...

    async def history(self, visibility: Visibility, memory_id: str) -> Sequence[Memory]:
        """Return all versions of the memory, including superseded and superseding ones, earliest valid first."""
        ...

    async def protect(self, visibility: Visibility, memory_ids: Sequence[str], protected: bool) -> Sequence[Memory]:
        """Set or clear the protection of visible memories from forgetting, and return them."""
        ...

    async def erase(self, memory_ids: Sequence[str]) -> int:
        """Erase unprotected memories of any scope, also from every index, and return their number.

        For maintenance only.
        """
        ...

    async def delete(self, visibility: Visibility, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Erase all visible memories among these or none, with their versions, also from every index.

        Memories that they superseded become valid again. Returns the erased memories in the order of the ids.
        """
        ...

    async def in_snapshot(self, query: CandidateQuery, work: Callable[[SearchView], T]) -> T:
        """Run `work` on one state of the store, which includes every write that any process has acknowledged.

            memories = await store.in_snapshot(query, lambda view: view.read(rank(view.candidates())))

        `work` may run on another thread than the caller's, and keeps a connection busy: it must not wait for anything.
        """
        ...

    async def speakers(self, visibility: Visibility, model: str) -> Sequence[str]:
        """Return the speakers of the visible memories that the index of this model holds, in no order."""
        ...

    async def add_uses(self, uses: Mapping[str, int], used_at: datetime) -> None:
        """Add these counts to the uses of the memories; ids that are gone are ignored."""
        ...

    def needs_compaction(self) -> bool:
        """Return True if the index files have too many segments or deleted rows for fast searches."""
        ...

    async def compact(self) -> Sequence[DerivedFile]:
        """Rewrite every derived file as one segment without deleted rows, while searches continue.

        The store is not changed; concurrent writes to the old files are not lost, only read again.
        """
        ...

    async def counts(self) -> MemoryCounts: ...

    async def kinds(self) -> Mapping[MemoryKind, int]:
        """Return the number of valid memories of each kind, over all scopes."""
        ...

    async def scan(self, after: str | None, limit: int) -> Sequence[Memory]:
        """Return memories of every scope with ids after `after`, in the order of ids. For maintenance only.

        The memory `after` need not exist any more.
        """
        ...

    async def begin_rebuild(self, *, resume: bool) -> str | None:
        """Start or resume a second text index, and return the id to continue after.

        Until it is finished, every write and deletion goes to both indexes, and searches use the first.
        """
        ...

    async def rebuild(self, batch: Sequence[tuple[str, SearchData]]) -> None:
        """Add these to the second index and replace their vectors.

        Skips ids that have been deleted, and ids that the second index already holds: they were written after the
        scan. Raises `Conflict` if no rebuild is in progress.
        """
        ...

    async def finish_rebuild(self) -> Sequence[DerivedFile]:
        """Replace the first index by the second atomically and rewrite every derived file.

        Raises `Conflict` and changes nothing if no rebuild is in progress or the second index is incomplete.
        """
        ...
