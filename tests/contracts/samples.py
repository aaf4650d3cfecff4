"""Sample values for the store contract."""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from scrubjay.app.store import Store
from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.candidates import CandidatePool, CandidateQuery
from scrubjay.features.memory.links import CodeLink, CodeState, LinkOrigin
from scrubjay.features.memory.models import Memory, MemoryFilter
from scrubjay.features.memory.store import SearchView
from scrubjay.features.memory.writes import MemoryWrite, SearchData
from scrubjay.search_index.neighbourhood import REACH

NOW = datetime(2026, 3, 1, 12, 30, 15, 123457, tzinfo=UTC)
MODEL = "static-test"
EVERYTHING = MemoryFilter()
GLOBAL_ONLY = Visibility()


class ManualClock:
    """A clock that only moves when the test moves it."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def vector(*values: float) -> bytes:
    """Return a vector with these values."""
    return struct.pack(f"<{len(values)}e", *values)


def link(name: str, *, text: str = "", origin: LinkOrigin = LinkOrigin.NAMED, root: str = "/apollo") -> CodeLink:
    """Return a link to `path::symbol`; unresolved if it has no text."""
    path, _, symbol = name.partition("::")
    code = CodeState(
        path=path, symbol=symbol, blob="b" * 40, digest="d" * 64, commit="c" * 40, first_line=3, last_line=9, text=text
    )
    return CodeLink(root=root, name=name, origin=origin, code=code if text else None, linked_at=NOW)


def write(
    content: str,
    *,
    terms: tuple[str, ...] | None = None,
    vector: bytes = b"",
    model: str = MODEL,
    traits: int = 0,
    given: frozenset[str] = frozenset(),
    **fields: Any,
) -> MemoryWrite:
    """Return a write of a global memory whose terms are its words; fields override the defaults."""
    defaults: dict[str, Any] = {
        "id": new_id("mem"),
        "scope": Scope.GLOBAL,
        "project_id": None,
        "session_id": None,
        "recorded_at": NOW,
        "updated_at": NOW,
    }
    memory = Memory(content=content, **(defaults | fields))
    words = tuple(content.lower().split()) if terms is None else terms
    return MemoryWrite(
        memory=memory,
        derived=SearchData(passages=(words,), traits=traits, vector=vector, model=model),
        given=given | {"content"},
    )


def query(
    *terms: str,
    vector: bytes = b"",
    model: str = MODEL,
    visibility: Visibility = GLOBAL_ONLY,
    filter: MemoryFilter = EVERYTHING,
    limit: int = 10,
    moments: tuple[tuple[datetime, datetime], ...] = (),
    with_uses: bool = False,
) -> CandidateQuery:
    return CandidateQuery(
        visibility=visibility,
        filter=filter,
        choose_terms=lambda speakers: terms,
        vector=vector,
        model=model,
        limit=limit,
        time_spans=moments,
        with_uses=with_uses,
        now=NOW,
    )


@dataclass(frozen=True)
class CandidateMemory:
    """A candidate with the memory behind its handle."""

    memory: Memory
    bm25: float
    cosine: float | None


@dataclass(frozen=True)
class FoundPool:
    candidates: tuple[CandidateMemory, ...]
    texts: int
    frequencies: Mapping[str, int]


async def search(store: Store, query: CandidateQuery) -> FoundPool:
    """Return all candidates of a query: keyword matches first, then the nearest vectors."""

    def read_all(view: SearchView) -> tuple[CandidatePool, Mapping[int, Memory]]:
        pool = view.candidates()
        return pool, view.read(pool.handles.tolist())

    pool, memories = await store.memories.in_snapshot(query, read_all)
    bm25 = pool.text_bm25[pool.neighbours[:, REACH]].tolist()
    cosines = [None if math.isnan(cosine) else cosine for cosine in pool.cosines.tolist()]
    scored = zip(pool.handles.tolist(), bm25, cosines, strict=True)
    candidates = [CandidateMemory(memories[handle], words, meaning) for handle, words, meaning in scored]
    candidates.sort(key=lambda one: (-one.bm25, -math.inf if one.cosine is None else -one.cosine))
    return FoundPool(
        tuple(candidates), pool.text_count, dict(zip(query.choose_terms([]), pool.frequencies, strict=True))
    )


async def candidate_pool(store: Store, query: CandidateQuery) -> CandidatePool:
    """Return the candidate pool of the store."""
    return await store.memories.in_snapshot(query, lambda view: view.candidates())
