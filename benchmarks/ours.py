"""Recollect as a contestant: the public tools, through the dispatcher."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contestant import WANTED
from benchmarks.corpus_files import Probe
from recollect.app.lifespan import running
from recollect.app.settings import Settings
from recollect.toolkit.context import CallContext

BATCH = 1_000
# What the vectors brought is looked for in a longer answer, because the ranking has other reasons beside the cosine.
DEEP = 100


class Ours:
    """Satisfies `Contestant`. The given vectors are not used: remembering and recalling embed for themselves."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
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
        request = {"query": probe.text, "limit": DEEP, "threshold": 0, "category": category}
        return [memory.metadata["row"] for memory in (await self._call("recall", request)).memories]

    async def search_text(self, probe: Probe) -> list[int] | None:
        """Recall always asks both words and meaning."""
        return None

    async def close(self) -> None:
        await self._lifetime.aclose()

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        return await self._application.dispatcher.call(tool, arguments, CallContext(surface="python"))
