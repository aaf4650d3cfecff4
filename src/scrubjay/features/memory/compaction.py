"""Writing the derived files anew when changes have scattered them."""

from collections.abc import Sequence

from scrubjay.core.progress import Reporter
from scrubjay.features.memory.store import DerivedFile, MemoryStore


class Compactor:
    """Brings what searches read into one piece, without what was deleted or replaced; they go on meanwhile."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def is_due(self) -> bool:
        """Whether searches of this process would gain from it."""
        return self._store.is_scattered()

    async def compact(self, reporter: Reporter) -> Sequence[DerivedFile]:
        await reporter.report(0, 1, "writing the derived files")
        files = await self._store.compact()
        await reporter.report(1, 1, f"wrote {len(files)} derived files")
        return files
