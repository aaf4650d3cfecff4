"""Health checks of a process: store, search, embedding, jobs and disk."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.app.store import Store
from scrubjay.core.errors import Unavailable, error_from_record
from scrubjay.core.lazy import lazy_module
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.tooling.health import Health
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.services import Services

if TYPE_CHECKING:
    from scrubjay.models import probe
else:
    probe = lazy_module("scrubjay.models.probe")

MIN_FREE_MEGABYTES = 100


class HealthChecks:
    """Checks of the components of a process. Each returns facts about its component, or raises."""

    def __init__(self, services: Services, home: Path) -> None:
        self._services = services
        self._home = home

    def health(self) -> Health:
        return Health(
            {
                "store": self._store,
                "search": self._search,
                "embedding": self._embedding,
                "jobs": self._jobs,
                "disk": self._disk,
            }
        )

    async def _store(self) -> dict[str, object]:
        store = await self._services.get(Store)
        await store.ping()
        info = await store.info()
        return {
            "engine": info.engine,
            "location": info.location,
            "schema_version": info.schema_version,
            "bytes": info.bytes,
        }

    async def _search(self) -> dict[str, object]:
        counts = await (await self._services.get(Store)).memories.counts()
        if counts.indexed != counts.memories:
            raise Unavailable(
                f"the text index holds {counts.indexed} of {counts.memories} memories", hint="run rebuild_derived"
            )
        return {"memories": counts.memories, "vectors": counts.vectors}

    async def _embedding(self) -> dict[str, object]:
        store = await self._services.get(Store)
        embedder = (await (await self._services.get(ModelRegistry)).current()).active.embedder
        found = await probe.probe(embedder)
        if found.error is not None:
            raise error_from_record(found.error)
        state = await store.embeddings.state()
        return {
            "model": found.model,
            "dimensions": found.dimensions,
            "memories_without_vector": await store.embeddings.count_missing(found.model, found.dimensions),
            "coming": state.next.model if state.next is not None and state.is_running else None,
        }

    async def _jobs(self) -> dict[str, object]:
        jobs = await self._services.get(JobService)
        active = await jobs.list([JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING], None, 200)
        return {state: sum(job.state is state for job in active) for state in (JobState.QUEUED, JobState.RUNNING)}

    async def _disk(self) -> dict[str, object]:
        await self._services.get(Store)  # creates the folder if there is none yet
        free = shutil.disk_usage(self._home).free
        if free < MIN_FREE_MEGABYTES * 1024 * 1024:
            raise Unavailable(
                f"only {free // 1024 // 1024} MB are free on the store's disk", hint="free some disk space"
            )
        return {"free_bytes": free}
