"""Entities, triples and inference results of the knowledge graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple

GLOBAL_GRAPH = "global"
UNTYPED = "entity"
"""Type of an entity that was given none."""

Direction = Literal["forward", "backward"]


@dataclass(frozen=True, slots=True)
class GraphScope:
    """A graph as a project sees it: its global triples and those of the project."""

    project_id: str | None = None
    graph_id: str = GLOBAL_GRAPH


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A node of the graph. The id is a function of type and name, so it is the same in every store."""

    id: str
    type: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedEntity:
    """An entity to store, with its search keys."""

    entity: Entity
    keys: Sequence[str]
    """Normalized names; an equal key means this entity."""
    words: Sequence[str]
    """Words and prefixes for finding similar names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """A relation from a subject to an object."""

    id: str
    project_id: str | None = None
    graph_id: str = GLOBAL_GRAPH
    subject: Entity
    predicate: str
    object: Entity
    confidence: float = 1.0
    source: str
    ttl: int | None = None
    """Lifetime in seconds; None means no expiry."""
    context: str | None = None
    """Free text: where the statement was made, or what it is about."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    client: str | None = None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    rests_on: Sequence[str] = ()
    """Ids of the triples that an inferred triple follows from; empty for a stored one."""

    @property
    def inferred(self) -> bool:
        return bool(self.rests_on)


class WriteOutcome(StrEnum):
    """Result of storing a triple."""

    ADDED = "added"
    REPLACED = "replaced"
    """The relation was known; confidence, source, ttl, metadata and, if given, context were updated."""
    KNOWN = "known"
    """The relation was known and is unchanged."""


@dataclass(frozen=True, slots=True)
class StoredTriple:
    """A triple after a write, and what the write did."""

    triple: Triple
    outcome: WriteOutcome


class GraphEdge(NamedTuple):
    """The part of a stored triple that a traversal needs."""

    triple_id: str
    subject: str
    predicate: str
    object: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Relationships:
    """Triples of one entity, highest confidence first."""

    outgoing: Sequence[Triple]
    incoming: Sequence[Triple]
    outgoing_total: int
    incoming_total: int


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """A triple pattern; None matches any value."""

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None


@dataclass(frozen=True, slots=True)
class TripleMatches:
    """Subjects that match all patterns, and their triples."""

    subjects: Sequence[str]
    triples: Sequence[Triple]
    """Triples of these subjects, at most the requested number."""
    total: int
    """Number of triples of these subjects."""
    complete: bool
    """False when a pattern matched too many subjects and not all were examined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """A triple that follows from stored ones."""

    subject: str
    predicate: str
    object: str
    confidence: float
    source: str
    """The rule: `inference:transitive:depth=2`, `inference:inverse:<id>`, `inference:symmetric:<id>`."""
    rests_on: Sequence[str]
    """Ids of the stored triples, in the order of the derivation."""


class GraphGeneration(NamedTuple):
    """Change counters of a graph: that of the project's part, and that of the global part, which it also depends on."""

    own: int
    shared: int


@dataclass(frozen=True, slots=True)
class GraphState:
    """Size of a graph and state of its inference."""

    entities: int
    triples: int
    inferred: int
    generation: GraphGeneration
    inferred_from: GraphGeneration | None
    """The generation that the inferred triples were derived from; None before the first run."""
    inferred_at: datetime | None
    problem: str | None
    """Why inference is incomplete."""

    @property
    def up_to_date(self) -> bool:
        return self.inferred_from == self.generation or (self.triples == 0 and self.inferred_from is None)
