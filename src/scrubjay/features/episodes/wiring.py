"""Assemble episodes and the patterns learned from them."""

import logging

from scrubjay.core.errors import ScrubjayError
from scrubjay.core.write_rules import WritingRules
from scrubjay.features.embeddings.text_embedder import TextEmbedder
from scrubjay.features.episodes.patterns.learner import PatternLearner
from scrubjay.features.episodes.patterns.search import PatternSearch
from scrubjay.features.episodes.patterns.store import PatternStore
from scrubjay.features.episodes.quality_stats import EpisodeStatistics
from scrubjay.features.episodes.search import EpisodeQueries
from scrubjay.features.episodes.service import EpisodeService
from scrubjay.features.episodes.store import EpisodeStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()

logger = logging.getLogger("scrubjay.features.episodes")


@WIRING.provides
async def episode_service(services: Services) -> EpisodeService:
    return EpisodeService(
        await services.get(EpisodeStore),
        await services.get(WritingRules),
        await services.get(TextEmbedder),
        learner=await services.get(PatternLearner),
        clock=services.ready(Runtime).clock,
    )


@WIRING.provides
async def episode_queries(services: Services) -> EpisodeQueries:
    return EpisodeQueries(
        await services.get(EpisodeStore),
        await services.get(TextEmbedder),
        learner=await services.get(PatternLearner),
        clock=services.ready(Runtime).clock,
    )


@WIRING.provides
async def pattern_learner(services: Services) -> PatternLearner:
    store, episodes = await services.get(PatternStore), await services.get(EpisodeStore)
    learner = PatternLearner(store, episodes, await services.get(PatternSearch))
    services.ready(Runtime).tasks.start_soon(_catch_up, learner)
    return learner


async def _catch_up(learner: PatternLearner) -> None:
    """Learn from episodes that a process completed and ended before it had learned from them."""
    try:
        await learner.catch_up()
    except ScrubjayError as error:
        logger.warning("learning from missed episodes failed", extra={"problem": error.message})


@WIRING.provides
async def pattern_search(services: Services) -> PatternSearch:
    store, embedder = await services.get(PatternStore), await services.get(TextEmbedder)
    return PatternSearch(store, embedder, clock=services.ready(Runtime).clock)


@WIRING.provides
async def episode_statistics(services: Services) -> EpisodeStatistics:
    return EpisodeStatistics(await services.get(PatternStore), clock=services.ready(Runtime).clock)
