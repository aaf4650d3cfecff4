"""Assemble answers to questions."""

from scrubjay.features.answers.router import QuestionRouter
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
async def router(services: Services) -> QuestionRouter:
    return QuestionRouter(await _relations(services))


async def _relations(services: Services) -> MentionFinder | None:
    return await services.get(MentionFinder) if services.ready(FeatureSettings).semantic_store else None


@WIRING.provides
async def asker(services: Services) -> AnswerService:
    return AnswerService(
        await services.get(MemoryService),
        await services.get(WorkingMemory),
        await _relations(services),
        (await services.get(LanguageModel)).completer,
    )
