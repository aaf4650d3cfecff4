"""Suggest reliable triples about entities that a client mentioned recently."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from scrubjay.core.clock import Clock, system_clock
from scrubjay.features.knowledge.mentions import MentionFinder
from scrubjay.features.knowledge.models import Entity, GraphScope, Triple
from scrubjay.features.knowledge.store import KnowledgeStore

# Triples of lower confidence are not suggested.
MIN_CONFIDENCE = 0.90
# How long a mentioned entity counts as current.
MENTION_WINDOW = timedelta(seconds=300)
# The last suggestions are not repeated, and one call returns few of them.
RECENT_SUGGESTIONS = 10
MAX_SUGGESTIONS = 2
# Triples that are read for each entity.
MAX_TRIPLES_PER_ENTITY = 50
# Clients whose history is held in memory, and entities and triples of each; the oldest are dropped.
MAX_CLIENTS = 1_000
MAX_HISTORY = 500


@dataclass(slots=True)
class _ClientHistory:
    """Entities and triples that a client mentioned or received."""

    mentioned_at: OrderedDict[str, datetime] = field(default_factory=OrderedDict[str, datetime])
    """Time of the last mention by entity id, oldest first."""
    shown: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])
    """Ids of triples that the client received, as an ordered set."""
    suggested: deque[str] = field(default_factory=lambda: deque[str](maxlen=RECENT_SUGGESTIONS))


class FactSuggester:
    """Suggests triples, based on an in-memory history per client that ends with the process."""

    def __init__(self, store: KnowledgeStore, mentions: MentionFinder, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._mentions = mentions
        self._clock = clock
        self._histories: OrderedDict[tuple[str | None, GraphScope], _ClientHistory] = OrderedDict()

    def record(
        self, client: str | None, scope: GraphScope, entities: Sequence[Entity] = (), shown: Sequence[Triple] = ()
    ) -> None:
        """Record that a client mentioned these entities and received these triples."""
        history, now = self._history(client, scope), self._clock()
        for entity in entities:
            history.mentioned_at[entity.id] = now
            history.mentioned_at.move_to_end(entity.id)
        for triple in shown:
            history.shown[triple.id] = None
            history.shown.move_to_end(triple.id)
        for remembered in (history.mentioned_at, history.shown):
            while len(remembered) > MAX_HISTORY:
                remembered.popitem(last=False)

    async def suggest(self, client: str | None, scope: GraphScope, text: str | None) -> Sequence[Triple]:
        """Return at most two reliable triples about recently mentioned entities that the client has not received.

        Entities in `text` count as mentioned.
        """
        if text:
            self.record(client, scope, await self._mentions.entities_in(scope, text))
        history, now = self._history(client, scope), self._clock()
        chosen: list[Triple] = []
        for entity_id, at in reversed([*history.mentioned_at.items()]):
            if now - at >= MENTION_WINDOW or len(chosen) == MAX_SUGGESTIONS:
                break
            known = await self._store.relationships(
                scope, entity_id, MAX_TRIPLES_PER_ENTITY, now, min_confidence=MIN_CONFIDENCE
            )
            taken = {one.id for one in chosen}
            fresh = [
                one
                for one in (*known.outgoing, *known.incoming)
                if one.id not in history.shown and one.id not in history.suggested and one.id not in taken
            ]
            chosen += fresh[: MAX_SUGGESTIONS - len(chosen)]
        history.suggested.extend(one.id for one in chosen)
        self.record(client, scope, shown=chosen)
        return chosen

    def _history(self, client: str | None, scope: GraphScope) -> _ClientHistory:
        history = self._histories.setdefault((client, scope), _ClientHistory())
        self._histories.move_to_end((client, scope))
        while len(self._histories) > MAX_CLIENTS:
            self._histories.popitem(last=False)
        return history
