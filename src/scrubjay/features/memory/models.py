"""The one memory record, what a write of it is, and what became of the write."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.links import CodeLink, LinkOrigin, joined

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Kind(StrEnum):
    """What sort of thing is remembered."""

    GENERAL = "general"
    PREFERENCE = "preference"
    DECISION = "decision"
    CONTEXT = "context"
    CORRECTION = "correction"
    """What was wrong, and what is right."""
    TURN = "turn"
    """What somebody asked an agent, what it thought, and what it answered."""
    SUMMARY = "summary"
    """What a session, a day or a week came to."""


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
    kind: Kind = Kind.GENERAL
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What only memories of its kind have."""
    provenance: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Where it comes from."""
    subject: str | None = None
    """What it is about: of two memories about one subject, the later one is true."""
    valid_from: datetime | None = None
    """Since when it is true; by default since it happened."""
    valid_until: datetime | None = None
    """When it ceased to be true, or will."""
    superseded_by: str | None = None
    """The id of the memory that is true instead."""
    protected: bool = False
    """Whether it never fades away."""
    conflicts: tuple[str, ...] = ()
    """The ids of others about its subject that may be true instead, as nobody can tell; found when it is read."""
    links: tuple[CodeLink, ...] = ()
    """What it is about in code; read where somebody asks for that."""

    @property
    def true_since(self) -> datetime:
        return self.valid_from or self.occurred_at or self.recorded_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """What search needs of a memory's content; can always be made again from it."""

    passages: tuple[tuple[str, ...], ...]
    """The terms by which it can be found, a long text in parts."""
    traits: int
    """What kind of text it is, as ranking sees it."""
    vector: bytes
    """Little-endian float16 values, or empty when the text has no meaning to the model."""
    model: str
    """Empty when no vector could be had, which is then to be made up for."""
    vector_to_come: tuple[str, bytes] | None = None
    """The model that is to take the place of this one, and its vector."""


# What names a memory under its key; a later write of the same key never changes these.
_IDENTITY = frozenset({"id", "scope", "project_id", "key", "recorded_at"})
# What a later write changes also when it does not name it: these are about the content, and that is another.
_OF_THE_CONTENT = frozenset({"provenance", "valid_from", "valid_until"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWrite:
    """A memory to keep. Under a key already used in its scope, only the `given` fields change."""

    memory: Memory
    derived: Derived
    given: frozenset[str]
    revises: str | None = None
    """The id of the memory that this write changes, whatever its key."""
    passages_of: Callable[[Memory], tuple[tuple[str, ...], ...]] | None = None
    """Finds the terms of a revised memory, which has labels that this write does not name."""
    made_of: tuple[str, ...] = ()
    """The ids of memories and items of working memory whose words are in it: without one of them it is not kept."""

    def revise(self, existing: Memory) -> Memory:
        """The existing memory with what this write names; what it does not name stays."""
        names = self.given - _IDENTITY
        changed = {name: getattr(self.memory, name) for name in names}
        if "links" not in names:
            changed["links"] = joined(self._links_that_stay(existing), self.memory.links)
        if "content" in names and self.memory.content != existing.content:
            changed |= {name: getattr(self.memory, name) for name in _OF_THE_CONTENT}
            changed["valid_from"] = self.memory.valid_from or self.memory.occurred_at or self.memory.recorded_at
        return replace(existing, **changed, updated_at=self.memory.updated_at)

    def _links_that_stay(self, existing: Memory) -> Sequence[CodeLink]:
        """What the memory is still about; what only its words named before goes with these."""
        if "content" not in self.given or self.memory.content == existing.content:
            return existing.links
        return [link for link in existing.links if link.origin is LinkOrigin.NAMED]

    def rederive(self, revised: Memory) -> Derived:
        """What search needs of the memory as revised."""
        return replace(self.derived, passages=self.passages_of(revised)) if self.passages_of else self.derived


@dataclass(frozen=True, slots=True)
class Stored:
    """A new memory was kept."""

    memory: Memory
    superseded: Sequence[str] = ()
    """The ids of memories about the same subject that are not true any more."""
    conflicts: Sequence[str] = ()
    """The ids of memories about the same subject of which nobody can tell whether they or this one are true."""


@dataclass(frozen=True, slots=True)
class Updated:
    """The memory under this key was changed in place."""

    memory: Memory
    superseded: Sequence[str] = ()
    """The id under which what was there before is kept."""
    conflicts: Sequence[str] = ()


WriteOutcome = Stored | Updated


@dataclass(frozen=True, slots=True)
class Once:
    """What tells a write that was sent twice from two writes."""

    client: str
    key: str
    digest: str
    """Of what is written: the same key for something else is a mistake."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a write, as it can be told again when the memory is gone."""

    id: str
    outcome: str
    """`stored` or `updated`."""
    scope: Scope
    project_id: str | None
    superseded: Sequence[str] = ()
    conflicts: Sequence[str] = ()
    masked: Sequence[str] = ()
    """The kinds of secrets that marks stand for in what was kept."""


def receipt_of(outcome: WriteOutcome) -> Receipt:
    memory = outcome.memory
    word = "updated" if isinstance(outcome, Updated) else "stored"
    masked = tuple(memory.provenance.get("masked", ()))
    return Receipt(memory.id, word, memory.scope, memory.project_id, outcome.superseded, outcome.conflicts, masked)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of writes that are done once."""

    receipts: Sequence[Receipt]
    outcomes: Sequence[WriteOutcome] | None
    """None when they had been done before, and nothing was changed now."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some memories out of more."""

    total: int
    memories: Sequence[Memory]


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
    containing: tuple[tuple["Wording", ...], ...] = ()
    """Of each of these, at least one wording."""
    kinds: tuple[Kind, ...] = ()
    """One of these."""
    as_of: datetime | None = None
    """True at this moment; by default now."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Terms that follow one another in a text."""

    terms: tuple[str, ...]
    open_ended: bool = False
    """Whether the last one may go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateQuery:
    """What to look for in a store: words for its text index, a vector for its meaning, moments that it names."""

    visibility: Visibility
    filter: MemoryFilter
    terms: Callable[[Sequence[str]], tuple[str, ...]]
    """The words to look for, in their order, once it is known who speaks in what can be seen."""
    vector: bytes
    model: str
    limit: int
    """How many candidates each way of searching may bring."""
    moments: tuple[tuple[datetime, datetime], ...] = ()
    """Spans of time (from, until) that the question names; what happened then is a candidate too."""
    with_uses: bool = False
    """Whether it matters how often each candidate was an answer before."""
    now: datetime | None = None
    """What is not true at this moment is no candidate, unless the filter names another; None lets everything in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatePool:
    """Memories that may answer, with what the store's indexes say of them and of those around them; not yet ranked.

    Arrays of texts have an entry for each candidate and each memory around one; all others, one for each candidate.
    """

    handles: "NDArray[np.int64]"
    """By which candidates can be chosen, ascending; what was kept later has a greater one."""
    around: "NDArray[np.intp]"
    """The places among the texts of those around each candidate in its session: REACH before, itself, REACH after; -1
    where there is none."""
    text_occurrences: "NDArray[np.float32]"
    """How often each text has each term."""
    text_bm25: "NDArray[np.float32]"
    """The text index's score of the best passage, higher is better; 0 when no term matches."""
    text_traits: "NDArray[np.int32]"
    text_speakers: "NDArray[np.int32]"
    """Whose words they are, as a place in `speaker_names`; -1 when it is not known."""
    pairs: "NDArray[np.float32]"
    """How many pairs of neighbouring terms the text has in common with the question."""
    lengths: "NDArray[np.float32]"
    """How many terms the text has."""
    cosines: "NDArray[np.float32]"
    """Similarity of meaning, -1 to 1; NaN when the two cannot be compared."""
    standings: "NDArray[np.float32]"
    """By how many standard deviations the similarity is above that of any memory; NaN as for cosines."""
    vectors: "NDArray[np.float32]"
    """The meaning of each as numbers, of length 1; NaN where it is not known."""
    sessions: "NDArray[np.int32]"
    """Candidates of one session have the same number; -1 without a session."""
    times: "NDArray[np.int64]"
    """When it happened, in microseconds since 1970."""
    recorded: "NDArray[np.int64]"
    """When it was kept, likewise."""
    importance: "NDArray[np.float32]"
    confidence: "NDArray[np.float32]"
    uses: "NDArray[np.int64]"
    """How often it was an answer; 0 when the query did not ask for uses."""
    used: "NDArray[np.int64]"
    """When last, in microseconds since 1970; when it was kept, if never."""
    speaker_names: Sequence[str]
    terms: tuple[str, ...]
    """The words that were looked for."""
    texts: int
    """How many texts there are that the asker may see."""
    frequencies: Sequence[int]
    """For each term, in how many of these it occurs."""
    worth: "NDArray[np.float32]"
    """What each term tells: more, the fewer texts have it."""


Choose = Callable[[CandidatePool], Sequence[int]]
"""Ranks candidates: the handles of those wanted."""
