"""Embed texts that are not memories with the active model."""

import logging
from collections.abc import Sequence

from scrubjay.core.errors import InvalidRequest, Unavailable
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.embeddings.models import QueryEmbedding, TextEmbeddings
from scrubjay.features.embeddings.question_vector import STATIC_MODELS, embed_query

logger = logging.getLogger("scrubjay.features.memory")


class TextEmbedder:
    """Makes vectors with the active model."""

    def __init__(self, models: ModelRegistry) -> None:
        self._models = models

    async def embed_query(self, text: str) -> QueryEmbedding:
        """Embed a query, with the same timeout as `recall`."""
        model = (await self._models.current()).active
        vector, problem = await embed_query(text, model)
        return QueryEmbedding(
            vector=vector,
            model=model.embedder.model,
            dimensions=model.embedder.dimensions,
            provider=model.choice.provider,
            contextual=not model.embedder.model.startswith(STATIC_MODELS),
            problem=problem,
        )

    async def embed_texts(self, texts: Sequence[str]) -> TextEmbeddings:
        """Embed texts; return empty vectors and an empty model name if the embedder fails."""
        embedder = (await self._models.current()).active.embedder
        try:
            return TextEmbeddings(embedder.model, await embedder.embed(texts))
        except (Unavailable, InvalidRequest) as error:
            logger.warning("stored without vectors", extra={"texts": len(texts), "problem": error.message})
            return TextEmbeddings("", [b""] * len(texts))
