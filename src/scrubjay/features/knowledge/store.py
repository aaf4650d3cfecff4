"""What a backend must offer to keep how things are related."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from scrubjay.core.policies import Allowance
from scrubjay.features.knowledge.models import (
    Direction,
    Edge,
    Entity,
    Generation,
    GraphScope,
    GraphState,
    Inference,
    Kept,
    Matched,
    NamedEntity,
    Pattern,
    Relationships,
    Triple,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was erased."""

    triples: Sequence[str]
    entities: Sequence[str]


class Edges(Protocol):
    """One state of a graph, as one asker sees it, to walk through; of what has expired there is nothing."""

    @property
    def generation(self) -> Generation:
        """Which state it is."""
        ...

    def around(
        self,
        entity_ids: Collection[str],
        predicates: Collection[str] | None,
        direction: Direction,
        *,
        least: float,
        limit: int,
    ) -> Sequence[Edge]:
        """The edges that leave these entities, or come to them when it goes backward, if they are at least so sure."""
        ...

    def every(self, predicates: Collection[str], *, least: float, limit: int) -> Sequence[Edge]:
        """Edges with these predicates, the surest first."""
        ...

    def own(self, triple_ids: Collection[str]) -> frozenset[str]:
        """Those of these triples that are of the asker's project, and not global."""
        ...


class KnowledgeStore(Protocol):
    """Keeps triples, each of one graph, and in it of one project or of all.

    Whoever sees a triple sees its entities. A triple that has expired is not seen from that moment on. An entity is
    kept as long as a triple of its own project and graph names it.
    """

    async def named(self, scope: GraphScope, keys: Collection[str], now: datetime) -> Mapping[str, Sequence[Entity]]:
        """The entities that each of these keys names."""
        ...

    async def entity(self, scope: GraphScope, entity_id: str, now: datetime) -> Entity | None: ...

    async def alike(self, scope: GraphScope, words: Collection[str], limit: int, now: datetime) -> Sequence[Entity]:
        """The entities whose names share most of these words, and of a small graph all others after these."""
        ...

    async def keep(
        self,
        triples: Sequence[Triple],
        entities: Sequence[NamedEntity],
        *,
        replace: bool,
        allowance: Allowance | None = None,
    ) -> Sequence[Kept]:
        """Keep all of these or none. A relation that is known is replaced, or else left as it is.

        `NotFound` when there is no such project.
        """
        ...

    async def add_alias(
        self, scope: GraphScope, entity_id: str, alias: str, keys: Sequence[str], words: Sequence[str], now: datetime
    ) -> bool:
        """One more name of an entity; False when there is none to be seen."""
        ...

    async def aliases(self, scope: GraphScope, entity_id: str) -> Sequence[str]: ...

    async def triple(self, scope: GraphScope, triple_id: str, now: datetime) -> Triple | None:
        """A stored or an inferred one."""
        ...

    async def triples(self, scope: GraphScope, triple_ids: Collection[str], now: datetime) -> Sequence[Triple]:
        """Those of these that there are, stored or inferred, in the order of the ids."""
        ...

    async def relationships(
        self, scope: GraphScope, entity_id: str, limit: int, now: datetime, *, least: float = 0.0
    ) -> Relationships: ...

    async def find(
        self, scope: GraphScope, text: str, least: float, limit: int, now: datetime
    ) -> tuple[Sequence[Triple], int]:
        """Stored triples that have this text in a name or the predicate, the surest first; and how many there are."""
        ...

    async def match(self, scope: GraphScope, patterns: Sequence[Pattern], limit: int, now: datetime) -> Matched: ...

    async def walk(self, scope: GraphScope, work: Callable[[Edges], T], now: datetime) -> T:
        """Let `work` go through one state of the graph, on a thread where it may take its time."""
        ...

    async def forget_triple(self, scope: GraphScope, triple_id: str) -> Forgotten:
        """Erase a triple with all that was inferred from it; nothing when there is none to be seen."""
        ...

    async def forget_entity(self, scope: GraphScope, entity_id: str) -> Forgotten:
        """Erase an entity with its names and every triple of it."""
        ...

    async def forget_expired(self, now: datetime) -> int:
        """Erase what has expired, of every project; how many triples that were."""
        ...

    async def state(self, scope: GraphScope, now: datetime) -> GraphState: ...

    async def behind(self) -> Sequence[GraphScope]:
        """The graphs of all projects whose inferred triples are not made of what they are now."""
        ...

    async def keep_inferred(
        self,
        scope: GraphScope,
        made_of: Generation,
        inferences: Sequence[Inference],
        problem: str | None,
        now: datetime,
    ) -> bool:
        """Let these take the place of all that was inferred; False, with nothing changed, when the graph is another."""
        ...
