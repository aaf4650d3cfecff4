"""What every system in the speed benchmark can do, ours and the others alike."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus_files import Probe

WANTED = 10
"""How many rows a search is asked for."""


class Contestant(Protocol):
    """A store in a folder of its own. Rows are known by the number in their metadata."""

    def __init__(self, folder: Path) -> None: ...

    async def open(self) -> None: ...

    async def add(self, memories: Sequence[dict[str, Any]], vectors: NDArray[np.float16]) -> None:
        """Keep these durably."""
        ...

    async def finish(self) -> None:
        """Make what its documentation recommends for a store of this size."""
        ...

    async def search(self, probe: Probe, category: str | None) -> list[int]:
        """The best ten rows: the way whose cost is measured."""
        ...

    async def nearest(self, probe: Probe, category: str | None) -> list[int]:
        """What the vectors brought for a question that no text matches: the way whose accuracy is measured."""
        ...

    async def search_text(self, probe: Probe) -> list[int] | None:
        """The best ten rows by words alone; None if it has no such search, or not by itself."""
        ...

    async def close(self) -> None: ...


CONTESTANTS = {
    "scrubjay": "benchmarks.ours:Ours",
    "chromadb": "benchmarks.peers.chroma:Chroma",
    "sqlite-vec": "benchmarks.peers.sqlite_vec:SqliteVec",
    "lancedb": "benchmarks.peers.lance:Lance",
}
"""Where each is found; imported only in the process that runs it."""
