"""Interface of the embedding service that episodes use."""

from collections.abc import Sequence
from typing import Protocol

from scrubjay.features.embeddings.models import QueryEmbedding, TextEmbeddings


class EmbeddingSource(Protocol):
    """Create vectors with the embedding model that is active now."""

    async def embed_query(self, text: str) -> QueryEmbedding: ...

    async def embed_texts(self, texts: Sequence[str]) -> TextEmbeddings:
        """Return one vector per text; empty vectors and an empty model name when the model cannot be reached."""
        ...
