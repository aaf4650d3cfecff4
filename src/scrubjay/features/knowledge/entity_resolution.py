"""Resolve names to entities. Ambiguous names are reported, never guessed, and resolving never creates an entity."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from scrubjay.core.errors import InvalidRequest, Unavailable
from scrubjay.core.lazy import lazy_module
from scrubjay.features.knowledge.models import UNTYPED, Entity, GraphScope
from scrubjay.features.knowledge.names import clean_name, index_words, name_keys, normalize_type, numbers_in
from scrubjay.features.knowledge.store import KnowledgeStore
from scrubjay.models.embedding import Embedder
from scrubjay.search_index.vectors import cosines

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

# A name resolves by embedding when the best cosine reaches this and leads the second best by more than `MIN_LEAD`.
SAME_ENTITY_SIMILARITY = 0.85
MIN_LEAD = 0.1
# Less similar candidates are not returned.
MIN_SIMILARITY = 0.5
MAX_CANDIDATES = 5
# Entities compared by embedding: those that share words with the name; in a small graph, all.
MAX_COMPARED = 200


@dataclass(frozen=True, slots=True)
class EntityCandidate:
    """An entity that may match a name."""

    entity: Entity
    similarity: float | None = None
    """Cosine of the two names' vectors; None for an exact name."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The entity that matches."""

    entity: Entity
    by: Literal["id", "name", "meaning"]
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several entities match."""

    candidates: Sequence[EntityCandidate]


@dataclass(frozen=True, slots=True)
class Unknown:
    """No entity matches; `similar` has entities with similar names."""

    similar: Sequence[EntityCandidate] = ()
    degraded: str | None = None
    """Why names were not compared by embedding; None when they were."""


Resolution = Resolved | Ambiguous | Unknown


class EntityResolver:
    """Finds entities by id, by name, and by the embedding of a name."""

    def __init__(self, store: KnowledgeStore, embedder: Callable[[], Awaitable[Embedder]]) -> None:
        self._store = store
        self._embedder = embedder

    async def resolve(self, scope: GraphScope, name: str, now: datetime, kind: str | None = None) -> Resolution:
        """Resolve a name in a query: by id, else by exact name, else by embedding."""
        if ":" in name and (entity := await self._store.entity(scope, name.strip(), now)) is not None:
            return Resolved(entity, "id")
        by_name = (await self.by_names(scope, [(name, kind)], now))[0]
        return by_name if by_name is not None else await self._by_meaning(scope, name, kind, now)

    async def by_names(
        self, scope: GraphScope, names: Sequence[tuple[str, str | None]], now: datetime
    ) -> Sequence[Resolved | Ambiguous | None]:
        """Resolve names of new facts, by exact name only: a merely similar name is another entity."""
        keys = {key for name, _ in names for key in name_keys(name)}
        known: Mapping[str, Sequence[Entity]] = {}
        if keys:
            known = await self._store.entities_by_key(scope, keys, now)
        return [_by_name(name, kind, known) for name, kind in names]

    async def similar(
        self, scope: GraphScope, name: str, kind: str | None, now: datetime
    ) -> tuple[Sequence[EntityCandidate], str | None]:
        """Return entities with similar names, most similar first, and the reason when names could not be compared.

        Names with different numbers never match, whatever their vectors: `server 1` is not `server 2`.
        """
        wanted, numbers = normalize_type(kind) if kind else None, numbers_in(name)
        found = [
            entity
            for entity in await self._store.similar_entities(scope, index_words(name), MAX_COMPARED, now)
            if (wanted is None or entity.type in (wanted, UNTYPED)) and numbers_in(entity.name) == numbers
        ]
        if not found:
            return [], None
        try:
            embedder = await self._embedder()
            own, *others = await embedder.embed([clean_name(name), *(entity.name for entity in found)])
        except (Unavailable, InvalidRequest) as error:
            return [], f"names were not compared by embedding: {error.message}"
        comparable = [(entity, vector) for entity, vector in zip(found, others, strict=True) if vector and own]
        if not comparable:
            return [], None
        scores = cosines(_values(own), [_values(vector) for _, vector in comparable])
        candidates = [
            EntityCandidate(entity, round(score, 4)) for (entity, _), score in zip(comparable, scores, strict=True)
        ]
        candidates.sort(key=lambda one: -(one.similarity or 0.0))
        return [one for one in candidates if (one.similarity or 0.0) >= MIN_SIMILARITY][:MAX_CANDIDATES], None

    async def _by_meaning(self, scope: GraphScope, name: str, kind: str | None, now: datetime) -> Resolution:
        candidates, degraded = await self.similar(scope, name, kind, now)
        near = [one for one in candidates if (one.similarity or 0.0) >= SAME_ENTITY_SIMILARITY]
        if not near:
            return Unknown(candidates, degraded)
        first, runner_up = near[0], candidates[1] if len(candidates) > 1 else None
        if runner_up is not None and (first.similarity or 0.0) - (runner_up.similarity or 0.0) <= MIN_LEAD:
            return Ambiguous(candidates)
        return Resolved(first.entity, "meaning", first.similarity)


def _by_name(name: str, kind: str | None, known: Mapping[str, Sequence[Entity]]) -> Resolved | Ambiguous | None:
    """Resolve by the key of the name first, then by that of its split parts."""
    for key in name_keys(name):
        entities = known.get(key, ())
        if kind is not None:  # an untyped entity may have this type
            entities = [one for one in entities if one.type == normalize_type(kind)] or [
                one for one in entities if one.type == UNTYPED
            ]
        if len(entities) == 1:
            return Resolved(entities[0], "name")
        if entities:
            return Ambiguous([EntityCandidate(entity) for entity in entities])
    return None


def _values(vector: bytes) -> Sequence[float]:
    return np.frombuffer(vector, dtype="<f2").astype(np.float64).tolist()
