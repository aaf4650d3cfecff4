"""An embedder that cannot be made here, so that everything else goes on without it and says why."""

from collections.abc import Sequence
from typing import NoReturn

from scrubjay.core.errors import ScrubjayError
from scrubjay.models.failures import Reason, unavailable


class UnusableEmbedder:
    """Satisfies `Embedder`; always unavailable."""

    def __init__(self, model: str, dimensions: int, problem: ScrubjayError) -> None:
        self.model = model
        self.dimensions = dimensions
        self.problem = problem

    async def embed(self, texts: Sequence[str]) -> NoReturn:
        raise unavailable(
            Reason.MISCONFIGURED, self.problem.message, hint=self.problem.hint or "choose another model"
        ) from self.problem

    async def close(self) -> None:
        """Nothing to let go of."""
