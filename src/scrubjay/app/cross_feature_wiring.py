"""Wiring of services that use features above their own layer, which their own wiring may not import."""

from scrubjay.features.facts.fact_sources import DerivedFactFinder
from scrubjay.features.facts.service import FactExtractor
from scrubjay.features.memory.erasure import Eraser
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.summaries.llm_summaries import LlmSummariser
from scrubjay.features.summaries.service import Summariser
from scrubjay.features.summaries.store import SummaryStore
from scrubjay.features.summaries.summary_sources import DerivedSummaryFinder
from scrubjay.models.completion import LanguageModel
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def eraser(services: Services) -> Eraser:
    memories = await services.get(MemoryStore)
    return Eraser(
        await services.get(MemoryService), memories, [DerivedFactFinder(memories), DerivedSummaryFinder(memories)]
    )


@WIRING.provides
async def summariser(services: Services) -> Summariser:
    completer = (await services.get(LanguageModel)).completer
    return Summariser(
        await services.get(SummaryStore),
        await services.get(MemoryStore),
        await services.get(MemoryService),
        LlmSummariser(completer) if completer is not None else None,
        facts=await services.get(FactExtractor),
        clock=services.ready(Runtime).clock,
    )
