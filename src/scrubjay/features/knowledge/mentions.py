"""Which entities a text speaks of, and what is known that belongs to it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scrubjay.core.clock import Clock, system_clock
from scrubjay.features.knowledge.models import Entity, GraphScope, Triple
from scrubjay.features.knowledge.names import key_of, predicate_of, spoken
from scrubjay.features.knowledge.rules import readings_of
from scrubjay.features.knowledge.store import Edges, KnowledgeStore
from scrubjay.features.knowledge.traversal import along, walk
from scrubjay.search_index.terms import telling_terms

# A name has so many words at most, and so many words of a text are looked at.
LONGEST_NAME_WORDS = 6
MOST_WORDS = 400
MOST_MENTIONED = 5
# So much is looked through of each entity, and so much is told in all.
MOST_RELATIONS = 200
LEAST = 0.5
CONNECTION_DEPTH = 5
# What says what was asked about, and what only is about the same thing.
SAYS_IT = 1.0
IS_ABOUT = 0.5

_WORD = re.compile(r"[^\s,;!?\"()\[\]{}\u201c\u201d]+")
_POSSESSIVE = re.compile(r"['\u2019]s$")


@dataclass(frozen=True, slots=True)
class Relevant:
    """A triple that belongs to a question."""

    triple: Triple
    score: float
    """1 when it says what was asked about, less when it only is about the same thing."""

    @property
    def text(self) -> str:
        return sentence_of(self.triple)


def sentence_of(triple: Triple) -> str:
    """A triple in words."""
    return f"{triple.subject.name} {spoken(triple.predicate)} {triple.object.name}."


class Mentions:
    """Looks into texts for what is known."""

    def __init__(self, store: KnowledgeStore, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._clock = clock

    async def entities_in(self, scope: GraphScope, text: str) -> Sequence[Entity]:
        """The entities that a text names, longer names before shorter ones that are parts of them."""
        words = [_POSSESSIVE.sub("", word) for word in _WORD.findall(text)[:MOST_WORDS]]
        spans: dict[tuple[int, int], str] = {}
        for length in range(LONGEST_NAME_WORDS, 0, -1):
            for start in range(len(words) - length + 1):
                if key := key_of(" ".join(words[start : start + length])):
                    spans[start, start + length] = key
        known: Mapping[str, Sequence[Entity]] = {}
        if spans:
            known = await self._store.named(scope, {*spans.values()}, self._clock())
        taken: set[int] = set()
        found: dict[str, Entity] = {}
        for (start, end), key in spans.items():
            if key in known and taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                found |= {entity.id: entity for entity in known[key]}
        return [*found.values()][:MOST_MENTIONED]

    async def about(self, scope: GraphScope, question: str, limit: int) -> Sequence[Relevant]:
        """What is known of the entities that a question names, what it asks for first.

        Of two that are not related themselves, the way from the one to the other.
        """
        mentioned = await self.entities_in(scope, question)
        ids = {entity.id for entity in mentioned}
        asked = frozenset(telling_terms(question))
        found: dict[str, Relevant] = {}
        for entity in mentioned:
            known = await self._store.relationships(scope, entity.id, MOST_RELATIONS, self._clock(), least=LEAST)
            for triple in (*known.outgoing, *known.incoming):
                both = len(ids) > 1 and ids.issuperset((triple.subject.id, triple.object.id))
                says_it = both or _is_asked(triple.predicate, asked)
                found.setdefault(triple.id, Relevant(triple, SAYS_IT if says_it else IS_ABOUT))
        if len(mentioned) > 1 and not any(
            ids.issuperset((one.triple.subject.id, one.triple.object.id)) for one in found.values()
        ):
            between = await self._between(scope, mentioned[0], mentioned[1])
            way = {triple.id: Relevant(triple, SAYS_IT) for triple in between}
            found = way | {triple_id: one for triple_id, one in found.items() if triple_id not in way}
        ranked = sorted(found.values(), key=lambda one: (-one.score, one.triple.inferred, -one.triple.confidence))
        return ranked[:limit]

    async def _between(self, scope: GraphScope, one: Entity, other: Entity) -> Sequence[Triple]:
        """The triples on the shortest way between two, whichever way it goes."""

        def work(edges: Edges) -> Mapping[str, Sequence[str]]:
            ways: dict[str, Sequence[str]] = {}
            for start, end in ((one, other), (other, one)):
                steps = along(edges, None, "forward")
                reached = walk(steps, start.id, max_depth=CONNECTION_DEPTH, least=LEAST, target=end.id).reached
                if end.id in reached:
                    ways[start.id] = [step.triple_id for step in reached[end.id].steps]
            return ways

        ways = await self._store.walk(scope, work, self._clock())
        shortest = min(ways.values(), key=len, default=())
        return await self._store.triples(scope, shortest, self._clock())


def _is_asked(predicate: str, asked: frozenset[str]) -> bool:
    """Whether a question has the words of this predicate, or of one that says the same the other way round."""
    same = {predicate, *(reading.predicate for reading in readings_of(predicate_of(predicate)))}
    return any((words := telling_terms(spoken(one))) and asked.issuperset(words) for one in same)
