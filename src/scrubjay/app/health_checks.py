"""What the health of a process is told by: each part is tried, and says what it is or why it does not work."""

import shutil
from pathlib import Path

from scrubjay.app.store import Store
from scrubjay.core.errors import Unavailable, error_from_record
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.tooling.health import Health
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.services import Services


class Checks:
    """The parts of a process, each tried when it is asked for."""

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
        from scrubjay.models.probe import examine

        store = await self._services.get(Store)
        embedder = (await (await self._services.get(ModelsInUse)).now()).answering.embedder
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

    async def _jobs(self) -> dict[str, object]:
        jobs = await self._services.get(JobService)
        active = await jobs.list([JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING], None, 200)
        return {state: sum(job.state is state for job in active) for state in (JobState.QUEUED, JobState.RUNNING)}

    async def _disk(self) -> dict[str, object]:
        await self._services.get(Store)  # makes the folder when there is none yet
        free = shutil.disk_usage(self._home).free
        if free < 100 * 1024 * 1024:
            raise Unavailable(f"only {free // 1024 // 1024} MB are free on the store's disk", hint="free some space")
        return {"free_bytes": free}
