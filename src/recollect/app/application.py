"""The wiring: which service is made of what, and how long each lives."""

import logging
import os
import shutil
from collections.abc import Iterable, Mapping

import anyio
import anyio.abc

from recollect.app.settings import Settings
from recollect.domain.errors import RecollectError, Unavailable
from recollect.domain.jobs import JobState
from recollect.inference.embedding import Embedder
from recollect.jobs.service import JobService
from recollect.memory.projects import ProjectService
from recollect.memory.rebuilding import Rebuilder
from recollect.memory.service import MemoryService
from recollect.storage.store import Store
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
        self._embedder: Embedder | None = None
        self._provide()
        self.dispatcher = Dispatcher(self.registry, self.services, self._usage)
        self.listing = Listing(self.registry, Toolset(settings.tools), self._uses)

    @property
    def offering(self) -> Offering:
        return Offering(self.dispatcher, self.listing)

    async def close(self) -> None:
        """Keep the counts and close what was opened."""
        if self._embedder is not None:
            await self._embedder.close()
        if self._store is None:
            return
        try:
            await self._usage.flush(self._store.usage)
        except RecollectError as error:
            logger.warning("counts of calls could not be kept", extra={"problem": error.message})
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
        provide(Embedder, self._make_embedder)
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

    async def _make_embedder(self) -> Embedder:
        from recollect.inference.caching import VectorCache
        from recollect.inference.providers import embedder_for

        chosen = self.settings.embedding
        self._embedder = embedder_for(
            chosen.choice(),
            folder=self.settings.home / "derived",
            environment=os.environ,
            cache=VectorCache(chosen.cache_bytes),
        )
        return self._embedder

    async def _dispatcher(self) -> Dispatcher:
        return self.dispatcher

    async def _open_store(self) -> Store:
        from recollect.storage.sqlite.store import SqliteStore

        self._store = await SqliteStore.open(self.settings.home, lease_seconds=self.settings.jobs.lease_seconds)
        self._tasks.start_soon(self._keep_counts, self._store)
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
        return MemoryService(store.memories, await self.services.get(Embedder))

    async def _projects(self) -> ProjectService:
        store = await self.services.get(Store)
        return ProjectService(store.projects, default_path=self.settings.project, own_client=self._own_client)

    async def _rebuilder(self) -> Rebuilder:
        store = await self.services.get(Store)
        return Rebuilder(store.memories, await self.services.get(MemoryService))

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
        embedder = await self.services.get(Embedder)
        (vector,) = await embedder.embed(["a text to see whether the model works"])
        if len(vector) != 2 * embedder.dimensions:
            raise Unavailable("the embedding model answers with vectors of a wrong length", hint="reinstall recollect")
        return {"model": embedder.model, "dimensions": embedder.dimensions}

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
