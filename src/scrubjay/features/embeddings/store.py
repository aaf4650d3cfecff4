"""Interface that a store backend implements for the choice of the embedding model."""

from collections.abc import Sequence
from typing import Protocol

from scrubjay.features.embeddings.models import ChosenModel, ModelState, NewVector, UnembeddedMemory


class EmbeddingStore(Protocol):
    """Stores the chosen models and finds memories without a vector.

    A memory has a vector of a model if one with the right dimensions is stored, or an empty one for a text that the
    model cannot embed.
    """

    async def state(self) -> ModelState:
        """Return the current state, shared by all processes. Cheap enough for every call."""
        ...

    async def begin(self, coming: ChosenModel) -> None:
        """Make this model the next one, instead of any other."""
        ...

    async def claim(self, change_id: str, job_id: str) -> ModelState:
        """Record the job that runs this change; raise `Conflict` if another change has replaced it."""
        ...

    async def complete(self, change_id: str) -> bool:
        """Activate the model of this change, in one step for all processes.

        Return False, without any change, if a memory lacks a vector. Raise `Conflict` like `claim`.
        """
        ...

    async def count_missing(self, model: str, dimensions: int) -> int: ...

    async def missing(self, model: str, dimensions: int, after: int, limit: int) -> Sequence[UnembeddedMemory]:
        """Return memories of all scopes without a vector of this model, in storage order, after position `after`."""
        ...

    async def put(self, model: str, vectors: Sequence[NewVector]) -> None:
        """Store vectors, except for memories that were deleted or changed since."""
        ...

    async def drop_replaced(self, model: str, limit: int) -> int:
        """Delete up to `limit` vectors of other models from memories that have one of this; return their number.

        Vectors of the active and the next model are never deleted.
        """
        ...

    async def drop_files(self) -> None:
        """Delete the derived files of models without vectors."""
        ...
