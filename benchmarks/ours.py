"""Scrubjay as a contestant: the public tools, through the dispatcher."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contestant import WANTED
from benchmarks.corpus_files import Probe
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import CandidateQuery, MemoryFilter
from scrubjay.models.static_model import StaticEmbedder
from scrubjay.tooling.context import CallContext

BATCH = 1_000


class Ours:
    """Satisfies `Contestant`. The given vectors are not used: remembering and recalling embed for themselves."""

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
        """Nothing is left to make: the first answer brings the derived files up to date."""
        await self._call("recall", {"query": "anything at all"})

    async def search(self, probe: Probe, category: str | None) -> list[int]:
        found = await self._call("recall", {"query": probe.text, "limit": WANTED, "category": category})
        return [memory.metadata["row"] for memory in found.memories]

    async def nearest(self, probe: Probe, category: str | None) -> list[int]:
        """The vectors' stage of a search by itself: without words, all that it brings is what is nearest in meaning."""
        (vector,) = await self._embedder.embed([probe.text])
        store = await self._application.services.get(Store)
        found = await store.memories.search(
            CandidateQuery(
                visibility=Visibility(),
                filter=MemoryFilter(category=category),
                terms=lambda speakers: (),
                vector=vector,
                model=self._embedder.model,
                limit=WANTED,
            ),
            lambda pool: pool.handles.tolist(),
        )
        return [memory.metadata["row"] for memory in found.values()]

    async def search_text(self, probe: Probe) -> list[int] | None:
        """Recall always asks both words and meaning."""
        return None

    async def close(self) -> None:
        await self._lifetime.aclose()

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        return await self._application.dispatcher.call(tool, arguments, CallContext(surface="python"))
