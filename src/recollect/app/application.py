"""The wiring: which service is made of what, and how long each lives."""

import logging
import os
import shutil
from collections.abc import Iterable, Mapping
from functools import partial

import anyio
import anyio.abc

from recollect.app.settings import Settings
from recollect.domain.errors import RecollectError, Unavailable, error_from_record
from recollect.domain.jobs import JobState
from recollect.jobs.service import JobService
from recollect.memory.compacting import Compactor
from recollect.memory.embedding_change import EmbeddingChange
from recollect.memory.models import ModelsInUse
from recollect.memory.projects import ProjectService
from recollect.memory.rebuilding import Rebuilder
from recollect.memory.service import MemoryService
from recollect.storage.store import Store
from recollect.toolkit.context import CallContext
from recollect.toolkit.declaration import Tool
from recollect.toolkit.dispatcher import Dispatcher
from recollect.toolkit.health import Health
from recollect.toolkit.listing import Listing
from recollect.toolkit.offering import Offering
from recollect.toolkit.registry import Registry, Toolset
from recollect.toolkit.services import Services
from recollect.toolkit.usage import UsageCounter
from recollect.tools import ALL

logger = logging.getLogger("recollect.app")

# Counts of calls are worth little: losing half a minute of them to a crash is fine, a write per call is not.
USAGE_SECONDS = 30.0
# How often it is looked whether the index became so scattered that it should be written anew.
COMPACT_SECONDS = 60.0


class Application:
    """One process's services. Nothing heavy is made before it is first needed."""

    def __init__(
        self,
        settings: Settings,
        tasks: anyio.abc.TaskGroup,
        *,
        tools: Iterable[Tool] = ALL,
        adopts_jobs: bool = True,
        own_client: str | None = None,
    ) -> None:
        """What goes on beside the calls runs in `tasks`; `close` belongs after its end."""
        self.settings = settings
        self.registry = Registry(tools)
        self.services = Services()
        self._usage = UsageCounter()
        self._adopts_jobs = adopts_jobs
        self._own_client = own_client
        self._tasks = tasks
        self._store: Store | None = None
        self._models: ModelsInUse | None = None
        self._memories: MemoryService | None = None
        self._provide()
        self.dispatcher = Dispatcher(self.registry, self.services, self._usage)
        self.listing = Listing(self.registry, Toolset(settings.tools), self._uses)

    @property
    def offering(self) -> Offering:
        return Offering(self.dispatcher, self.listing)

    async def close(self) -> None:
        """Keep the counts and close what was opened."""
        if self._models is not None:
            await self._models.close()
        if self._store is None:
            return
        try:
            await self._usage.flush(self._store.usage)
        except RecollectError as error:
            logger.warning("counts of calls could not be kept", extra={"problem": error.message})
        if self._memories is not None:
            await self._memories.uses.flush()
        await self._store.close()

    async def open(self) -> Store:
        """Open the store now, and let this process take over unfinished jobs."""
        store = await self.services.get(Store)
        await self.services.get(JobService)
        return store

    # -- how each service is made --------------------------------------------------------------------

    def _provide(self) -> None:
        provide = self.services.provide
        provide(Dispatcher, self._dispatcher)
        provide(Store, self._open_store)
        provide(JobService, self._start_jobs)
        provide(MemoryService, self._memory)
        provide(ProjectService, self._projects)
        provide(Rebuilder, self._rebuilder)
        provide(Compactor, self._compactor)
        provide(ModelsInUse, self._models_in_use)
        provide(EmbeddingChange, self._embedding_change)
        self.services.provide_ready(
            Health,
            Health(
                {
                    "store": self._check_store,
                    "search": self._check_search,
                    "embedding": self._check_embedding,
                    "jobs": self._check_jobs,
                    "disk": self._check_disk,
                }
            ),
        )

    async def _models_in_use(self) -> ModelsInUse:
        from recollect.inference.caching import VectorCache
        from recollect.inference.providers import embedder_for

        chosen = self.settings.embedding
        make = partial(
            embedder_for,
            folder=self.settings.home / "derived",
            environment=os.environ,
            cache=VectorCache(chosen.cache_bytes),
        )
        store = await self.services.get(Store)
        self._models = ModelsInUse(store.embeddings, chosen.choice(), make, rights=chosen.caller_rights())
        return self._models

    async def _embedding_change(self) -> EmbeddingChange:
        store = await self.services.get(Store)
        return EmbeddingChange(store.embeddings, await self.services.get(ModelsInUse))

    async def _dispatcher(self) -> Dispatcher:
        return self.dispatcher

    async def _open_store(self) -> Store:
        from recollect.storage.sqlite.store import SqliteStore

        self._store = await SqliteStore.open(self.settings.home, lease_seconds=self.settings.jobs.lease_seconds)
        self._tasks.start_soon(self._keep_counts, self._store)
        self._tasks.start_soon(self._keep_compact)
        self._tasks.start_soon(self.services.get, JobService)
        return self._store

    async def _start_jobs(self) -> JobService:
        store = await self.services.get(Store)
        return JobService(
            store.jobs,
            self.dispatcher.job_handlers(),
            self._tasks,
            lease_seconds=self.settings.jobs.lease_seconds,
            adopts=self._adopts_jobs,
        )

    async def _memory(self) -> MemoryService:
        store = await self.services.get(Store)
        self._memories = MemoryService(store.memories, await self.services.get(ModelsInUse))
        self._tasks.start_soon(self._memories.uses.keep)
        return self._memories

    async def _projects(self) -> ProjectService:
        store = await self.services.get(Store)
        return ProjectService(store.projects, default_path=self.settings.project, own_client=self._own_client)

    async def _rebuilder(self) -> Rebuilder:
        store = await self.services.get(Store)
        return Rebuilder(store.memories, await self.services.get(MemoryService))

    async def _compactor(self) -> Compactor:
        return Compactor((await self.services.get(Store)).memories)

    # -- what goes on beside the calls ---------------------------------------------------------------

    async def _uses(self) -> Mapping[str, int]:
        """How often tools were used; unknown when the store cannot be opened, which calls will then tell."""
        try:
            return await (await self.services.get(Store)).usage.counts()
        except RecollectError as error:
            logger.warning("tools are listed without their use", extra={"problem": error.message})
            return {}

    async def _keep_counts(self, store: Store) -> None:
        while True:
            await anyio.sleep(USAGE_SECONDS)
            try:
                await self._usage.flush(store.usage)
            except RecollectError as error:
                logger.warning("counts of calls could not be kept", extra={"problem": error.message})

    async def _keep_compact(self) -> None:
        """Compact the index when it is due and nobody else is doing so."""
        while True:
            await anyio.sleep(COMPACT_SECONDS)
            try:
                if (await self.services.get(Compactor)).is_due() and not await self._compacts():
                    await self.dispatcher.call("compact_index", {}, CallContext(surface="python", patience=0))
            except RecollectError as error:
                logger.warning("the index was not compacted", extra={"problem": error.message})

    async def _compacts(self) -> bool:
        jobs = await self.services.get(JobService)
        return bool(await jobs.list([JobState.QUEUED, JobState.RUNNING], "compact_index", 1))

    # -- health --------------------------------------------------------------------------------------

    async def _check_store(self) -> dict[str, object]:
        store = await self.services.get(Store)
        await store.ping()
        info = await store.info()
        return {
            "engine": info.engine,
            "location": info.location,
            "schema_version": info.schema_version,
            "bytes": info.bytes,
        }

    async def _check_search(self) -> dict[str, object]:
        counts = await (await self.services.get(Store)).memories.counts()
        if counts.indexed != counts.memories:
            raise Unavailable(
                f"the text index holds {counts.indexed} of {counts.memories} memories", hint="run rebuild_derived"
            )
        return {"memories": counts.memories, "vectors": counts.vectors}

    async def _check_embedding(self) -> dict[str, object]:
        from recollect.inference.examination import examine

        store = await self.services.get(Store)
        embedder = (await (await self.services.get(ModelsInUse)).now()).answering.embedder
        found = await examine(embedder)
        if found.error is not None:
            raise error_from_record(found.error)
        state = await store.embeddings.state()
        return {
            "model": found.model,
            "dimensions": found.dimensions,
            "memories_without_vector": await store.embeddings.count_lacking(found.model, found.dimensions),
            "coming": state.coming.model if state.coming is not None and state.under_way else None,
        }

    async def _check_jobs(self) -> dict[str, object]:
        jobs = await self.services.get(JobService)
        active = await jobs.list([JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING], None, 200)
        return {state: sum(job.state is state for job in active) for state in (JobState.QUEUED, JobState.RUNNING)}

    async def _check_disk(self) -> dict[str, object]:
        await self.services.get(Store)  # makes the folder when there is none yet
        free = shutil.disk_usage(self.settings.home).free
        if free < 100 * 1024 * 1024:
            raise Unavailable(f"only {free // 1024 // 1024} MB are free on the store's disk", hint="free some space")
        return {"free_bytes": free}
