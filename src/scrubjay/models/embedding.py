"""Interface of embedding models: texts in, vectors out."""

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    """Turns texts into vectors that are close if the texts are similar in meaning."""

    @property
    def model(self) -> str:
        """Name of the model, stored with each vector; vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """Return one vector per text: normalized little-endian float16, or empty bytes for a text without tokens.

        Raises `Unavailable` with a `FailureReason` in its details if no vectors can be obtained now, and
        `InvalidRequest` if the provider works but rejects these texts. Callers should continue without vectors if they
        can.
        """
        ...

    async def close(self) -> None:
        """Close connections. Later requests open new ones."""
        ...
