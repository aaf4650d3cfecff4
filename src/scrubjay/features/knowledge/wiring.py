"""Assemble the knowledge graph: the service, inference in the background, mentions and suggestions."""

from scrubjay.core.write_rules import WritingRules
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.knowledge.auto_inference import BackgroundInference
from scrubjay.features.knowledge.entity_resolution import EntityResolver
from scrubjay.features.knowledge.mentions import MentionFinder
from scrubjay.features.knowledge.service import KnowledgeService
from scrubjay.features.knowledge.store import KnowledgeStore
from scrubjay.features.knowledge.suggestions import FactSuggester
from scrubjay.features.knowledge.triple_writer import TripleWriter
from scrubjay.models.completion import Completer, LanguageModel
from scrubjay.models.embedding import Embedder
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def knowledge_service(services: Services) -> KnowledgeService:
    async def embedder() -> Embedder:
        models = await services.get(ModelRegistry)
        return (await models.current()).active.embedder

    async def completer() -> Completer | None:
        return (await services.get(LanguageModel)).completer

    store, inference = await services.get(KnowledgeStore), await services.get(BackgroundInference)
    resolver, clock = EntityResolver(store, embedder), services.ready(Runtime).clock
    writer = TripleWriter(store, resolver, completer, await services.get(WritingRules), clock=clock)
    return KnowledgeService(store, resolver, writer, on_change=inference.wake, clock=clock)


@WIRING.provides
async def background_inference(services: Services) -> BackgroundInference:
    runtime = services.ready(Runtime)
    inference = BackgroundInference(await services.get(KnowledgeStore), clock=runtime.clock)
    runtime.tasks.start_soon(inference.run)
    return inference


@WIRING.provides
async def mentions(services: Services) -> MentionFinder:
    return MentionFinder(await services.get(KnowledgeStore), clock=services.ready(Runtime).clock)


@WIRING.provides
async def suggestions(services: Services) -> FactSuggester:
    store, mention_finder = await services.get(KnowledgeStore), await services.get(MentionFinder)
    return FactSuggester(store, mention_finder, clock=services.ready(Runtime).clock)
