"""Putting together what keeps episodes and learns from them."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio.abc

from scrubjay.app.store import Store
from scrubjay.core.clock import Clock
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.write_rules import WritingRules
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.tooling.services import Services

if TYPE_CHECKING:
    from scrubjay.features.analysis.service import Analyst
    from scrubjay.features.episodes.patterns.learning import PatternLearner
    from scrubjay.features.episodes.patterns.search import PatternSearch
    from scrubjay.features.episodes.quality_stats import EpisodeFigures
    from scrubjay.features.episodes.search import EpisodeQueries
    from scrubjay.features.episodes.service import EpisodeService

logger = logging.getLogger("scrubjay.app")


class EpisodeServices:
    """The services of the room `episodes`."""

    def __init__(
        self, services: Services, tasks: anyio.abc.TaskGroup, rules: Callable[[], WritingRules], clock: Clock
    ) -> None:
        self._services = services
        self._tasks = tasks
        self._rules = rules
        self._clock = clock

    def provide(self) -> None:
        """Each is made when it is first needed."""
        provide = self._services.provide_named
        provide("scrubjay.features.episodes.service.EpisodeService", self._episode_service)
        provide("scrubjay.features.episodes.search.EpisodeQueries", self._episode_queries)
        provide("scrubjay.features.episodes.patterns.learning.PatternLearner", self._pattern_learner)
        provide("scrubjay.features.episodes.patterns.search.PatternSearch", self._pattern_search)
        provide("scrubjay.features.episodes.quality_stats.EpisodeFigures", self._episode_figures)
        provide("scrubjay.features.analysis.service.Analyst", self._analyst)

    async def _episode_service(self) -> "EpisodeService":
        from scrubjay.features.embeddings.text_embedder import Meanings
        from scrubjay.features.episodes.service import EpisodeService

        store, models = await self._services.get(Store), await self._services.get(ModelsInUse)
        return EpisodeService(
            store.episodes,
            self._rules(),
            Meanings(models),
            learner=await self._get_learner(),
            clock=self._clock,
        )

    async def _episode_queries(self) -> "EpisodeQueries":
        from scrubjay.features.embeddings.text_embedder import Meanings
        from scrubjay.features.episodes.search import EpisodeQueries

        store, models = await self._services.get(Store), await self._services.get(ModelsInUse)
        return EpisodeQueries(store.episodes, Meanings(models), learner=await self._get_learner(), clock=self._clock)

    async def _get_learner(self) -> "PatternLearner":
        from scrubjay.features.episodes.patterns.learning import PatternLearner

        return await self._services.get(PatternLearner)

    async def _pattern_learner(self) -> "PatternLearner":
        from scrubjay.features.episodes.patterns.learning import PatternLearner
        from scrubjay.features.episodes.patterns.search import PatternSearch

        store = await self._services.get(Store)
        learner = PatternLearner(store.patterns, store.episodes, await self._services.get(PatternSearch))
        self._tasks.start_soon(self._learn_what_was_missed, learner)
        return learner

    async def _learn_what_was_missed(self, learner: "PatternLearner") -> None:
        try:
            await learner.catch_up()
        except ScrubjayError as error:
            logger.warning("episodes are left to learn from", extra={"problem": error.message})

    async def _pattern_search(self) -> "PatternSearch":
        from scrubjay.features.embeddings.text_embedder import Meanings
        from scrubjay.features.episodes.patterns.search import PatternSearch

        store, models = await self._services.get(Store), await self._services.get(ModelsInUse)
        return PatternSearch(store.patterns, Meanings(models), clock=self._clock)

    async def _episode_figures(self) -> "EpisodeFigures":
        from scrubjay.features.episodes.quality_stats import EpisodeFigures

        return EpisodeFigures((await self._services.get(Store)).patterns, clock=self._clock)

    async def _analyst(self) -> "Analyst":
        from scrubjay.features.analysis.service import Analyst

        return Analyst()
