"""Teaching: what somebody says of how things are related becomes triples."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Conflict, InvalidRequest, Unavailable
from scrubjay.core.ids import new_id
from scrubjay.core.write_rules import Writing, WritingRules
from scrubjay.features.knowledge.entity_resolution import Ambiguous, Candidate, Resolved, Resolver
from scrubjay.features.knowledge.llm_extraction import extract_relations
from scrubjay.features.knowledge.models import Entity, GraphScope, Keeping, Kept, Triple
from scrubjay.features.knowledge.names import entity_of, key_of, named, predicate_of, type_of
from scrubjay.features.knowledge.sentence_parser import Relation, read_relations
from scrubjay.features.knowledge.store import KnowledgeStore
from scrubjay.models.completion import Completer

# A few new names are compared with those that are known, to tell of likely doubles.
MOST_COMPARED = 20
LIKELY = 0.65

Method = Literal["given", "rules", "llm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What somebody says: two names, or ids, and how the one is related to the other."""

    subject: str
    predicate: str
    object: str
    subject_type: str | None = None
    object_type: str | None = None
    confidence: float = 1.0
    source: str = "user_input"
    ttl: int | None = None
    context: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A fact that was not kept, because nobody can tell which entity is meant."""

    fact: Fact
    name: str
    candidates: Sequence[Candidate]


@dataclass(slots=True, kw_only=True)
class Taught:
    """What became of what was taught."""

    kept: Sequence[Kept]
    new_entities: Sequence[Entity]
    similar: Mapping[str, Sequence[Candidate]]
    """For ids of new entities, those that are called something like them: perhaps the same."""
    doubtful: Sequence[Doubtful]
    masked: Sequence[str]
    method: Method = "given"
    model: str | None = None
    not_understood: Sequence[str] = ()
    notes: Sequence[str] = ()

    def count(self, keeping: Keeping) -> int:
        return sum(one.keeping is keeping for one in self.kept)


class Teacher:
    """Keeps what is taught."""

    def __init__(
        self,
        store: KnowledgeStore,
        resolver: Resolver,
        completer: Callable[[], Awaitable[Completer | None]],
        rules: WritingRules,
        *,
        clock: Clock = system_clock,
    ) -> None:
        self._store = store
        self._resolver = resolver
        self._completer = completer
        self._rules = rules
        self._clock = clock

    async def teach(self, scope: GraphScope, fact: Fact, client: str | None) -> Taught:
        """Keep one triple; one that is known takes the new confidence, source, ttl and metadata.

        `Conflict`, with nothing changed, when a name means several entities.
        """
        return await self._keep(scope, [fact], client, replace=True)

    async def teach_many(self, scope: GraphScope, facts: Sequence[Fact], client: str | None) -> Taught:
        """Keep many at once, all or none; what is known stays as it is, what is doubtful is left out and told.

        `Conflict` when all of it is.
        """
        return await self._keep(scope, facts, client, replace=False)

    async def teach_text(self, scope: GraphScope, text: str, like: Fact, client: str | None) -> Taught:
        """Keep the relations that a text states, each with what `like` has beside its names.

        By the language model if there is one, else by rules for plain sentences. `InvalidRequest` when nothing of it is
        understood, and `Unavailable` when the model was needed and failed.
        """
        completer, failure, notes = await self._completer(), None, list[str]()
        relations: Sequence[Relation] = ()
        missed: Sequence[str] = ()
        method, model = "rules", None
        if completer is not None:
            try:
                extracted = await extract_relations(text, completer)
            except Unavailable as error:
                failure = error
                notes.append(f"read by rules: {error.message}")
            else:
                relations, method, model = extracted.relations, "llm", extracted.model
                if extracted.dropped:
                    notes.append(f"{extracted.dropped} relations that the text does not bear out were left out")
        if method == "rules":
            reading = read_relations(text)
            relations, missed = reading.relations, reading.not_understood
        if not relations:
            if failure is not None:
                raise failure
            raise InvalidRequest(
                "no relation could be read out of this text; nothing was learned",
                hint="say it in plain sentences such as 'A depends on B.', or give subject, predicate and object"
                + ("" if completer else "; a language model reads freer texts, see docs/llm.md"),
                details={"method": method, "not_understood": [*missed][:20]},
            )
        facts = [_as_fact(one, like) for one in relations]
        taught = await self._keep(scope, facts, client, replace=False)
        taught.method, taught.model, taught.not_understood, taught.notes = method, model, missed, notes
        return taught

    async def _keep(self, scope: GraphScope, facts: Sequence[Fact], client: str | None, *, replace: bool) -> Taught:
        writing, now = Writing(self._rules, client), self._clock()
        guarded = [self._guarded(fact, writing) for fact in facts]
        known = await self._entities(scope, [end for fact in guarded for end in _ends(fact)])
        triples: list[Triple] = []
        doubtful: list[Doubtful] = []
        made: dict[str, Entity] = {}
        for fact in guarded:
            entities: list[Entity] = []
            for name, kind in _ends(fact):
                match known[name, kind]:
                    case Ambiguous(candidates):
                        doubtful.append(Doubtful(fact, name, candidates))
                        break
                    case Resolved(entity):
                        entities.append(entity)
                    case None:
                        entity = entity_of(name, kind)
                        made.setdefault(entity.id, entity)
                        entities.append(entity)
            else:
                triples.append(_triple(fact, *entities, scope=scope, client=client, now=now))
        if doubtful and not triples:
            raise _ambiguous(doubtful[0])
        similar = await self._similar(scope, [*made.values()])
        named_by = {end.id: end for triple in triples for end in (triple.subject, triple.object)}
        entities_of = [named(entity) for entity in named_by.values()]
        kept = await self._store.keep(triples, entities_of, replace=replace, allowance=writing.allowance)
        new = {end.id for one in kept for end in (one.triple.subject, one.triple.object)}
        return Taught(
            kept=kept,
            new_entities=[entity for entity in made.values() if entity.id in new],
            similar=similar,
            doubtful=doubtful,
            masked=writing.masked,
        )

    async def _entities(
        self, scope: GraphScope, names: Sequence[tuple[str, str | None]]
    ) -> Mapping[tuple[str, str | None], Resolved | Ambiguous | None]:
        """What each name means: an entity by its id or one of its names, or something new."""
        now = self._clock()
        unique = [*dict.fromkeys(names)]
        found: dict[tuple[str, str | None], Resolved | Ambiguous | None] = {}
        for name, kind in unique:
            if ":" in name and (entity := await self._store.entity(scope, name.strip(), now)) is not None:
                found[name, kind] = Resolved(entity, "id")
        others = [one for one in unique if one not in found]
        for one, resolution in zip(others, await self._resolver.by_names(scope, others, now), strict=True):
            found[one] = resolution
        return found

    async def _similar(self, scope: GraphScope, entities: Sequence[Entity]) -> Mapping[str, Sequence[Candidate]]:
        """For the first of some new entities, those that are so similar that they may be the same."""
        now = self._clock()
        found: dict[str, Sequence[Candidate]] = {}
        for entity in entities[:MOST_COMPARED]:
            candidates, _ = await self._resolver.similar(scope, entity.name, entity.type, now)
            if likely := [one for one in candidates if (one.similarity or 0.0) >= LIKELY]:
                found[entity.id] = likely
        return found

    def _guarded(self, fact: Fact, writing: Writing) -> Fact:
        """The fact as it may be kept; `InvalidRequest` when a name or the predicate is none."""
        predicate_of(fact.predicate)
        return Fact(
            subject=_name(writing.text(fact.subject)),
            predicate=writing.text(fact.predicate) or fact.predicate,
            object=_name(writing.text(fact.object)),
            subject_type=type_of(fact.subject_type) if fact.subject_type else None,
            object_type=type_of(fact.object_type) if fact.object_type else None,
            confidence=fact.confidence,
            source=writing.text(fact.source) or fact.source,
            ttl=fact.ttl,
            context=writing.text(fact.context) or None,
            metadata=writing.data(fact.metadata),
        )


def _ambiguous(doubt: Doubtful) -> Conflict:
    return Conflict(
        f"{doubt.name[:80]!r} means {len(doubt.candidates)} entities",
        hint="give the id of the one that you mean",
        details={"ambiguous": True, "candidates": [one.entity.id for one in doubt.candidates]},
    )


def _ends(fact: Fact) -> tuple[tuple[str, str | None], tuple[str, str | None]]:
    return (fact.subject, fact.subject_type), (fact.object, fact.object_type)


def _triple(
    fact: Fact, subject: Entity, object_: Entity, *, scope: GraphScope, client: str | None, now: datetime
) -> Triple:
    return Triple(
        id=new_id("tri"),
        project_id=scope.project_id,
        graph_id=scope.graph_id,
        subject=subject,
        predicate=predicate_of(fact.predicate),
        object=object_,
        confidence=fact.confidence,
        source=fact.source,
        ttl=fact.ttl,
        context=fact.context,
        metadata=fact.metadata,
        client=client,
        created_at=now,
        updated_at=now,
        expires_at=now + timedelta(seconds=fact.ttl) if fact.ttl is not None else None,
    )


def _as_fact(relation: Relation, like: Fact) -> Fact:
    return Fact(
        subject=relation.subject,
        predicate=relation.predicate,
        object=relation.object,
        confidence=like.confidence,
        source=like.source,
        ttl=like.ttl,
        context=like.context or relation.sentence,
        metadata=like.metadata,
    )


def _name(name: str | None) -> str:
    if name is None or not key_of(name):
        raise InvalidRequest(f"{(name or '')[:80]!r} is no name", hint="name it by words")
    return name
