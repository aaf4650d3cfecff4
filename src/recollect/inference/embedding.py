"""What an embedder is: text in, vectors out."""

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    """Turns texts into vectors whose nearness is nearness of meaning."""

    @property
    def model(self) -> str:
        """The model's name, kept beside every vector that it made."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """One vector a text: little-endian float16 values of length 1, or empty for a text without meaning to it."""
        ...
