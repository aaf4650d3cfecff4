"""Putting together what keeps episodes and learns from them."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio.abc

from recollect.domain.clock import Clock
from recollect.domain.errors import RecollectError
from recollect.domain.writing import WritingRules
from recollect.memory.models import ModelsInUse
from recollect.storage.store import Store
from recollect.toolkit.services import Services

if TYPE_CHECKING:
    from recollect.episodes.figures import EpisodeFigures
    from recollect.episodes.patterns.learning import PatternLearner
    from recollect.episodes.patterns.searching import PatternSearch
    from recollect.episodes.querying import EpisodeQueries
    from recollect.episodes.service import EpisodeService
    from recollect.episodes.statistics.analysis import Analyst

logger = logging.getLogger("recollect.app")


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
        provide("recollect.episodes.service.EpisodeService", self._episode_service)
        provide("recollect.episodes.querying.EpisodeQueries", self._episode_queries)
        provide("recollect.episodes.patterns.learning.PatternLearner", self._pattern_learner)
        provide("recollect.episodes.patterns.searching.PatternSearch", self._pattern_search)
        provide("recollect.episodes.figures.EpisodeFigures", self._episode_figures)
        provide("recollect.episodes.statistics.analysis.Analyst", self._analyst)

    async def _episode_service(self) -> "EpisodeService":
        from recollect.episodes.service import EpisodeService
        from recollect.memory.meanings import Meanings

        store, models = await self._services.get(Store), await self._services.get(ModelsInUse)
        return EpisodeService(
            store.episodes,
            self._rules(),
            Meanings(models),
            learner=await self._get_learner(),
            clock=self._clock,
        )

    async def _episode_queries(self) -> "EpisodeQueries":
        from recollect.episodes.querying import EpisodeQueries
        from recollect.memory.meanings import Meanings

        store, models = await self._services.get(Store), await self._services.get(ModelsInUse)
        return EpisodeQueries(store.episodes, Meanings(models), learner=await self._get_learner(), clock=self._clock)

    async def _get_learner(self) -> "PatternLearner":
        from recollect.episodes.patterns.learning import PatternLearner

        return await self._services.get(PatternLearner)

    async def _pattern_learner(self) -> "PatternLearner":
        from recollect.episodes.patterns.learning import PatternLearner
        from recollect.episodes.patterns.searching import PatternSearch

        store = await self._services.get(Store)
        learner = PatternLearner(store.patterns, store.episodes, await self._services.get(PatternSearch))
        self._tasks.start_soon(self._learn_what_was_missed, learner)
        return learner

    async def _learn_what_was_missed(self, learner: "PatternLearner") -> None:
        try:
            await learner.catch_up()
        except RecollectError as error:
            logger.warning("episodes are left to learn from", extra={"problem": error.message})

    async def _pattern_search(self) -> "PatternSearch":
        from recollect.episodes.patterns.searching import PatternSearch
        from recollect.memory.meanings import Meanings

        store, models = await self._services.get(Store), await self._services.get(ModelsInUse)
        return PatternSearch(store.patterns, Meanings(models), clock=self._clock)

    async def _episode_figures(self) -> "EpisodeFigures":
        from recollect.episodes.figures import EpisodeFigures

        return EpisodeFigures((await self._services.get(Store)).patterns, clock=self._clock)

    async def _analyst(self) -> "Analyst":
        from recollect.episodes.statistics.analysis import Analyst

        return Analyst()
