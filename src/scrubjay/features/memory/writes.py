"""Writes of memories, their search data and their outcomes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scrubjay.core.scopes import Scope
from scrubjay.features.memory.links import CodeLink, LinkOrigin, merge_links
from scrubjay.features.memory.models import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchData:
    """Search data of a memory; can be recomputed from its content."""

    passages: tuple[tuple[str, ...], ...]
    """The search terms, grouped by passage; a long text has several passages."""
    traits: int
    """Text traits used by ranking."""
    vector: bytes
    """Little-endian float16 values; empty if the model cannot embed the text."""
    model: str
    """Empty if the embedder failed; the vector is added later."""
    next_vector: tuple[str, bytes] | None = None
    """Name and vector of the model that will replace this one."""


# Fields that a later write of the same key never changes.
_IDENTITY_FIELDS = frozenset({"id", "scope", "project_id", "key", "recorded_at"})
# Fields that describe the content: a write of new content replaces them even if it does not set them.
_CONTENT_FIELDS = frozenset({"provenance", "valid_from", "valid_until"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWrite:
    """A memory to store. If its key is already used in its scope, only the `given` fields change."""

    memory: Memory
    derived: SearchData
    given: frozenset[str]
    revises: str | None = None
    """Id of the memory to change, independent of keys."""
    passages_of: Callable[[Memory], tuple[tuple[str, ...], ...]] | None = None
    """Computes the search terms of a revised memory, whose labels this write may not contain."""
    source_ids: tuple[str, ...] = ()
    """Ids of the memories and working-memory items that it was made from; the write fails if one of them is gone."""

    def revise(self, existing: Memory) -> Memory:
        """Return the existing memory with the fields that this write sets."""
        names = self.given - _IDENTITY_FIELDS
        changed = {name: getattr(self.memory, name) for name in names}
        if "links" not in names:
            changed["links"] = merge_links(self._retained_links(existing), self.memory.links)
        if "content" in names and self.memory.content != existing.content:
            changed |= {name: getattr(self.memory, name) for name in _CONTENT_FIELDS}
            changed["valid_from"] = self.memory.valid_from or self.memory.occurred_at or self.memory.recorded_at
        return replace(existing, **changed, updated_at=self.memory.updated_at)

    def _retained_links(self, existing: Memory) -> Sequence[CodeLink]:
        """Return the links to keep: new content drops those that only the old content mentioned."""
        if "content" not in self.given or self.memory.content == existing.content:
            return existing.links
        return [link for link in existing.links if link.origin is LinkOrigin.NAMED]

    def rederive(self, revised: Memory) -> SearchData:
        """Return the search data of the revised memory."""
        return replace(self.derived, passages=self.passages_of(revised)) if self.passages_of else self.derived


@dataclass(frozen=True, slots=True)
class Stored:
    """A new memory was stored."""

    memory: Memory
    superseded: Sequence[str] = ()
    """Ids of superseded memories about the same subject."""
    conflicts: Sequence[str] = ()
    """Ids of conflicting memories about the same subject."""


@dataclass(frozen=True, slots=True)
class Updated:
    """The memory under this key was changed in place."""

    memory: Memory
    superseded: Sequence[str] = ()
    """Id of the stored earlier version."""
    conflicts: Sequence[str] = ()


WriteOutcome = Stored | Updated


@dataclass(frozen=True, slots=True)
class Idempotency:
    """Idempotency key of a write."""

    client: str
    key: str
    digest: str
    """Digest of the write: using the key for another write is an error."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """Outcome of a write, stored so that it can be returned again after the memory is gone."""

    id: str
    outcome: str
    """`stored` or `updated`."""
    scope: Scope
    project_id: str | None
    superseded: Sequence[str] = ()
    conflicts: Sequence[str] = ()
    masked: Sequence[str] = ()
    """Kinds of secrets that were replaced by placeholders."""


def make_receipt(outcome: WriteOutcome) -> Receipt:
    memory = outcome.memory
    word = "updated" if isinstance(outcome, Updated) else "stored"
    masked = tuple(memory.provenance.get("masked", ()))
    return Receipt(memory.id, word, memory.scope, memory.project_id, outcome.superseded, outcome.conflicts, masked)


@dataclass(frozen=True, slots=True)
class IdempotentOutcome:
    """Outcome of writes with an idempotency key."""

    receipts: Sequence[Receipt]
    outcomes: Sequence[WriteOutcome] | None
    """None if an earlier call did the writes; nothing changed now."""
