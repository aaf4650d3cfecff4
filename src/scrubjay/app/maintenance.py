"""Background maintenance of the store: erasure, eviction, compaction, summaries, inference and embedding."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio

from scrubjay import code_index
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.lazy import lazy_module
from scrubjay.core.paths import has_code_index
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services

if TYPE_CHECKING:
    from scrubjay.features.forgetting import service as forgetting
    from scrubjay.features.knowledge import auto_inference
    from scrubjay.features.memory import compaction
    from scrubjay.features.summaries import startup as summaries
    from scrubjay.features.working_memory import consolidation
else:
    forgetting = lazy_module("scrubjay.features.forgetting.service")
    auto_inference = lazy_module("scrubjay.features.knowledge.auto_inference")
    compaction = lazy_module("scrubjay.features.memory.compaction")
    summaries = lazy_module("scrubjay.features.summaries.startup")
    consolidation = lazy_module("scrubjay.features.working_memory.consolidation")

logger = logging.getLogger("scrubjay.app")

# Seconds between two checks whether the search index needs compaction.
COMPACTION_CHECK_SECONDS = 60.0
# Seconds until the first erasure of old calls, messages and jobs, and between two later ones.
FIRST_ERASURE_SECONDS, ERASURE_SECONDS = 60.0, 3600.0
# Seconds between two checks whether an eviction of faded memories is due.
EVICTION_CHECK_SECONDS = 60.0
# Seconds between two checks whether there is code to embed.
EMBED_SECONDS = 5.0
# Seconds between two sweeps of working memory.
WORKING_MEMORY_SECONDS = 30.0
# Seconds between two erasures of expired triples, which also start inference where it is behind.
KNOWLEDGE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Background loops of a process. A failure is logged and retried in the next round."""

    settings: Settings
    services: Services
    dispatcher: Dispatcher
    runtime: Runtime

    def start(self, store: Store) -> None:
        """Start the loops that the settings enable."""
        settings, start_soon = self.settings, self.runtime.tasks.start_soon
        start_soon(self.erase_old_history, store)
        start_soon(self.compact_index)
        start_soon(self.evict_faded_memories)
        start_soon(self.sweep_working_memory)
        start_soon(self.maintain_knowledge, store)
        if self.runtime.adopts_jobs and settings.summaries.disabled_reason(settings.llm) is None:
            start_soon(self.update_summaries)
        if self.runtime.adopts_jobs and settings.code.embedding_choice(settings.embedding.choice()) is not None:
            start_soon(self.embed_code)

    async def erase_old_history(self, store: Store) -> None:
        """Erase calls, messages between agents and ended jobs that exceed their retention period."""
        await anyio.sleep(FIRST_ERASURE_SECONDS)
        while True:
            settings = self.settings
            try:
                await store.sessions.forget_before(self.runtime.clock() - timedelta(days=settings.sessions.keep_days))
                await store.discussions.delete_before(
                    self.runtime.clock() - timedelta(days=settings.sessions.keep_days)
                )
                await store.jobs.forget_ended(timedelta(days=settings.jobs.keep_days))
            except ScrubjayError as error:
                logger.warning("cannot erase old calls, messages and jobs", extra={"problem": error.message})
            await anyio.sleep(ERASURE_SECONDS)

    async def compact_index(self) -> None:
        """Compact the search index when it is due and no process is already doing so."""
        while True:
            await anyio.sleep(COMPACTION_CHECK_SECONDS)
            try:
                if (await self.services.get(compaction.Compactor)).is_due() and not await self._is_compacting():
                    await self.dispatcher.call("compact_index", {}, CallContext(surface="python", patience=0))
            except ScrubjayError as error:
                logger.warning("cannot compact the search index", extra={"problem": error.message})

    async def sweep_working_memory(self) -> None:
        """Consolidate working memory before items expire, and erase expired items, until cancelled."""
        while True:
            await anyio.sleep(WORKING_MEMORY_SECONDS)
            try:
                await (await self.services.get(consolidation.Consolidator)).sweep()
            except ScrubjayError as error:
                logger.warning("working memory sweep failed", extra={"problem": error.message})
            except Exception as error:  # a bug: one bad item must not end the server now and at every start
                logger.error("working memory sweep raised an unexpected error", extra=error_fields(error))

    async def maintain_knowledge(self, store: Store) -> None:
        """Erase expired triples, and start inference in graphs that changed since the last one."""
        while True:
            await anyio.sleep(KNOWLEDGE_SECONDS)
            try:
                await store.knowledge.forget_expired(self.runtime.clock())
                if await store.knowledge.outdated_graphs():
                    (await self.services.get(auto_inference.BackgroundInference)).wake()
            except ScrubjayError as error:
                logger.warning("cannot maintain the knowledge graph", extra={"problem": error.message})

    async def update_summaries(self) -> None:
        """Update all summaries, unless another process is doing so or just did."""
        await anyio.sleep(summaries.FIRST_SECONDS)
        while True:
            try:
                context = CallContext(surface="python")
                await self.dispatcher.start_unless_recent(
                    summaries.UPKEEP_JOB, context, minimum_interval=summaries.QUIET_SECONDS
                )
            except ScrubjayError as error:
                logger.warning("cannot update the summaries", extra={"problem": error.message})
            await anyio.sleep(summaries.EVERY_SECONDS)

    async def embed_code(self) -> None:
        """Embed the code of all indexes with the configured model, as soon as there is an index."""
        while True:
            await anyio.sleep(EMBED_SECONDS)
            try:
                if (
                    has_code_index(self.runtime.home)
                    and (embedding := (await self.services.get(code_index.CodeService)).embedding) is not None
                ):
                    await embedding.worker.keep()
            except ScrubjayError as error:
                logger.warning("cannot embed code", extra={"problem": error.message})

    async def evict_faded_memories(self) -> None:
        """Evict faded memories when it is due, in one process at a time, if the settings enable it."""
        while self.settings.forgetting.enabled:
            await anyio.sleep(EVICTION_CHECK_SECONDS)
            try:
                if await (await self.services.get(forgetting.Forgetter)).is_due():
                    context = CallContext(surface="python", patience=0)
                    await self.dispatcher.call("forget_faded", {"dry_run": False}, context)
            except ScrubjayError as error:
                logger.warning("cannot evict faded memories", extra={"problem": error.message})

    async def _is_compacting(self) -> bool:
        jobs = await self.services.get(JobService)
        return bool(await jobs.list([JobState.QUEUED, JobState.RUNNING], "compact_index", 1))
