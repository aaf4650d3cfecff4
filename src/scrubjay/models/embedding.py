"""What an embedder is: text in, vectors out."""

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    """Turns texts into vectors whose nearness is nearness of meaning."""

    @property
    def model(self) -> str:
        """The model's name, kept beside every vector that it made; vectors of two names are never compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """One vector a text: little-endian float16 values of length 1, or empty for a text without meaning to it.

        Raises `Unavailable` when no vectors can be had for now, with a `Reason` in its details, and `InvalidRequest`
        when the provider works but refuses these texts. Whoever can do without vectors goes on without them.
        """
        ...

    async def close(self) -> None:
        """Let go of connections. What is asked later opens them again."""
        ...
