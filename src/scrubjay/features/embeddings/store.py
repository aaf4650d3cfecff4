"""What a backend must offer to keep which embedding model answers, and to let another one take its place."""

from collections.abc import Sequence
from typing import Protocol

from scrubjay.features.embeddings.models import ChosenModel, MadeVector, ModelState, Unembedded


class EmbeddingStore(Protocol):
    """Keeps the models that calls chose, and knows which memories lack a vector of one.

    A memory lacks a vector of a model unless it has one of this many dimensions, or an empty one, which says that the
    text has no meaning to the model.
    """

    async def state(self) -> ModelState:
        """What holds now for every process; so cheap that every call can ask."""
        ...

    async def begin(self, coming: ChosenModel) -> None:
        """From now on this model is to take the place of the one that answers; any other that was coming is not."""
        ...

    async def claim(self, change_id: str, job_id: str) -> ModelState:
        """Note the job that carries out this change. `Conflict` when another change has taken its place."""
        ...

    async def complete(self, change_id: str) -> bool:
        """In one step for all processes, let the model of this change answer.

        False, and nothing changes, when a memory still lacks its vector. `Conflict` as for `claim`.
        """
        ...

    async def count_lacking(self, model: str, dimensions: int) -> int: ...

    async def lacking(self, model: str, dimensions: int, after: int, limit: int) -> Sequence[Unembedded]:
        """Memories of every scope without a vector of this model, in the order kept; continue after the last place."""
        ...

    async def keep(self, model: str, made: Sequence[MadeVector]) -> None:
        """Keep these, except of memories that are gone or have another content by now."""
        ...

    async def drop_replaced(self, model: str, limit: int) -> int:
        """Drop so many vectors of other models, of memories that have one of this; how many there were to drop.

        Those of the model that answers or is coming are never dropped.
        """
        ...

    async def drop_files(self) -> None:
        """Remove the derived files of models that have no vectors any more."""
        ...
