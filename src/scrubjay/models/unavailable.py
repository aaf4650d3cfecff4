"""Stand-in for an embedder that cannot be created, so that everything else works without it."""

from collections.abc import Sequence
from typing import NoReturn

from scrubjay.core.errors import ScrubjayError
from scrubjay.models.failures import FailureReason, unavailable


class UnusableEmbedder:
    """Implements `Embedder`; always raises `Unavailable` with the reason."""

    def __init__(self, model: str, dimensions: int, problem: ScrubjayError) -> None:
        self.model = model
        self.dimensions = dimensions
        self.problem = problem

    async def embed(self, texts: Sequence[str]) -> NoReturn:
        raise unavailable(
            FailureReason.MISCONFIGURED, self.problem.message, hint=self.problem.hint or "choose another model"
        ) from self.problem

    async def close(self) -> None:
        """Do nothing: there is no connection."""
