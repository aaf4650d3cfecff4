"""Who makes vectors for this room."""

from collections.abc import Sequence
from typing import Protocol

from scrubjay.features.embeddings.models import MadeMeanings, QuestionMeaning


class Meanings(Protocol):
    """Vectors of whichever model answers now."""

    async def question(self, text: str) -> QuestionMeaning: ...

    async def texts(self, texts: Sequence[str]) -> MadeMeanings:
        """One vector a text; none, and no model, when they cannot be had now."""
        ...
