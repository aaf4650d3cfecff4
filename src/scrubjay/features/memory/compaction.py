"""Compaction of the derived files after changes have fragmented them."""

from collections.abc import Sequence

from scrubjay.core.progress import Reporter
from scrubjay.features.memory.store import DerivedFile, MemoryStore


class Compactor:
    """Merges index segments and drops deleted rows while searches continue."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def is_due(self) -> bool:
        """Return True if compaction would speed up searches of this process."""
        return self._store.needs_compaction()

    async def compact(self, reporter: Reporter) -> Sequence[DerivedFile]:
        """Rewrite every derived file and return the new files."""
        await reporter.report(0, 1, "writing the derived files")
        files = await self._store.compact()
        await reporter.report(1, 1, f"wrote {len(files)} derived files")
        return files
