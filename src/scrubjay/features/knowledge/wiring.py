"""Putting together what knows how things are related."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio.abc

from scrubjay.app.store import Store
from scrubjay.core.clock import Clock
from scrubjay.core.write_rules import WritingRules
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.tooling.services import Services

if TYPE_CHECKING:
    from scrubjay.features.knowledge.auto_inference import BackgroundInference
    from scrubjay.features.knowledge.mentions import Mentions
    from scrubjay.features.knowledge.service import KnowledgeService
    from scrubjay.features.knowledge.suggestions import Suggestions
    from scrubjay.models.completion import Completer
    from scrubjay.models.embedding import Embedder


class KnowledgeServices:
    """The services of the room `knowledge`."""

    def __init__(
        self,
        services: Services,
        tasks: anyio.abc.TaskGroup,
        rules: Callable[[], WritingRules],
        clock: Clock,
    ) -> None:
        self._services = services
        self._tasks = tasks
        self._rules = rules
        self._clock = clock

    def provide(self) -> None:
        """Each is made when it is first needed."""
        provide = self._services.provide_named
        provide("scrubjay.features.knowledge.service.KnowledgeService", self._knowledge)
        provide("scrubjay.features.knowledge.mentions.Mentions", self._mentions)
        provide("scrubjay.features.knowledge.suggestions.Suggestions", self._suggestions)
        provide("scrubjay.features.knowledge.auto_inference.BackgroundInference", self._inference)

    async def _knowledge(self) -> "KnowledgeService":
        from scrubjay.features.knowledge.auto_inference import BackgroundInference
        from scrubjay.features.knowledge.entity_resolution import Resolver
        from scrubjay.features.knowledge.service import KnowledgeService
        from scrubjay.features.knowledge.teaching import Teacher
        from scrubjay.models.completion import LanguageModel

        async def embedder() -> "Embedder":
            models = await self._services.get(ModelsInUse)
            return (await models.now()).answering.embedder

        async def completer() -> "Completer | None":
            return (await self._services.get(LanguageModel)).completer

        store, inference = (await self._services.get(Store)).knowledge, await self._services.get(BackgroundInference)
        resolver = Resolver(store, embedder)
        teacher = Teacher(store, resolver, completer, self._rules(), clock=self._clock)
        return KnowledgeService(store, resolver, teacher, on_change=inference.wake, clock=self._clock)

    async def _inference(self) -> "BackgroundInference":
        from scrubjay.features.knowledge.auto_inference import BackgroundInference

        inference = BackgroundInference((await self._services.get(Store)).knowledge, clock=self._clock)
        self._tasks.start_soon(inference.keep)
        return inference

    async def _mentions(self) -> "Mentions":
        from scrubjay.features.knowledge.mentions import Mentions

        return Mentions((await self._services.get(Store)).knowledge, clock=self._clock)

    async def _suggestions(self) -> "Suggestions":
        from scrubjay.features.knowledge.mentions import Mentions
        from scrubjay.features.knowledge.suggestions import Suggestions

        store, mentions = (await self._services.get(Store)).knowledge, await self._services.get(Mentions)
        return Suggestions(store, mentions, clock=self._clock)
