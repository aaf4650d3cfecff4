"""Telling by itself what is known of the things that a client speaks of, sparingly."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from scrubjay.core.clock import Clock, system_clock
from scrubjay.features.knowledge.mentions import Mentions
from scrubjay.features.knowledge.models import Entity, GraphScope, Triple
from scrubjay.features.knowledge.store import KnowledgeStore

# What is less sure is not told without being asked for.
LEAST = 0.90
# What was spoken of longer ago is not spoken of now.
SPOKEN_OF = timedelta(seconds=300)
# Of what was suggested last, nothing is suggested again, and never more than so much at once.
LATELY = 10
AT_ONCE = 2
# So much is looked through of each entity.
LOOKED_THROUGH = 50
# So many clients' talks are remembered, and of each so many entities and triples.
MOST_TALKS = 1_000
MOST_REMEMBERED = 500


@dataclass(slots=True)
class _Talk:
    """What a client and this process have spoken of."""

    spoken_of: OrderedDict[str, datetime] = field(default_factory=OrderedDict[str, datetime])
    """Entities, those spoken of last at the end."""
    said: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])
    """The ids of triples that the client has seen."""
    suggested: deque[str] = field(default_factory=lambda: deque[str](maxlen=LATELY))


class Suggestions:
    """Remembers, for as long as the process lives, what clients speak of and were told."""

    def __init__(self, store: KnowledgeStore, mentions: Mentions, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._mentions = mentions
        self._clock = clock
        self._talks: OrderedDict[tuple[str | None, GraphScope], _Talk] = OrderedDict()

    def note(
        self, client: str | None, scope: GraphScope, entities: Sequence[Entity] = (), told: Sequence[Triple] = ()
    ) -> None:
        """A client has spoken of these entities, and seen these triples."""
        talk, now = self._talk(client, scope), self._clock()
        for entity in entities:
            talk.spoken_of[entity.id] = now
            talk.spoken_of.move_to_end(entity.id)
        for triple in told:
            talk.said[triple.id] = None
            talk.said.move_to_end(triple.id)
        for remembered in (talk.spoken_of, talk.said):
            while len(remembered) > MOST_REMEMBERED:
                remembered.popitem(last=False)

    async def suggest(self, client: str | None, scope: GraphScope, text: str | None) -> Sequence[Triple]:
        """Sure facts of what was just spoken of, in this text too, that the client was not told yet; two at most."""
        if text:
            self.note(client, scope, await self._mentions.entities_in(scope, text))
        talk, now = self._talk(client, scope), self._clock()
        chosen: list[Triple] = []
        for entity_id, at in reversed([*talk.spoken_of.items()]):
            if now - at >= SPOKEN_OF or len(chosen) == AT_ONCE:
                break
            known = await self._store.relationships(scope, entity_id, LOOKED_THROUGH, now, least=LEAST)
            taken = {one.id for one in chosen}
            fresh = [
                one
                for one in (*known.outgoing, *known.incoming)
                if one.id not in talk.said and one.id not in talk.suggested and one.id not in taken
            ]
            chosen += fresh[: AT_ONCE - len(chosen)]
        talk.suggested.extend(one.id for one in chosen)
        self.note(client, scope, told=chosen)
        return chosen

    def _talk(self, client: str | None, scope: GraphScope) -> _Talk:
        talk = self._talks.setdefault((client, scope), _Talk())
        self._talks.move_to_end((client, scope))
        while len(self._talks) > MOST_TALKS:
            self._talks.popitem(last=False)
        return talk
