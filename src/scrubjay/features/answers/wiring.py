"""Assemble answers to questions."""

from scrubjay.features.answers.service import AnswerService
from scrubjay.features.knowledge.mentions import MentionFinder
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.working_memory.service import WorkingMemory
from scrubjay.models.completion import LanguageModel
from scrubjay.tooling.feature_settings import FeatureSettings
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def asker(services: Services) -> AnswerService:
    relations = await services.get(MentionFinder) if services.ready(FeatureSettings).semantic_store else None
    return AnswerService(
        await services.get(MemoryService),
        await services.get(WorkingMemory),
        relations,
        (await services.get(LanguageModel)).completer,
    )
