"""Values for the store contract, made in one line."""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from scrubjay.app.store import Store
from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.links import CodeLink, CodeState, LinkOrigin
from scrubjay.features.memory.models import CandidatePool, CandidateQuery, Derived, Memory, MemoryFilter, MemoryWrite
from scrubjay.search_index.neighbourhood import REACH

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


def link(name: str, *, text: str = "", origin: LinkOrigin = LinkOrigin.NAMED, root: str = "/apollo") -> CodeLink:
    """A link to `path::symbol`; to what could not be looked up, when it has no text."""
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
        memory=memory,
        derived=Derived(passages=(found,), traits=traits, vector=vector, model=model),
        given=given | {"content"},
    )


def query(
    *terms: str,
    vector: bytes = b"",
    model: str = MODEL,
    visibility: Visibility = NOBODY_IN_PARTICULAR,
    filter: MemoryFilter = EVERYTHING,
    limit: int = 10,
    moments: tuple[tuple[datetime, datetime], ...] = (),
    with_uses: bool = False,
) -> CandidateQuery:
    return CandidateQuery(
        visibility=visibility,
        filter=filter,
        terms=lambda speakers: terms,
        vector=vector,
        model=model,
        limit=limit,
        moments=moments,
        with_uses=with_uses,
        now=NOW,
    )


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
    """What a store finds, with every candidate chosen: those that match first, then the nearest in meaning."""
    offered: list[CandidatePool] = []

    def choose_all(pool: CandidatePool) -> list[int]:
        offered.append(pool)
        return pool.handles.tolist()

    whole = await store.memories.search(asked, choose_all)
    (pool,) = offered
    bm25 = pool.text_bm25[pool.around[:, REACH]].tolist()
    cosines = [None if math.isnan(cosine) else cosine for cosine in pool.cosines.tolist()]
    scored = zip(pool.handles.tolist(), bm25, cosines, strict=True)
    found = [Found(whole[handle], words, meaning) for handle, words, meaning in scored]
    found.sort(key=lambda one: (-one.bm25, -math.inf if one.cosine is None else -one.cosine))
    return FoundPool(tuple(found), pool.texts, dict(zip(asked.terms([]), pool.frequencies, strict=True)))


async def offered(store: Store, asked: CandidateQuery) -> CandidatePool:
    """The pool as the store gives it."""
    pools: list[CandidatePool] = []

    def choose_none(pool: CandidatePool) -> list[int]:
        pools.append(pool)
        return []

    assert await store.memories.search(asked, choose_none) == {}
    (pool,) = pools
    return pool
