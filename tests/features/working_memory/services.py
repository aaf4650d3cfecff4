"""A store with its memory service and its consolidator, for tests of working memory."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.memory.models import Memory
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.working_memory.consolidation import Consolidator
from scrubjay.features.working_memory.models import ConsolidationMark, WorkingItem
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.static_model import StaticEmbedder
from tests.contracts.samples import ManualClock
from tests.contracts.working_items import item


class ConsolidationServices:
    """A store with its memory service and its consolidator, all on one clock."""

    def __init__(self, store: SqliteStore, clock: ManualClock) -> None:
        models = ModelRegistry(store.embeddings, EmbeddingChoice(), lambda choice: StaticEmbedder())
        self.clock = clock
        self.store = store
        self.memory = MemoryService(store.memories, models, clock=clock)
        self.consolidator = Consolidator(store.working, self._memory, clock=clock)
        self.memory_requests = 0
        """Number of times the consolidator requested the memory service."""

    async def _memory(self) -> MemoryService:
        self.memory_requests += 1
        return self.memory

    async def put(self, content: str, **fields: Any) -> WorkingItem:
        now = self.clock.now
        defaults: dict[str, Any] = {
            "mark": ConsolidationMark.IMPORTANCE,
            "created_at": now,
            "accessed_at": now,
            "expires_at": now + timedelta(seconds=300),
        }
        put = item(content, **(defaults | fields))
        await self.store.working.put(put, 1_000)
        return put

    async def memories(self) -> Sequence[Memory]:
        return await self.store.memories.scan(None, 1_000)

    async def memory_of(self, put: WorkingItem) -> str | None:
        (found,) = await self.store.working.access(put.scope, [put.id], self.clock.now)
        return found.memory_id
