"""What is known of how things are related: entities, and triples of a subject, a predicate and an object."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple

GLOBAL_GRAPH = "global"
UNTYPED = "entity"
"""The type of what nobody has given a type."""

Direction = Literal["forward", "backward"]


@dataclass(frozen=True, slots=True)
class GraphScope:
    """Which graph is meant, and of whom: all that is global in it, and what is of the project."""

    project_id: str | None = None
    graph_id: str = GLOBAL_GRAPH


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Something that is related to others. Its id is made of its type and its name, so it is the same everywhere."""

    id: str
    type: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEntity:
    """An entity to be kept, with all that it can be found by."""

    entity: Entity
    keys: Sequence[str]
    """Its name as it is compared: whoever says one of these means it."""
    words: Sequence[str]
    """What names that are only like it share with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """That one thing is in a relation to another."""

    id: str
    project_id: str | None = None
    graph_id: str = GLOBAL_GRAPH
    subject: Entity
    predicate: str
    object: Entity
    confidence: float = 1.0
    source: str
    ttl: int | None = None
    """After so many seconds it is not known any more."""
    context: str | None = None
    """Where it was said, or what it is about, in words."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    client: str | None = None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    rests_on: Sequence[str] = ()
    """Of one that was inferred: the ids of the triples that it follows from."""

    @property
    def inferred(self) -> bool:
        return bool(self.rests_on)


class Keeping(StrEnum):
    """What became of a triple that was to be kept."""

    ADDED = "added"
    REPLACED = "replaced"
    """The same relation was known: it has another confidence, source, ttl and metadata now, and context if given."""
    KNOWN = "known"
    """The same relation was known, and is as it was."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A triple as it is known after a write."""

    triple: Triple
    keeping: Keeping


class Edge(NamedTuple):
    """A stored triple, as much of it as a walk through the graph needs."""

    triple_id: str
    subject: str
    predicate: str
    object: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Relationships:
    """What is known of one entity, the surest first."""

    outgoing: Sequence[Triple]
    incoming: Sequence[Triple]
    outgoing_total: int
    incoming_total: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """Triples that have what is given; None stands for anything."""

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None


@dataclass(frozen=True, slots=True)
class Matched:
    """What fits all patterns."""

    subjects: Sequence[str]
    triples: Sequence[Triple]
    """All that is known of these subjects, as far as it was asked for."""
    total: int
    """How many triples these are."""
    complete: bool
    """False when so many subjects fitted one pattern that not all were looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """A triple that follows from stored ones."""

    subject: str
    predicate: str
    object: str
    confidence: float
    source: str
    """By which rule: `inference:transitive:depth=2`, `inference:inverse:<id>`, `inference:symmetric:<id>`."""
    rests_on: Sequence[str]
    """The ids of the stored triples, in the order of the argument."""


class Generation(NamedTuple):
    """Which state of a graph something was made of; a graph of a project also rests on what is global."""

    own: int
    everybody: int


@dataclass(frozen=True, slots=True)
class GraphState:
    """How far a graph is."""

    entities: int
    triples: int
    inferred: int
    generation: Generation
    inferred_from: Generation | None
    """The state that the inferred triples were made of; None before the first time."""
    inferred_at: datetime | None
    problem: str | None
    """Why not all that follows was inferred."""

    @property
    def up_to_date(self) -> bool:
        return self.inferred_from == self.generation or (self.triples == 0 and self.inferred_from is None)
