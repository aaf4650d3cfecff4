"""Scrubjay in the speed benchmark: its public tools, called through the dispatcher."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus_files import Probe
from benchmarks.store_adapter import RESULT_LIMIT
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.candidates import CandidateQuery
from scrubjay.features.memory.models import MemoryFilter
from scrubjay.models.static_model import StaticEmbedder
from scrubjay.tooling.context import CallContext

BATCH = 1_000


class ScrubjayStore:
    """Implements `StoreAdapter`. Given vectors are ignored: `remember` and `recall` compute embeddings themselves."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._embedder = StaticEmbedder()
        self._lifetime = AsyncExitStack()

    async def open(self) -> None:
        self._application = await self._lifetime.enter_async_context(running(Settings(home=self._folder)))

    async def add(self, memories: Sequence[dict[str, Any]], vectors: NDArray[np.float16]) -> None:
        if len(memories) == 1:
            await self._call("remember", memories[0])
            return
        for first in range(0, len(memories), BATCH):
            await self._call("remember_many", {"memories": memories[first : first + BATCH]})

    async def finish(self) -> None:
        """Recall once, which brings the derived files up to date."""
        await self._call("recall", {"query": "anything at all"})

    async def search(self, probe: Probe, category: str | None) -> list[int]:
        found = await self._call("recall", {"query": probe.text, "limit": RESULT_LIMIT, "category": category})
        return [memory.metadata["row"] for memory in found.memories]

    async def nearest(self, probe: Probe, category: str | None) -> list[int]:
        """Run only the vector stage of a search: without terms, all candidates come from the vectors."""
        (vector,) = await self._embedder.embed([probe.text])
        store = await self._application.services.get(Store)
        found = await store.memories.in_snapshot(
            CandidateQuery(
                visibility=Visibility(),
                filter=MemoryFilter(category=category),
                choose_terms=lambda speakers: (),
                vector=vector,
                model=self._embedder.model,
                limit=RESULT_LIMIT,
            ),
            lambda view: view.read(view.candidates().handles.tolist()),
        )
        return [memory.metadata["row"] for memory in found.values()]

    async def search_text(self, probe: Probe) -> list[int] | None:
        """Return None: `recall` always combines words and vectors."""
        return None

    async def close(self) -> None:
        await self._lifetime.aclose()

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        return await self._application.dispatcher.call(tool, arguments, CallContext(surface="python"))
