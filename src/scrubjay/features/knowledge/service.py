"""Query, extend and delete the knowledge graph within a scope."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Conflict, NotFound
from scrubjay.features.knowledge.entity_resolution import Ambiguous, EntityResolver, Resolution, Resolved, Unknown
from scrubjay.features.knowledge.inference import InferenceResult, Proof, Unproved, infer, prove
from scrubjay.features.knowledge.models import (
    Direction,
    Entity,
    GraphScope,
    GraphState,
    Relationships,
    Triple,
    TripleMatches,
    TriplePattern,
)
from scrubjay.features.knowledge.names import index_words, name_key, name_keys, normalize_predicate
from scrubjay.features.knowledge.store import DeletedTriples, GraphReader, KnowledgeStore
from scrubjay.features.knowledge.traversal import GraphPath, TraversalResult, stored_steps, traverse
from scrubjay.features.knowledge.triple_writer import TripleWriter

CLOSURE_MIN_CONFIDENCE = 0.7
PATH_DEPTH = 10
SEARCH_MIN_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True)
class Closure:
    """Entities that are reachable by one predicate."""

    start: Entity
    paths: Sequence[GraphPath]
    """Fewest steps first, then highest confidence; at most the requested number."""
    total: int
    """Number of reachable entities, including those beyond the limit."""
    complete: bool
    """False when the traversal stopped at a limit."""


@dataclass(frozen=True, slots=True)
class PathResult:
    """The shortest path between two entities; `path` is None when none was found."""

    path: GraphPath | None
    complete: bool


class KnowledgeService:
    """Queries and changes the knowledge graphs of one store."""

    def __init__(
        self,
        store: KnowledgeStore,
        resolver: EntityResolver,
        writer: TripleWriter,
        *,
        on_change: Callable[[], None],
        clock: Clock = system_clock,
    ) -> None:
        """`on_change` is called after triples were stored or deleted."""
        self._store = store
        self._resolver = resolver
        self._writer = writer
        self._on_change = on_change
        self._clock = clock

    @property
    def writer(self) -> TripleWriter:
        return self._writer

    def notify_changed(self) -> None:
        self._on_change()

    async def resolve(self, scope: GraphScope, name: str, kind: str | None = None) -> Resolution:
        """Resolve a name or id to an entity. Never creates one."""
        return await self._resolver.resolve(scope, name, self._clock(), kind)

    async def entity(self, scope: GraphScope, name: str, *, by_meaning: bool = True) -> Entity:
        """Return the entity of a name or id; `NotFound` without a match, `Conflict` with several.

        Pass `by_meaning=False` for writes: then an entity with a merely similar name does not match.
        """
        match await self.resolve(scope, name):
            case Resolved(entity, by) if by_meaning or by != "meaning":
                return entity
            case Resolved(entity):
                raise NotFound(
                    f"no entity is named {name[:80]!r}",
                    hint=f"did you mean {entity.id}?",
                    details={"similar": [entity.id]},
                )
            case Ambiguous(candidates):
                raise Conflict(
                    f"{name[:80]!r} matches {len(candidates)} entities",
                    hint="pass the id of one of them",
                    details={"ambiguous": True, "candidates": [one.entity.id for one in candidates]},
                )
            case Unknown(similar):
                near = [one.entity.id for one in similar]
                raise NotFound(
                    f"no entity is named {name[:80]!r}",
                    hint=f"did you mean {' or '.join(near)}?" if near else "store a triple about it with teach",
                    details={"similar": near},
                )

    async def closure(
        self,
        scope: GraphScope,
        entity: Entity,
        predicate: str,
        *,
        depth: int,
        min_confidence: float = CLOSURE_MIN_CONFIDENCE,
        direction: Direction = "forward",
        limit: int,
    ) -> Closure:
        """Return the entities reachable from an entity by one predicate in at most `depth` steps."""
        name = normalize_predicate(predicate)

        def work(graph: GraphReader) -> TraversalResult:
            return traverse(
                stored_steps(graph, [name], direction), entity.id, max_depth=depth, min_confidence=min_confidence
            )

        found = await self._store.read_graph(scope, work, self._clock())
        paths = sorted(found.reached.values(), key=lambda path: (path.depth, -path.confidence))
        return Closure(entity, paths[:limit], len(paths), found.complete)

    async def path(
        self,
        scope: GraphScope,
        start: Entity,
        end: Entity,
        predicate: str | None,
        *,
        depth: int,
        min_confidence: float = 0.0,
    ) -> PathResult:
        """Return the path with the fewest steps, then the highest confidence, by one predicate or by any."""
        predicates = None if predicate is None else [normalize_predicate(predicate)]
        if start.id == end.id:
            return PathResult(GraphPath(start.id, 0, 1.0), complete=True)

        def work(graph: GraphReader) -> TraversalResult:
            steps = stored_steps(graph, predicates, "forward")
            return traverse(steps, start.id, max_depth=depth, min_confidence=min_confidence, target=end.id)

        found = await self._store.read_graph(scope, work, self._clock())
        path = found.reached.get(end.id)
        return PathResult(path, found.complete or path is not None)

    async def relationships(
        self, scope: GraphScope, entity: Entity, limit: int, min_confidence: float = 0.0
    ) -> Relationships:
        return await self._store.relationships(scope, entity.id, limit, self._clock(), min_confidence=min_confidence)

    async def match(self, scope: GraphScope, patterns: Sequence[TriplePattern], limit: int) -> TripleMatches:
        """Return the subjects that match every pattern, and their triples. Patterns contain entity ids."""
        return await self._store.match(scope, patterns, limit, self._clock())

    async def pattern(
        self, scope: GraphScope, subject: str | None, predicate: str | None, object_: str | None
    ) -> TriplePattern:
        """Build a pattern from names; raises as `entity` does."""
        return TriplePattern(
            None if subject is None else (await self.entity(scope, subject)).id,
            None if predicate is None else normalize_predicate(predicate),
            None if object_ is None else (await self.entity(scope, object_)).id,
        )

    async def search(
        self, scope: GraphScope, text: str, limit: int, min_confidence: float = SEARCH_MIN_CONFIDENCE
    ) -> tuple[Sequence[Triple], int]:
        """Return triples with this text in a name or the predicate, and their total number."""
        return await self._store.search(scope, name_key(text), min_confidence, limit, self._clock())

    async def triples(self, scope: GraphScope, triple_ids: Sequence[str]) -> Sequence[Triple]:
        return await self._store.triples(scope, triple_ids, self._clock())

    async def prove(
        self,
        scope: GraphScope,
        subject: Entity,
        predicate: str,
        object_: Entity,
        *,
        depth: int,
        min_confidence: float = 0.0,
    ) -> Proof | Unproved:
        """Derive a statement from stored triples and rules."""
        name = normalize_predicate(predicate)
        work = partial(
            prove,
            subject=subject.id,
            predicate=name,
            object_=object_.id,
            max_depth=depth,
            min_confidence=min_confidence,
        )
        return await self._store.read_graph(scope, work, self._clock())

    async def infer(
        self, scope: GraphScope, predicates: Sequence[str], *, depth: int, min_confidence: float
    ) -> InferenceResult:
        """Return the triples that follow for these predicates, without storing them."""
        names = [normalize_predicate(predicate) for predicate in predicates]
        work = partial(infer, scope=scope, predicates=names, max_depth=depth, min_confidence=min_confidence)
        return await self._store.read_graph(scope, work, self._clock())

    async def add_alias(self, scope: GraphScope, entity: Entity, alias: str) -> Sequence[str]:
        """Add a name to an entity and return all its aliases. `Conflict` when another entity has this name."""
        for other in await self._resolver.by_names(scope, [(alias, None)], self._clock()):
            taken = other.candidates if isinstance(other, Ambiguous) else [other] if other is not None else []
            for one in taken:
                if one.entity.id != entity.id:
                    raise Conflict(
                        f"{one.entity.id} already has the name {alias[:80]!r}",
                        hint="delete that entity first with forget, or choose another alias",
                        details={"entity": one.entity.id},
                    )
        await self._store.add_alias(scope, entity.id, alias, name_keys(alias), index_words(alias), self._clock())
        return await self._store.aliases(scope, entity.id)

    async def aliases(self, scope: GraphScope, entity: Entity) -> Sequence[str]:
        return await self._store.aliases(scope, entity.id)

    async def forget_triple(self, scope: GraphScope, triple_id: str) -> DeletedTriples:
        """Delete a stored triple and the triples inferred from it. `Conflict` when it is itself inferred."""
        deleted = await self._store.forget_triple(scope, triple_id)
        if not deleted.triples:
            inferred = await self._store.triple(scope, triple_id, self._clock())
            if inferred is not None:
                raise Conflict(
                    f"{triple_id} is inferred and would be inferred again",
                    hint="forget one of the triples that it follows from (rests_on)",
                    details={"rests_on": [*inferred.rests_on]},
                )
            raise NotFound(f"triple {triple_id[:80]!r} was not found in this scope", hint="query returns triple ids")
        self._on_change()
        return deleted

    async def forget_entity(self, scope: GraphScope, entity: Entity) -> DeletedTriples:
        """Delete an entity, its names and its triples."""
        deleted = await self._store.forget_entity(scope, entity.id)
        self._on_change()
        return deleted

    async def state(self, scope: GraphScope) -> GraphState:
        return await self._store.state(scope, self._clock())
