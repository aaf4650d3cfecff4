"""Route questions by rules and by the entities that they name, without a language model."""

import logging

import anyio

from scrubjay.core.errors import ScrubjayError
from scrubjay.features.answers.routing import RoutingDecision, decide, with_known_entities
from scrubjay.features.knowledge.mentions import MentionFinder, Mentions
from scrubjay.features.knowledge.models import GraphScope

logger = logging.getLogger("scrubjay.features.answers")

# Time limit for looking up the names in a question, which takes about a millisecond.
NAMES_SECONDS = 1.0


class QuestionRouter:
    """Selects the stores for a question. Reads nothing but names of entities in the knowledge graph."""

    def __init__(self, relations: MentionFinder | None) -> None:
        """Pass `relations=None` when the semantic store is switched off."""
        self._relations = relations

    async def route(self, query: str, project_id: str | None, *, can_read_graph: bool) -> RoutingDecision:
        """Return the stores to query, by rules and, with `can_read_graph`, by the known entities."""
        mentions = await self.mentions(query, project_id, NAMES_SECONDS) if can_read_graph else None
        return with_known_entities(decide(query), entity_names(mentions))

    async def mentions(self, query: str, project_id: str | None, seconds: float) -> Mentions | None:
        """Return the entities that a question names; None if the graph is switched off or does not respond in time."""
        if self._relations is None:
            return None
        found: Mentions | None = None
        with anyio.move_on_after(max(0.0, min(NAMES_SECONDS, seconds))):
            try:
                found = await self._relations.mentions_in(GraphScope(project_id), query)
            except ScrubjayError as error:
                logger.warning("the names of entities could not be read", extra={"problem": error.message})
        return found


def entity_names(mentions: Mentions | None) -> list[str]:
    return [entity.name for entity in mentions.entities] if mentions is not None else []
