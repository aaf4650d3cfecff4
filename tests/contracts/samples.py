"""Values for the store contract, made in one line."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.domain.identifiers import new_id
from recollect.domain.memories import CandidatePool, CandidateQuery, Derived, Memory, MemoryFilter, MemoryWrite
from recollect.domain.scopes import Scope, Visibility
from recollect.storage.store import Store

NOW = datetime(2026, 3, 1, 12, 30, 15, 123457, tzinfo=UTC)
MODEL = "static-test"
EVERYTHING = MemoryFilter()
NOBODY_IN_PARTICULAR = Visibility()


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def vector(*values: float) -> bytes:
    """A vector of as many dimensions as there are values."""
    return struct.pack(f"<{len(values)}e", *values)


def write(
    content: str,
    *,
    terms: tuple[str, ...] | None = None,
    vector: bytes = b"",
    model: str = MODEL,
    given: frozenset[str] = frozenset(),
    **fields: Any,
) -> MemoryWrite:
    """A write of a global memory, unless the fields say otherwise; its terms are its words."""
    defaults: dict[str, Any] = {
        "id": new_id("mem"),
        "scope": Scope.GLOBAL,
        "project_id": None,
        "session_id": None,
        "recorded_at": NOW,
        "updated_at": NOW,
    }
    memory = Memory(content=content, **(defaults | fields))
    found = tuple(content.lower().split()) if terms is None else terms
    return MemoryWrite(
        memory=memory, derived=Derived(terms=found, vector=vector, model=model), given=given | {"content"}
    )


def query(
    *terms: str,
    vector: bytes = b"",
    model: str = MODEL,
    visibility: Visibility = NOBODY_IN_PARTICULAR,
    filter: MemoryFilter = EVERYTHING,
    limit: int = 10,
) -> CandidateQuery:
    return CandidateQuery(visibility=visibility, filter=filter, terms=terms, vector=vector, model=model, limit=limit)


@dataclass(frozen=True)
class Found:
    """A candidate with the memory behind its handle."""

    memory: Memory
    bm25: float
    cosine: float | None


@dataclass(frozen=True)
class FoundPool:
    candidates: tuple[Found, ...]
    texts: int
    frequencies: Mapping[str, int]


async def search(store: Store, asked: CandidateQuery) -> FoundPool:
    """What a store finds, with every candidate chosen."""
    offered: list[CandidatePool] = []

    def choose_all(pool: CandidatePool) -> list[int]:
        offered.append(pool)
        return [candidate.handle for candidate in pool.candidates]

    whole = await store.memories.search(asked, choose_all)
    (pool,) = offered
    return FoundPool(
        tuple(Found(whole[candidate.handle], candidate.bm25, candidate.cosine) for candidate in pool.candidates),
        pool.texts,
        pool.frequencies,
    )
