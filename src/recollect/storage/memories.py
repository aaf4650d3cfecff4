"""What a backend must offer to keep memories."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.domain.memories import (
    CandidatePool,
    CandidateQuery,
    Derived,
    Memory,
    MemoryFilter,
    MemoryWrite,
    WriteOutcome,
)
from recollect.domain.scopes import Visibility


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

    async def put(self, writes: Sequence[MemoryWrite]) -> Sequence[WriteOutcome]:
        """Keep all or none, durable when this returns. A key used before in the same scope is updated in place."""
        ...

    async def get(self, visibility: Visibility, memory_id: str) -> Memory | None: ...

    async def find(self, visibility: Visibility, filter: MemoryFilter, limit: int) -> Sequence[Memory]:
        """What passes the filter, newest first."""
        ...

    async def delete(self, visibility: Visibility, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Erase all or none of these, also from every index. The visible ones that were there are returned."""
        ...

    async def candidates(self, query: CandidateQuery) -> CandidatePool:
        """The best by text and the best by meaning, each with both scores; final ranking is not decided here."""
        ...

    async def counts(self) -> MemoryCounts: ...

    async def scan(self, after: str | None, limit: int) -> Sequence[Memory]:
        """Every memory of every scope in the order kept, for maintenance only; continue after the last id."""
        ...

    async def begin_rebuild(self, *, resume: bool) -> str | None:
        """Start a second text index beside the one in use, or go on with it; the id to continue after."""
        ...

    async def rebuild(self, batch: Sequence[tuple[str, Derived]]) -> None:
        """Put these into the second index and replace their vectors; ids deleted meanwhile are passed over."""
        ...

    async def finish_rebuild(self) -> Sequence[DerivedFile]:
        """Exchange the indexes in one step and write every derived file anew."""
        ...
