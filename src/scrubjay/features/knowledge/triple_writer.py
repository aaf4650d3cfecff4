"""Store triples that are given as fields, in batches, or as sentences."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Conflict, InvalidRequest, Unavailable
from scrubjay.core.ids import new_id
from scrubjay.core.write_rules import Writing, WritingRules
from scrubjay.features.knowledge.entity_resolution import Ambiguous, EntityCandidate, EntityResolver, Resolved
from scrubjay.features.knowledge.llm_extraction import extract_relations
from scrubjay.features.knowledge.models import Entity, GraphScope, StoredTriple, Triple, WriteOutcome
from scrubjay.features.knowledge.names import indexed_entity, name_key, new_entity, normalize_predicate, normalize_type
from scrubjay.features.knowledge.sentence_parser import Relation, parse_relations
from scrubjay.features.knowledge.store import KnowledgeStore
from scrubjay.models.completion import Completer

# Only the first new entities of a call are compared with known ones to report likely duplicates.
MAX_COMPARED = 20
LIKELY_DUPLICATE = 0.65

Method = Literal["given", "rules", "llm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A statement to store; subject and object are names or entity ids."""

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
class AmbiguousFact:
    """A fact that was not stored because a name matches several entities."""

    fact: Fact
    name: str
    candidates: Sequence[EntityCandidate]


@dataclass(slots=True, kw_only=True)
class TeachResult:
    """Result of storing facts."""

    stored: Sequence[StoredTriple]
    new_entities: Sequence[Entity]
    similar: Mapping[str, Sequence[EntityCandidate]]
    """Likely duplicates of new entities, by the id of the new one."""
    ambiguous: Sequence[AmbiguousFact]
    masked: Sequence[str]
    method: Method = "given"
    model: str | None = None
    not_understood: Sequence[str] = ()
    notes: Sequence[str] = ()

    def count(self, outcome: WriteOutcome) -> int:
        return sum(one.outcome is outcome for one in self.stored)


class TripleWriter:
    """Resolves the names of facts and stores them as triples."""

    def __init__(
        self,
        store: KnowledgeStore,
        resolver: EntityResolver,
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

    async def teach(self, scope: GraphScope, fact: Fact, client: str | None) -> TeachResult:
        """Store a triple; a known one gets the new confidence, source, ttl and metadata.

        Raises `Conflict`, without a change, when a name matches several entities.
        """
        return await self._store_facts(scope, [fact], client, replace=True)

    async def teach_many(self, scope: GraphScope, facts: Sequence[Fact], client: str | None) -> TeachResult:
        """Store many triples in one transaction; known triples stay unchanged, ambiguous facts are reported.

        Raises `Conflict` when all facts are ambiguous.
        """
        return await self._store_facts(scope, facts, client, replace=False)

    async def teach_text(self, scope: GraphScope, text: str, template: Fact, client: str | None) -> TeachResult:
        """Store the relations that a text states; `template` has their confidence, source, context and metadata.

        Uses the language model when one is configured, else rules for plain sentences. Raises `InvalidRequest` when no
        relation is found, and `Unavailable` when the model failed and the rules found none either.
        """
        completer, failure, notes = await self._completer(), None, list[str]()
        relations: Sequence[Relation] = ()
        not_understood: Sequence[str] = ()
        method, model = "rules", None
        if completer is not None:
            try:
                extracted = await extract_relations(text, completer)
            except Unavailable as error:
                failure = error
                notes.append(f"the text was parsed by rules: {error.message}")
            else:
                relations, method, model = extracted.relations, "llm", extracted.model
                if extracted.dropped:
                    notes.append(f"{extracted.dropped} relations that the text does not support were dropped")
        if method == "rules":
            parsed = parse_relations(text)
            relations, not_understood = parsed.relations, parsed.not_understood
        if not relations:
            if failure is not None:
                raise failure
            raise InvalidRequest(
                "no relation was found in this text; nothing was stored",
                hint="use plain sentences such as 'A depends on B.', or pass subject, predicate and object"
                + ("" if completer else "; free text needs a language model, see docs/llm.md"),
                details={"method": method, "not_understood": [*not_understood][:20]},
            )
        facts = [_fact_of(one, template) for one in relations]
        result = await self._store_facts(scope, facts, client, replace=False)
        result.method, result.model, result.not_understood, result.notes = method, model, not_understood, notes
        return result

    async def _store_facts(
        self, scope: GraphScope, facts: Sequence[Fact], client: str | None, *, replace: bool
    ) -> TeachResult:
        writing, now = Writing(self._rules, client), self._clock()
        guarded = [self._guarded(fact, writing) for fact in facts]
        known = await self._entities(scope, [end for fact in guarded for end in _ends(fact)])
        triples: list[Triple] = []
        ambiguous: list[AmbiguousFact] = []
        created: dict[str, Entity] = {}
        for fact in guarded:
            ends: list[Entity] = []
            for name, kind in _ends(fact):
                match known[name, kind]:
                    case Ambiguous(candidates):
                        ambiguous.append(AmbiguousFact(fact, name, candidates))
                        break
                    case Resolved(entity):
                        ends.append(entity)
                    case None:
                        entity = new_entity(name, kind)
                        created.setdefault(entity.id, entity)
                        ends.append(entity)
            else:
                triples.append(_triple(fact, *ends, scope=scope, client=client, now=now))
        if ambiguous and not triples:
            raise _ambiguous_name(ambiguous[0])
        similar = await self._similar(scope, [*created.values()])
        unique = {end.id: end for triple in triples for end in (triple.subject, triple.object)}
        entities = [indexed_entity(entity) for entity in unique.values()]
        stored = await self._store.store_triples(triples, entities, replace=replace, allowance=writing.allowance)
        used = {end.id for one in stored for end in (one.triple.subject, one.triple.object)}
        return TeachResult(
            stored=stored,
            new_entities=[entity for entity in created.values() if entity.id in used],
            similar=similar,
            ambiguous=ambiguous,
            masked=writing.masked,
        )

    async def _entities(
        self, scope: GraphScope, names: Sequence[tuple[str, str | None]]
    ) -> Mapping[tuple[str, str | None], Resolved | Ambiguous | None]:
        """Resolve each name by id or exact name; None means a new entity."""
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

    async def _similar(self, scope: GraphScope, entities: Sequence[Entity]) -> Mapping[str, Sequence[EntityCandidate]]:
        """Return likely duplicates of the first `MAX_COMPARED` new entities."""
        now = self._clock()
        found: dict[str, Sequence[EntityCandidate]] = {}
        for entity in entities[:MAX_COMPARED]:
            candidates, _ = await self._resolver.similar(scope, entity.name, entity.type, now)
            if likely := [one for one in candidates if (one.similarity or 0.0) >= LIKELY_DUPLICATE]:
                found[entity.id] = likely
        return found

    def _guarded(self, fact: Fact, writing: Writing) -> Fact:
        """Return the fact with secrets masked; `InvalidRequest` when a name or the predicate is invalid."""
        normalize_predicate(fact.predicate)
        return Fact(
            subject=_checked_name(writing.text(fact.subject)),
            predicate=writing.text(fact.predicate) or fact.predicate,
            object=_checked_name(writing.text(fact.object)),
            subject_type=normalize_type(fact.subject_type) if fact.subject_type else None,
            object_type=normalize_type(fact.object_type) if fact.object_type else None,
            confidence=fact.confidence,
            source=writing.text(fact.source) or fact.source,
            ttl=fact.ttl,
            context=writing.text(fact.context) or None,
            metadata=writing.data(fact.metadata),
        )


def _ambiguous_name(fact: AmbiguousFact) -> Conflict:
    return Conflict(
        f"{fact.name[:80]!r} matches {len(fact.candidates)} entities",
        hint="pass the id of one of them",
        details={"ambiguous": True, "candidates": [one.entity.id for one in fact.candidates]},
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
        predicate=normalize_predicate(fact.predicate),
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


def _fact_of(relation: Relation, template: Fact) -> Fact:
    return Fact(
        subject=relation.subject,
        predicate=relation.predicate,
        object=relation.object,
        confidence=template.confidence,
        source=template.source,
        ttl=template.ttl,
        context=template.context or relation.sentence,
        metadata=template.metadata,
    )


def _checked_name(name: str | None) -> str:
    if name is None or not name_key(name):
        raise InvalidRequest(f"{(name or '')[:80]!r} is not a name", hint="use a name with letters or digits")
    return name
