"""The interface of all systems in the speed benchmark, and the list of systems."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus_files import Probe

RESULT_LIMIT = 10
"""Number of rows that a search returns."""


class StoreAdapter(Protocol):
    """A store in its own folder. Rows are identified by the number in their metadata."""

    def __init__(self, folder: Path) -> None: ...

    async def open(self) -> None: ...

    async def add(self, memories: Sequence[dict[str, Any]], vectors: NDArray[np.float16]) -> None:
        """Store the memories durably."""
        ...

    async def finish(self) -> None:
        """Build the indexes that the system's documentation recommends for this size."""
        ...

    async def search(self, probe: Probe, category: str | None) -> list[int]:
        """Return the best ten rows. The cost of this search is measured."""
        ...

    async def nearest(self, probe: Probe, category: str | None) -> list[int]:
        """Return rows by vectors for a question that no text matches. The accuracy of this search is measured."""
        ...

    async def search_text(self, probe: Probe) -> list[int] | None:
        """Return the best ten rows by words alone, or None when the system has no separate text search."""
        ...

    async def close(self) -> None: ...


STORES = {
    "scrubjay": "benchmarks.scrubjay_store:ScrubjayStore",
    "chromadb": "benchmarks.peers.chroma:Chroma",
    "sqlite-vec": "benchmarks.peers.sqlite_vec:SqliteVec",
    "lancedb": "benchmarks.peers.lance:Lance",
}
"""Module and class of each system, imported only in the process that runs it."""
