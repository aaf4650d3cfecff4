"""Assemble the embedding models in use and the language model."""

from functools import partial
from typing import TYPE_CHECKING

from scrubjay.core.environment import all_variables
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.lazy import lazy_module
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.embeddings.model_switch import ModelSwitch
from scrubjay.features.embeddings.settings import EmbeddingSettings
from scrubjay.features.embeddings.store import EmbeddingStore
from scrubjay.features.embeddings.text_embedder import TextEmbedder
from scrubjay.models.breakers import BreakerRegistry
from scrubjay.models.completion import Completer, LanguageModel, UnusableCompleter
from scrubjay.models.embedding_cache import VectorCache
from scrubjay.models.providers import embedder_for
from scrubjay.models.settings import LlmSettings
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

if TYPE_CHECKING:
    from scrubjay.models import chat_completions
else:  # few installations have a language model
    chat_completions = lazy_module("scrubjay.models.chat_completions")

WIRING = Wiring()


@WIRING.provides
async def models_in_use(services: Services) -> ModelRegistry:
    chosen = services.ready(EmbeddingSettings)
    make = partial(
        embedder_for,
        environment=all_variables(),
        cache=VectorCache(chosen.cache_bytes),
        breakers=services.ready(BreakerRegistry),
    )
    models = ModelRegistry(await services.get(EmbeddingStore), chosen.choice(), make, rights=chosen.caller_rights())
    services.on_close(models.close)
    return models


@WIRING.provides
async def text_embedder(services: Services) -> TextEmbedder:
    return TextEmbedder(await services.get(ModelRegistry))


@WIRING.provides
async def embedding_change(services: Services) -> ModelSwitch:
    return ModelSwitch(await services.get(EmbeddingStore), await services.get(ModelRegistry))


@WIRING.provides
async def language_model(services: Services) -> LanguageModel:
    if (choice := services.ready(LlmSettings).choice()) is None:
        return LanguageModel(None)
    completer: Completer
    try:
        completer = chat_completions.completer_for(choice, all_variables(), services.ready(BreakerRegistry))
    except ScrubjayError as problem:
        completer = UnusableCompleter(choice.model, problem)
    services.on_close(completer.close)
    return LanguageModel(completer)
