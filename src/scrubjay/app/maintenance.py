"""What goes on beside the calls of a process: what has faded, expired or become scattered is looked after."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import anyio

from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.core.clock import Clock
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import ScrubjayError
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.services import Services

logger = logging.getLogger("scrubjay.app")

# How often it is looked whether the index became so scattered that it should be written anew.
COMPACT_SECONDS = 60.0
# Calls and jobs that are too old to be kept are looked for in processes that live on, and then so often.
FADE_AFTER_SECONDS, FADE_SECONDS = 60.0, 3600.0
# How often it is looked whether it is time to let go of what has faded.
FORGET_SECONDS = 60.0
# A server begins to embed code so long after it has started, or after there is some.
EMBED_SECONDS = 5.0
# How often working memory is looked after.
TEND_SECONDS = 30.0
# How often triples that have expired are erased, and what follows from others is inferred where no process did so.
KNOWLEDGE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Each of these goes on until it is cancelled; what fails is told, and tried again the next time."""

    settings: Settings
    services: Services
    dispatcher: Dispatcher
    clock: Clock
    has_code: Callable[[], bool]

    async def fade_history(self, store: Store) -> None:
        """Erase calls, messages of agents and jobs that are too old to be kept."""
        await anyio.sleep(FADE_AFTER_SECONDS)
        while True:
            settings = self.settings
            try:
                await store.sessions.forget_before(self.clock() - timedelta(days=settings.sessions.keep_days))
                await store.discussions.forget_before(self.clock() - timedelta(days=settings.sessions.keep_days))
                await store.jobs.forget_ended(timedelta(days=settings.jobs.keep_days))
            except ScrubjayError as error:
                logger.warning("old calls, messages and jobs could not be erased", extra={"problem": error.message})
            await anyio.sleep(FADE_SECONDS)

    async def keep_compact(self) -> None:
        """Compact the index when it is due and nobody else is doing so."""
        while True:
            await anyio.sleep(COMPACT_SECONDS)
            from scrubjay.features.memory.compaction import Compactor

            try:
                if (await self.services.get(Compactor)).is_due() and not await self._compacts():
                    await self.dispatcher.call("compact_index", {}, CallContext(surface="python", patience=0))
            except ScrubjayError as error:
                logger.warning("the index was not compacted", extra={"problem": error.message})

    async def tend_working_memory(self) -> None:
        """Let what agents have in mind become memories before it expires, and erase what has expired."""
        while True:
            await anyio.sleep(TEND_SECONDS)
            from scrubjay.features.working_memory.consolidation import Consolidator

            try:
                await (await self.services.get(Consolidator)).tend()
            except ScrubjayError as error:
                logger.warning("working memory was not looked after", extra={"problem": error.message})
            except Exception as error:  # a bug: one item must not end the server, now and at every start
                logger.error("looking after working memory broke", extra=place_of(error))

    async def tend_knowledge(self, store: Store) -> None:
        """Erase triples that have expired, and infer what follows in graphs that changed while nobody did."""
        while True:
            await anyio.sleep(KNOWLEDGE_SECONDS)
            try:
                await store.knowledge.forget_expired(self.clock())
                if await store.knowledge.behind():
                    from scrubjay.features.knowledge.auto_inference import BackgroundInference

                    (await self.services.get(BackgroundInference)).wake()
            except ScrubjayError as error:
                logger.warning("triples were not looked after", extra={"problem": error.message})

    async def keep_summaries(self) -> None:
        """Bring all summaries up to date, unless another process does or just did."""
        from scrubjay.features.summaries.startup import EVERY_SECONDS, FIRST_SECONDS, QUIET_SECONDS, UPKEEP_JOB

        await anyio.sleep(FIRST_SECONDS)
        while True:
            try:
                context = CallContext(surface="python")
                await self.dispatcher.start_alone(UPKEEP_JOB, context, quiet_seconds=QUIET_SECONDS)
            except ScrubjayError as error:
                logger.warning("summaries were not brought up to date", extra={"problem": error.message})
            await anyio.sleep(EVERY_SECONDS)

    async def keep_code_embedded(self) -> None:
        """Embed the code of all indexes by the model that the owner chose, as soon as there is some."""
        from scrubjay.code_index.service import CodeService

        while True:
            await anyio.sleep(EMBED_SECONDS)
            try:
                if self.has_code() and (embedding := (await self.services.get(CodeService)).embedding) is not None:
                    await embedding.worker.keep()
            except ScrubjayError as error:
                logger.warning("code is not embedded", extra={"problem": error.message})

    async def keep_forgetting(self) -> None:
        """Let go of what has faded, in one process of all, where the settings say so."""
        while self.settings.forgetting.enabled:
            await anyio.sleep(FORGET_SECONDS)
            from scrubjay.features.forgetting.service import Forgetter

            try:
                if await (await self.services.get(Forgetter)).is_due():
                    context = CallContext(surface="python", patience=0)
                    await self.dispatcher.call("forget_faded", {"dry_run": False}, context)
            except ScrubjayError as error:
                logger.warning("what has faded was not let go", extra={"problem": error.message})

    async def _compacts(self) -> bool:
        jobs = await self.services.get(JobService)
        return bool(await jobs.list([JobState.QUEUED, JobState.RUNNING], "compact_index", 1))
