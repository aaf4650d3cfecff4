"""The meaning of texts that are no memories, by the same model that memories have theirs from."""

import logging
from collections.abc import Sequence

from scrubjay.core.errors import InvalidRequest, Unavailable
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.embeddings.models import MadeMeanings, QuestionMeaning
from scrubjay.features.embeddings.question_vector import STATIC_MODELS, meaning_of

logger = logging.getLogger("scrubjay.features.memory")


class Meanings:
    """Vectors of the model that answers now."""

    def __init__(self, models: ModelsInUse) -> None:
        self._models = models

    async def question(self, text: str) -> QuestionMeaning:
        """The meaning of a question, which waits no longer for it than a question about memories does."""
        model = (await self._models.now()).answering
        vector, problem = await meaning_of(text, model)
        return QuestionMeaning(
            vector=vector,
            model=model.embedder.model,
            dimensions=model.embedder.dimensions,
            provider=model.choice.provider,
            contextual=not model.embedder.model.startswith(STATIC_MODELS),
            problem=problem,
        )

    async def texts(self, texts: Sequence[str]) -> MadeMeanings:
        """The meanings of texts; none, and no model, when they cannot be had now."""
        embedder = (await self._models.now()).answering.embedder
        try:
            return MadeMeanings(embedder.model, await embedder.embed(texts))
        except (Unavailable, InvalidRequest) as error:
            logger.warning("kept without its meaning", extra={"texts": len(texts), "problem": error.message})
            return MadeMeanings("", [b""] * len(texts))
