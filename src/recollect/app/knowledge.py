"""Putting together what knows how things are related."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio.abc

from recollect.domain.clock import Clock
from recollect.domain.writing import WritingRules
from recollect.memory.models import ModelsInUse
from recollect.storage.store import Store
from recollect.toolkit.services import Services

if TYPE_CHECKING:
    from recollect.inference.completion import Completer
    from recollect.inference.embedding import Embedder
    from recollect.knowledge.background import BackgroundInference
    from recollect.knowledge.mentions import Mentions
    from recollect.knowledge.service import KnowledgeService
    from recollect.knowledge.suggesting import Suggestions


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
        provide("recollect.knowledge.service.KnowledgeService", self._knowledge)
        provide("recollect.knowledge.mentions.Mentions", self._mentions)
        provide("recollect.knowledge.suggesting.Suggestions", self._suggestions)
        provide("recollect.knowledge.background.BackgroundInference", self._inference)

    async def _knowledge(self) -> "KnowledgeService":
        from recollect.inference.completion import LanguageModel
        from recollect.knowledge.background import BackgroundInference
        from recollect.knowledge.resolving import Resolver
        from recollect.knowledge.service import KnowledgeService
        from recollect.knowledge.teaching import Teacher

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
        from recollect.knowledge.background import BackgroundInference

        inference = BackgroundInference((await self._services.get(Store)).knowledge, clock=self._clock)
        self._tasks.start_soon(inference.keep)
        return inference

    async def _mentions(self) -> "Mentions":
        from recollect.knowledge.mentions import Mentions

        return Mentions((await self._services.get(Store)).knowledge, clock=self._clock)

    async def _suggestions(self) -> "Suggestions":
        from recollect.knowledge.mentions import Mentions
        from recollect.knowledge.suggesting import Suggestions

        store, mentions = (await self._services.get(Store)).knowledge, await self._services.get(Mentions)
        return Suggestions(store, mentions, clock=self._clock)
