"""Values for the store contract, made in one line."""

import struct
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.domain.identifiers import new_id
from recollect.domain.memories import CandidateQuery, Derived, Memory, MemoryFilter, MemoryWrite
from recollect.domain.scopes import Scope, Visibility

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
