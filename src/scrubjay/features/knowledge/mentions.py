"""Find the entities that a text mentions, and the triples that are relevant to it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scrubjay.core.clock import Clock, system_clock
from scrubjay.features.knowledge.models import Entity, GraphScope, Triple
from scrubjay.features.knowledge.names import name_key, normalize_predicate, predicate_phrase
from scrubjay.features.knowledge.rules import implying_predicates
from scrubjay.features.knowledge.store import GraphReader, KnowledgeStore
from scrubjay.features.knowledge.traversal import stored_steps, traverse
from scrubjay.search_index.terms import significant_terms

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
    def text(self) -> str:
        return as_sentence(self.triple)


def as_sentence(triple: Triple) -> str:
    """Return a triple as a sentence."""
    return f"{triple.subject.name} {predicate_phrase(triple.predicate)} {triple.object.name}."


class MentionFinder:
    """Finds known entities in texts, and their triples."""

    def __init__(self, store: KnowledgeStore, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._clock = clock

    async def entities_in(self, scope: GraphScope, text: str) -> Sequence[Entity]:
        """Return the entities that a text mentions; a longer name takes precedence over its parts."""
        words = [_POSSESSIVE.sub("", word) for word in _WORD.findall(text)[:MAX_WORDS]]
        spans: dict[tuple[int, int], str] = {}
        for length in range(MAX_NAME_WORDS, 0, -1):
            for start in range(len(words) - length + 1):
                if key := name_key(" ".join(words[start : start + length])):
                    spans[start, start + length] = key
        known: Mapping[str, Sequence[Entity]] = {}
        if spans:
            known = await self._store.entities_by_key(scope, {*spans.values()}, self._clock())
        taken: set[int] = set()
        found: dict[str, Entity] = {}
        for (start, end), key in spans.items():
            if key in known and taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                found |= {entity.id: entity for entity in known[key]}
        return [*found.values()][:MAX_ENTITIES]

    async def relevant_triples(self, scope: GraphScope, question: str, limit: int) -> Sequence[RelevantTriple]:
        """Return triples of the entities that a question mentions, direct answers first.

        For two entities without a common triple, the triples on the shortest path between them are included.
        """
        mentioned = await self.entities_in(scope, question)
        ids = {entity.id for entity in mentioned}
        question_terms = frozenset(significant_terms(question))
        found: dict[str, RelevantTriple] = {}
        for entity in mentioned:
            known = await self._store.relationships(
                scope, entity.id, MAX_TRIPLES_PER_ENTITY, self._clock(), min_confidence=MIN_CONFIDENCE
            )
            for triple in (*known.outgoing, *known.incoming):
                both = len(ids) > 1 and ids.issuperset((triple.subject.id, triple.object.id))
                is_direct = both or _is_asked(triple.predicate, question_terms)
                found.setdefault(triple.id, RelevantTriple(triple, DIRECT_SCORE if is_direct else RELATED_SCORE))
        if len(mentioned) > 1 and not any(
            ids.issuperset((one.triple.subject.id, one.triple.object.id)) for one in found.values()
        ):
            between = await self._between(scope, mentioned[0], mentioned[1])
            path = {triple.id: RelevantTriple(triple, DIRECT_SCORE) for triple in between}
            found = path | {triple_id: one for triple_id, one in found.items() if triple_id not in path}
        ranked = sorted(found.values(), key=lambda one: (-one.score, one.triple.inferred, -one.triple.confidence))
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


def _is_asked(predicate: str, question_terms: frozenset[str]) -> bool:
    """Return True when the question contains the words of this predicate or of one that implies it."""
    same = {predicate, *(source.predicate for source in implying_predicates(normalize_predicate(predicate)))}
    return any((words := significant_terms(predicate_phrase(one))) and question_terms.issuperset(words) for one in same)
