"""What is known of how things are related, for who asks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Conflict, NotFound
from scrubjay.features.knowledge.entity_resolution import Ambiguous, Resolution, Resolved, Resolver, Unknown
from scrubjay.features.knowledge.inference import Inferred, Proof, Unproved, infer, prove
from scrubjay.features.knowledge.models import (
    Direction,
    Entity,
    GraphScope,
    GraphState,
    Matched,
    Pattern,
    Relationships,
    Triple,
)
from scrubjay.features.knowledge.names import key_of, keys_of, predicate_of, words_of
from scrubjay.features.knowledge.store import Edges, Forgotten, KnowledgeStore
from scrubjay.features.knowledge.teaching import Teacher
from scrubjay.features.knowledge.traversal import Trail, Walk, along, walk

CLOSURE_LEAST = 0.7
PATH_DEPTH = 10
SEARCH_LEAST = 0.5


@dataclass(frozen=True, slots=True)
class Closure:
    """All that can be reached by one predicate."""

    start: Entity
    trails: Sequence[Trail]
    """Those in few steps first, of these the surest."""
    total: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Path:
    """The shortest way from one entity to another, if there is one."""

    trail: Trail | None
    complete: bool


class KnowledgeService:
    """The knowledge of one store."""

    def __init__(
        self,
        store: KnowledgeStore,
        resolver: Resolver,
        teacher: Teacher,
        *,
        on_change: Callable[[], None],
        clock: Clock = system_clock,
    ) -> None:
        """`on_change` is called when something was taught or forgotten."""
        self._store = store
        self._resolver = resolver
        self._teacher = teacher
        self._on_change = on_change
        self._clock = clock

    @property
    def teacher(self) -> Teacher:
        return self._teacher

    def changed(self) -> None:
        self._on_change()

    async def resolve(self, scope: GraphScope, name: str, kind: str | None = None) -> Resolution:
        """The entity that a name means, if it means one; none is ever made."""
        return await self._resolver.resolve(scope, name, self._clock(), kind)

    async def entity(self, scope: GraphScope, name: str, *, by_meaning: bool = True) -> Entity:
        """The same for what cannot do without: `NotFound` when there is none, `Conflict` when there are several.

        Where something is changed, only an id or a name will do.
        """
        match await self.resolve(scope, name):
            case Resolved(entity, by) if by_meaning or by != "meaning":
                return entity
            case Resolved(entity):
                raise NotFound(
                    f"nothing is called {name[:80]!r}",
                    hint=f"did you mean {entity.id}?",
                    details={"similar": [entity.id]},
                )
            case Ambiguous(candidates):
                raise Conflict(
                    f"{name[:80]!r} means {len(candidates)} entities",
                    hint="give the id of the one that you mean",
                    details={"ambiguous": True, "candidates": [one.entity.id for one in candidates]},
                )
            case Unknown(similar):
                near = [one.entity.id for one in similar]
                raise NotFound(
                    f"nothing is known of {name[:80]!r}",
                    hint=f"did you mean {' or '.join(near)}?" if near else "teach says something of it",
                    details={"similar": near},
                )

    async def closure(
        self,
        scope: GraphScope,
        entity: Entity,
        predicate: str,
        *,
        depth: int,
        least: float = CLOSURE_LEAST,
        direction: Direction = "forward",
        limit: int,
    ) -> Closure:
        """All that can be reached from an entity by one predicate in so many steps."""
        name = predicate_of(predicate)

        def work(edges: Edges) -> Walk:
            return walk(along(edges, [name], direction), entity.id, max_depth=depth, least=least)

        found = await self._store.walk(scope, work, self._clock())
        trails = sorted(found.reached.values(), key=lambda trail: (trail.depth, -trail.confidence))
        return Closure(entity, trails[:limit], len(trails), found.complete)

    async def path(
        self, scope: GraphScope, start: Entity, end: Entity, predicate: str | None, *, depth: int, least: float = 0.0
    ) -> Path:
        """The way in the fewest steps, of these the surest; by one predicate, or by any."""
        predicates = None if predicate is None else [predicate_of(predicate)]
        if start.id == end.id:
            return Path(Trail(start.id, 0, 1.0), complete=True)

        def work(edges: Edges) -> Walk:
            steps = along(edges, predicates, "forward")
            return walk(steps, start.id, max_depth=depth, least=least, target=end.id)

        found = await self._store.walk(scope, work, self._clock())
        trail = found.reached.get(end.id)
        return Path(trail, found.complete or trail is not None)

    async def relationships(self, scope: GraphScope, entity: Entity, limit: int, least: float = 0.0) -> Relationships:
        return await self._store.relationships(scope, entity.id, limit, self._clock(), least=least)

    async def match(self, scope: GraphScope, patterns: Sequence[Pattern], limit: int) -> Matched:
        """The subjects that fit every pattern, and all that is known of them. Names must be those of entities."""
        return await self._store.match(scope, patterns, limit, self._clock())

    async def pattern(
        self, scope: GraphScope, subject: str | None, predicate: str | None, object_: str | None
    ) -> Pattern:
        """A pattern of names."""
        return Pattern(
            None if subject is None else (await self.entity(scope, subject)).id,
            None if predicate is None else predicate_of(predicate),
            None if object_ is None else (await self.entity(scope, object_)).id,
        )

    async def search(
        self, scope: GraphScope, text: str, limit: int, least: float = SEARCH_LEAST
    ) -> tuple[Sequence[Triple], int]:
        """Triples that have this text in a name or the predicate."""
        return await self._store.find(scope, key_of(text), least, limit, self._clock())

    async def triples(self, scope: GraphScope, triple_ids: Sequence[str]) -> Sequence[Triple]:
        return await self._store.triples(scope, triple_ids, self._clock())

    async def prove(
        self, scope: GraphScope, subject: Entity, predicate: str, object_: Entity, *, depth: int, least: float = 0.0
    ) -> Proof | Unproved:
        """Why the one is so related to the other, by stored triples and rules; or that nothing says so."""
        name = predicate_of(predicate)
        work = partial(prove, subject=subject.id, predicate=name, object_=object_.id, max_depth=depth, least=least)
        return await self._store.walk(scope, work, self._clock())

    async def infer(self, scope: GraphScope, predicates: Sequence[str], *, depth: int, least: float) -> Inferred:
        """What follows for these predicates. Nothing of it is kept."""
        names = [predicate_of(predicate) for predicate in predicates]
        work = partial(infer, scope=scope, predicates=names, max_depth=depth, least=least)
        return await self._store.walk(scope, work, self._clock())

    async def alias(self, scope: GraphScope, entity: Entity, alias: str) -> Sequence[str]:
        """One more name of an entity; all that it has. `Conflict` when another is called so."""
        for other in await self._resolver.by_names(scope, [(alias, None)], self._clock()):
            taken = other.candidates if isinstance(other, Ambiguous) else [other] if other is not None else []
            for one in taken:
                if one.entity.id != entity.id:
                    raise Conflict(
                        f"{one.entity.id} is called {alias[:80]!r}",
                        hint="forget that entity first, or choose another alias",
                        details={"entity": one.entity.id},
                    )
        await self._store.add_alias(scope, entity.id, alias, keys_of(alias), words_of(alias), self._clock())
        return await self._store.aliases(scope, entity.id)

    async def aliases(self, scope: GraphScope, entity: Entity) -> Sequence[str]:
        return await self._store.aliases(scope, entity.id)

    async def forget_triple(self, scope: GraphScope, triple_id: str) -> Forgotten:
        """Erase a stored triple, with all that was inferred from it."""
        gone = await self._store.forget_triple(scope, triple_id)
        if not gone.triples:
            inferred = await self._store.triple(scope, triple_id, self._clock())
            if inferred is not None:
                raise Conflict(
                    f"{triple_id} was inferred, and follows as long as what it rests on is known",
                    hint="forget one of the triples that it rests on",
                    details={"rests_on": [*inferred.rests_on]},
                )
            raise NotFound(f"there is no triple {triple_id[:80]!r} to be seen here", hint="query shows their ids")
        self._on_change()
        return gone

    async def forget_entity(self, scope: GraphScope, entity: Entity) -> Forgotten:
        """Erase an entity with all that is known of it."""
        gone = await self._store.forget_entity(scope, entity.id)
        self._on_change()
        return gone

    async def state(self, scope: GraphScope) -> GraphState:
        return await self._store.state(scope, self._clock())
