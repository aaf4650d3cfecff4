"""The one memory record, what a write of it is, and what became of the write."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from recollect.domain.scopes import Scope, Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing remembered."""

    id: str
    scope: Scope
    project_id: str | None
    session_id: str | None
    content: str
    key: str | None = None
    category: str | None = None
    importance: float = 0.5
    confidence: float = 1.0
    speaker: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    occurred_at: datetime | None = None
    recorded_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """What search needs of a memory's content; can always be made again from it."""

    terms: tuple[str, ...]
    vector: bytes
    """256 little-endian float16 values, or empty when the text has no known word."""
    model: str


# What names a memory under its key; a later write of the same key never changes these.
_IDENTITY = frozenset({"id", "scope", "project_id", "key", "recorded_at"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWrite:
    """A memory to keep. Under a key already used in its scope, only the `given` fields change."""

    memory: Memory
    derived: Derived
    given: frozenset[str]
    terms_of: Callable[[Memory], tuple[str, ...]] | None = None
    """Finds the terms of a revised memory, which has labels that this write does not name."""

    def revise(self, existing: Memory) -> Memory:
        """The existing memory with what this write names; what it does not name stays."""
        changed = {name: getattr(self.memory, name) for name in self.given - _IDENTITY}
        return replace(existing, **changed, updated_at=self.memory.updated_at)

    def rederive(self, revised: Memory) -> Derived:
        """What search needs of the memory as revised."""
        return replace(self.derived, terms=self.terms_of(revised)) if self.terms_of else self.derived


@dataclass(frozen=True, slots=True)
class Stored:
    """A new memory was kept."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class Updated:
    """The memory under this key was changed in place."""

    memory: Memory


WriteOutcome = Stored | Updated


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """What a memory must be to be considered at all; an empty filter lets everything visible through."""

    scope: Scope | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    """All of these."""
    speaker: str | None = None
    key: str | None = None
    from_session: str | None = None
    occurred_after: datetime | None = None
    """Inclusive; a memory without `occurred_at` counts at its `recorded_at`."""
    occurred_before: datetime | None = None
    """Exclusive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateQuery:
    """What to look for in a store: words for its text index, a vector for its meaning."""

    visibility: Visibility
    filter: MemoryFilter
    terms: tuple[str, ...]
    vector: bytes
    model: str
    limit: int
    """How many candidates each of the two ways may bring."""


class Candidate(NamedTuple):
    """A memory that may answer, with what the store's indexes say of it; not yet ranked, and not yet read."""

    handle: int
    """By which it can be chosen; what was kept later has a greater one."""
    bm25: float
    """The text index's score, higher is better; 0 when no term matches."""
    cosine: float | None
    """Similarity of meaning, -1 to 1; None when the two cannot be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatePool:
    """All candidates of one query, and what is needed to read their scores."""

    candidates: tuple[Candidate, ...]
    texts: int
    """How many texts the index holds."""
    frequencies: Mapping[str, int]
    """For each query term, in how many texts it occurs."""


Choose = Callable[[CandidatePool], Sequence[int]]
"""Ranks candidates: the handles of those wanted."""
