"""Which entity a name means: never a guess, and nothing is made by asking."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from scrubjay.core.errors import InvalidRequest, Unavailable
from scrubjay.features.knowledge.models import UNTYPED, Entity, GraphScope
from scrubjay.features.knowledge.names import keys_of, numbers_in, tidy, type_of, words_of
from scrubjay.features.knowledge.store import KnowledgeStore
from scrubjay.models.embedding import Embedder
from scrubjay.search_index.vectors import cosines

# A name of so similar a meaning is taken for the entity's, if no other comes near it.
SAME_MEANING = 0.85
LEAD = 0.1
# What is less similar is not worth being shown.
WORTH_SHOWING = 0.5
MOST_CANDIDATES = 5
# So many entities are compared by meaning: those that share words with the name, and in a small graph all.
COMPARED = 200


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a name may mean."""

    entity: Entity
    similarity: float | None = None
    """The cosine of the two names' vectors; None where it is the name itself."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The one entity that is meant."""

    entity: Entity
    by: Literal["id", "name", "meaning"]
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several may be meant, and nobody can tell which."""

    candidates: Sequence[Candidate]


@dataclass(frozen=True, slots=True)
class Unknown:
    """None is meant; these are called something like it."""

    similar: Sequence[Candidate] = ()
    degraded: str | None = None
    """Why meanings were not compared, if they were not."""


Resolution = Resolved | Ambiguous | Unknown


class Resolver:
    """Finds entities by id, by name, and by what a name means."""

    def __init__(self, store: KnowledgeStore, embedder: Callable[[], Awaitable[Embedder]]) -> None:
        self._store = store
        self._embedder = embedder

    async def resolve(self, scope: GraphScope, name: str, now: datetime, kind: str | None = None) -> Resolution:
        """The entity that somebody who asks means: by its id or one of its names, or else by meaning alone."""
        if ":" in name and (entity := await self._store.entity(scope, name.strip(), now)) is not None:
            return Resolved(entity, "id")
        by_name = (await self.by_names(scope, [(name, kind)], now))[0]
        return by_name if by_name is not None else await self._by_meaning(scope, name, kind, now)

    async def by_names(
        self, scope: GraphScope, names: Sequence[tuple[str, str | None]], now: datetime
    ) -> Sequence[Resolved | Ambiguous | None]:
        """The same for who brings something new, by names alone: what is only similar is something else."""
        keys = {key for name, _ in names for key in keys_of(name)}
        known: Mapping[str, Sequence[Entity]] = {}
        if keys:
            known = await self._store.named(scope, keys, now)
        return [_by_name(name, kind, known) for name, kind in names]

    async def similar(
        self, scope: GraphScope, name: str, kind: str | None, now: datetime
    ) -> tuple[Sequence[Candidate], str | None]:
        """The entities that are called something like it, the most similar first; and why meanings were not compared.

        Names with other numbers are never alike, whatever their vectors say: `server 1` is not `server 2`.
        """
        wanted, numbers = type_of(kind) if kind else None, numbers_in(name)
        found = [
            entity
            for entity in await self._store.alike(scope, words_of(name), COMPARED, now)
            if (wanted is None or entity.type in (wanted, UNTYPED)) and numbers_in(entity.name) == numbers
        ]
        if not found:
            return [], None
        try:
            embedder = await self._embedder()
            asked, *others = await embedder.embed([tidy(name), *(entity.name for entity in found)])
        except (Unavailable, InvalidRequest) as error:
            return [], f"meanings were not compared: {error.message}"
        comparable = [(entity, vector) for entity, vector in zip(found, others, strict=True) if vector and asked]
        if not comparable:
            return [], None
        scores = cosines(_values(asked), [_values(vector) for _, vector in comparable])
        candidates = [Candidate(entity, round(score, 4)) for (entity, _), score in zip(comparable, scores, strict=True)]
        candidates.sort(key=lambda one: -(one.similarity or 0.0))
        return [one for one in candidates if (one.similarity or 0.0) >= WORTH_SHOWING][:MOST_CANDIDATES], None

    async def _by_meaning(self, scope: GraphScope, name: str, kind: str | None, now: datetime) -> Resolution:
        candidates, degraded = await self.similar(scope, name, kind, now)
        near = [one for one in candidates if (one.similarity or 0.0) >= SAME_MEANING]
        if not near:
            return Unknown(candidates, degraded)
        first, runner_up = near[0], candidates[1] if len(candidates) > 1 else None
        if runner_up is not None and (first.similarity or 0.0) - (runner_up.similarity or 0.0) <= LEAD:
            return Ambiguous(candidates)
        return Resolved(first.entity, "meaning", first.similarity)


def _by_name(name: str, kind: str | None, known: Mapping[str, Sequence[Entity]]) -> Resolved | Ambiguous | None:
    """By its own key first, then by that of its parts."""
    for key in keys_of(name):
        entities = known.get(key, ())
        if kind is not None:  # one whose type nobody told may be of this one
            entities = [one for one in entities if one.type == type_of(kind)] or [
                one for one in entities if one.type == UNTYPED
            ]
        if len(entities) == 1:
            return Resolved(entities[0], "name")
        if entities:
            return Ambiguous([Candidate(entity) for entity in entities])
    return None


def _values(vector: bytes) -> Sequence[float]:
    import numpy as np

    return np.frombuffer(vector, dtype="<f2").astype(np.float64).tolist()
