"""Find the entities that a text mentions, and the triples that are relevant to it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scrubjay.core.clock import Clock, system_clock
from scrubjay.features.knowledge.models import Entity, GraphScope, Triple
from scrubjay.features.knowledge.names import name_key, predicate_verb
from scrubjay.features.knowledge.question_relations import NamedSpan, QuestionRelations
from scrubjay.features.knowledge.store import GraphReader, KnowledgeStore
from scrubjay.features.knowledge.traversal import stored_steps, traverse

# Longer names are not found; further words of a text are ignored.
MAX_NAME_WORDS = 6
MAX_WORDS = 400
MAX_ENTITIES = 5
# Triples that are read for each mentioned entity.
MAX_TRIPLES_PER_ENTITY = 200
MIN_CONFIDENCE = 0.5
CONNECTION_DEPTH = 5
# Scores of triples that answer the question, and of triples that only share an entity with it.
DIRECT_SCORE = 1.0
RELATED_SCORE = 0.5

_WORD = re.compile(r"[^\s,;!?\"()\[\]{}\u201c\u201d]+")
_POSSESSIVE = re.compile(r"['\u2019]s$")


@dataclass(frozen=True, slots=True)
class RelevantTriple:
    """A triple that is relevant to a question."""

    triple: Triple
    score: float
    """`DIRECT_SCORE` or `RELATED_SCORE`."""

    @property
    def is_direct(self) -> bool:
        """True if it answers the question."""
        return self.score >= DIRECT_SCORE

    @property
    def text(self) -> str:
        return as_sentence(self.triple)


@dataclass(frozen=True, slots=True)
class Mentions:
    """The words of a text, and the entities that it mentions."""

    words: Sequence[str]
    found: Sequence[tuple[Entity, NamedSpan]]

    @property
    def entities(self) -> Sequence[Entity]:
        return [entity for entity, _ in self.found]


def is_indirect(triple: Triple) -> bool:
    """Return True for a triple that follows from several stored ones."""
    return len(triple.rests_on) > 1


def as_sentence(triple: Triple) -> str:
    """Return a triple as a sentence; one that follows by several steps says so."""
    indirectly = " indirectly" if is_indirect(triple) else ""
    return f"{triple.subject.name} {predicate_verb(triple.predicate)} {triple.object.name}{indirectly}."


class MentionFinder:
    """Finds known entities in texts, and their triples."""

    def __init__(self, store: KnowledgeStore, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._clock = clock

    async def mentions_in(self, scope: GraphScope, text: str) -> Mentions:
        """Return the entities that a text mentions, by one query; a longer name takes precedence over its parts."""
        written = _WORD.findall(text)[:MAX_WORDS]
        words = [_POSSESSIVE.sub("", word) for word in written]
        spans: dict[tuple[int, int], str] = {}
        for length in range(MAX_NAME_WORDS, 0, -1):
            for start in range(len(words) - length + 1):
                if key := name_key(" ".join(words[start : start + length])):
                    spans[start, start + length] = key
        known: Mapping[str, Sequence[Entity]] = {}
        if spans:
            known = await self._store.entities_by_key(scope, {*spans.values()}, self._clock())
        taken: set[int] = set()
        found: dict[str, tuple[Entity, NamedSpan]] = {}
        for (start, end), key in spans.items():
            if key in known and taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                span = NamedSpan(start, end, is_possessive=written[end - 1] != words[end - 1])
                found |= {entity.id: (entity, span) for entity in known[key] if entity.id not in found}
        return Mentions(words, [*found.values()][:MAX_ENTITIES])

    async def entities_in(self, scope: GraphScope, text: str) -> Sequence[Entity]:
        """Return the entities that a text mentions."""
        return (await self.mentions_in(scope, text)).entities

    async def relevant_triples(
        self, scope: GraphScope, question: str, limit: int, mentions: Mentions | None = None
    ) -> Sequence[RelevantTriple]:
        """Return triples of the entities that a question mentions, direct answers first.

        For two entities without a common triple, the triples on the shortest path between them are included. Pass
        `mentions` if they are known already.
        """
        mentions = mentions or await self.mentions_in(scope, question)
        mentioned = mentions.entities
        ids = {entity.id for entity in mentioned}
        relations = QuestionRelations(mentions.words, [span for _, span in mentions.found])
        direct: dict[str, Triple] = {}
        between: dict[str, Triple] = {}
        related: dict[str, Triple] = {}
        for entity, span in mentions.found:
            known = await self._store.relationships(
                scope, entity.id, MAX_TRIPLES_PER_ENTITY, self._clock(), min_confidence=MIN_CONFIDENCE
            )
            for triple in (*known.outgoing, *known.incoming):
                if len(ids) > 1 and ids.issuperset((triple.subject.id, triple.object.id)):
                    between[triple.id] = triple
                elif _is_asked(triple, entity, span, relations):
                    direct[triple.id] = triple
                else:
                    related[triple.id] = triple
        if len(mentioned) > 1 and not between:
            path = await self._between(scope, mentioned[0], mentioned[1])
            if all(relations.connects([one.predicate]) for one in path):  # a part of a path answers nothing
                between = {one.id: one for one in path}
        connecting = {one.id: one for one in between.values() if relations.connects([one.predicate])}
        related |= {triple_id: one for triple_id, one in between.items() if triple_id not in connecting}
        if connecting and not relations.asks_for_entity:
            direct, related = {}, direct | related
        ranked = [
            *(RelevantTriple(one, DIRECT_SCORE) for one in _without_repetitions([*connecting.values()])),
            *(RelevantTriple(one, DIRECT_SCORE) for one in _without_repetitions(_nearest_first(direct, connecting))),
            *(RelevantTriple(one, RELATED_SCORE) for one in _nearest_first(related, connecting | direct)),
        ]
        return ranked[:limit]

    async def _between(self, scope: GraphScope, one: Entity, other: Entity) -> Sequence[Triple]:
        """Return the triples on the shortest path between two entities, in either direction."""

        def work(graph: GraphReader) -> Mapping[str, Sequence[str]]:
            paths: dict[str, Sequence[str]] = {}
            for start, end in ((one, other), (other, one)):
                steps = stored_steps(graph, None, "forward")
                reached = traverse(
                    steps, start.id, max_depth=CONNECTION_DEPTH, min_confidence=MIN_CONFIDENCE, target=end.id
                ).reached
                if end.id in reached:
                    paths[start.id] = [step.triple_id for step in reached[end.id].steps]
            return paths

        paths = await self._store.read_graph(scope, work, self._clock())
        shortest = min(paths.values(), key=len, default=())
        return await self._store.triples(scope, shortest, self._clock())


def _nearest_first(triples: Mapping[str, Triple], shown: Mapping[str, Triple]) -> list[Triple]:
    """Return the triples that are not shown yet: stored ones first, those that follow by several steps last.

    Of two inferred statements of the same, the one with a predicate that the stored ones have comes first.
    """
    others = [triple for triple_id, triple in triples.items() if triple_id not in shown]
    stored = {triple.predicate for triple in others if not triple.inferred}
    return sorted(others, key=lambda one: (len(one.rests_on), one.predicate not in stored, -one.confidence))


def _without_repetitions(triples: Sequence[Triple]) -> list[Triple]:
    """Return the triples without those that state the same in other words, such as the inverse of a stored one."""
    shown: set[frozenset[str]] = set()
    kept: list[Triple] = []
    for triple in triples:
        if (premises := frozenset(triple.rests_on or [triple.id])) not in shown:
            shown.add(premises)
            kept.append(triple)
    return kept


def _is_asked(triple: Triple, entity: Entity, span: NamedSpan, relations: QuestionRelations) -> bool:
    """Return True when the question asks for this triple of an entity that it names."""
    if relations.only_stated and is_indirect(triple):
        return False
    sides = relations.sides(span, triple.predicate)
    return ("subject" in sides and triple.subject.id == entity.id) or (
        "object" in sides and triple.object.id == entity.id
    )
