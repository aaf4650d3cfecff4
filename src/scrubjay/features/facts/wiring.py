"""Assemble fact extraction."""

from scrubjay.features.facts.llm_facts import LlmFactExtractor
from scrubjay.features.facts.service import FactExtractor
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.summaries.store import SummaryStore
from scrubjay.models.completion import LanguageModel
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def fact_extractor(services: Services) -> FactExtractor:
    completer = (await services.get(LanguageModel)).completer
    return FactExtractor(
        await services.get(SummaryStore),
        await services.get(MemoryStore),
        await services.get(MemoryService),
        LlmFactExtractor(completer) if completer is not None else None,
    )
