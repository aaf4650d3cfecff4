"""Storage interface of the knowledge graph."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from scrubjay.core.policies import StorageQuota
from scrubjay.features.knowledge.models import (
    Direction,
    Entity,
    GraphEdge,
    GraphGeneration,
    GraphScope,
    GraphState,
    IndexedEntity,
    Inference,
    Relationships,
    StoredTriple,
    Triple,
    TripleMatches,
    TriplePattern,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DeletedTriples:
    """Ids of deleted triples and entities."""

    triples: Sequence[str]
    entities: Sequence[str]


class GraphReader(Protocol):
    """A snapshot of a graph within a scope, without expired triples."""

    @property
    def generation(self) -> GraphGeneration:
        """Generation of the snapshot."""
        ...

    def edges_from(
        self,
        entity_ids: Collection[str],
        predicates: Collection[str] | None,
        direction: Direction,
        *,
        min_confidence: float,
        limit: int,
    ) -> Sequence[GraphEdge]:
        """Return edges with at least this confidence that leave these entities, or reach them when backward."""
        ...

    def edges_with(self, predicates: Collection[str], *, min_confidence: float, limit: int) -> Sequence[GraphEdge]:
        """Return edges with these predicates, highest confidence first."""
        ...

    def in_project(self, triple_ids: Collection[str]) -> frozenset[str]:
        """Return the ids of those triples that belong to the scope's project, not to the global graph."""
        ...


class KnowledgeStore(Protocol):
    """Stores triples; each belongs to one graph, and in it to one project or to the global part.

    The entities of a visible triple are visible. A triple is invisible from the moment it expires. An entity is stored
    as long as a triple of the same project and graph refers to it.
    """

    async def entities_by_key(
        self, scope: GraphScope, keys: Collection[str], now: datetime
    ) -> Mapping[str, Sequence[Entity]]:
        """Return the entities of each name key."""
        ...

    async def entity(self, scope: GraphScope, entity_id: str, now: datetime) -> Entity | None: ...

    async def similar_entities(
        self, scope: GraphScope, words: Collection[str], limit: int, now: datetime
    ) -> Sequence[Entity]:
        """Return the entities that share the most of these words, followed by all others when the graph is small."""
        ...

    async def store_triples(
        self,
        triples: Sequence[Triple],
        entities: Sequence[IndexedEntity],
        *,
        replace: bool,
        allowance: StorageQuota | None = None,
    ) -> Sequence[StoredTriple]:
        """Store all of these triples or none. A known relation is updated with `replace`, else left unchanged.

        Raises `NotFound` for an unknown project.
        """
        ...

    async def add_alias(
        self, scope: GraphScope, entity_id: str, alias: str, keys: Sequence[str], words: Sequence[str], now: datetime
    ) -> bool:
        """Add a name to an entity; return False when no such entity is visible."""
        ...

    async def aliases(self, scope: GraphScope, entity_id: str) -> Sequence[str]: ...

    async def triple(self, scope: GraphScope, triple_id: str, now: datetime) -> Triple | None:
        """Return a stored or inferred triple."""
        ...

    async def triples(self, scope: GraphScope, triple_ids: Collection[str], now: datetime) -> Sequence[Triple]:
        """Return the existing ones of these triples, stored or inferred, in the order of the ids."""
        ...

    async def relationships(
        self, scope: GraphScope, entity_id: str, limit: int, now: datetime, *, min_confidence: float = 0.0
    ) -> Relationships: ...

    async def search(
        self, scope: GraphScope, text: str, min_confidence: float, limit: int, now: datetime
    ) -> tuple[Sequence[Triple], int]:
        """Return stored triples with this text in a name or the predicate, highest confidence first, and the total."""
        ...

    async def match(
        self, scope: GraphScope, patterns: Sequence[TriplePattern], limit: int, now: datetime
    ) -> TripleMatches: ...

    async def read_graph(self, scope: GraphScope, work: Callable[[GraphReader], T], now: datetime) -> T:
        """Run `work` on a snapshot of the graph, in a reader thread."""
        ...

    async def forget_triple(self, scope: GraphScope, triple_id: str) -> DeletedTriples:
        """Delete a triple and those inferred from it; the result is empty when no such triple is visible."""
        ...

    async def forget_entity(self, scope: GraphScope, entity_id: str) -> DeletedTriples:
        """Delete an entity, its names and its triples."""
        ...

    async def forget_expired(self, now: datetime) -> int:
        """Delete the expired triples of all projects; return their number."""
        ...

    async def state(self, scope: GraphScope, now: datetime) -> GraphState: ...

    async def outdated_graphs(self) -> Sequence[GraphScope]:
        """Return the graphs of all projects that changed since their last inference."""
        ...

    async def replace_inferred(
        self,
        scope: GraphScope,
        generation: GraphGeneration,
        inferences: Sequence[Inference],
        problem: str | None,
        now: datetime,
    ) -> bool:
        """Replace all inferred triples; return False, without a change, when the graph has another generation."""
        ...
