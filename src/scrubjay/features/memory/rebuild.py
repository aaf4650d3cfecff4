"""Rebuild of all search data from the stored memories."""

from collections.abc import Sequence

from scrubjay.core.progress import Reporter
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.store import DerivedFile, MemoryStore

# Small enough that cancelling takes effect at once and other writers never wait long.
BATCH = 250


class Rebuilder:
    """Rebuilds the text index, the vectors and the derived files while searches use the old ones."""

    def __init__(self, store: MemoryStore, memories: MemoryService) -> None:
        self._store = store
        self._memories = memories

    async def rebuild(self, reporter: Reporter, *, resume: bool) -> tuple[int, Sequence[DerivedFile]]:
        """Return the number of memories read and the files written. An incomplete rebuild has no effect on searches."""
        total = (await self._store.counts()).memories
        after = await self._store.begin_rebuild(resume=resume)
        done = 0
        await reporter.report(0, total, "reading memories")
        while batch := await self._store.scan(after, BATCH):
            derived = await self._memories.derive(batch)
            await self._store.rebuild([(memory.id, made) for memory, made in zip(batch, derived, strict=True)])
            after = batch[-1].id
            done += len(batch)
            await reporter.report(done, max(total, done), f"read {done} memories")
        files = await self._store.finish_rebuild()
        await reporter.report(max(total, done), max(total, done), f"wrote {len(files)} derived files")
        return done, files
