"""Status of the summaries that servers create automatically, for health checks."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from scrubjay.core.scopes import Visibility
from scrubjay.features.summaries.models import Level
from scrubjay.features.summaries.service import Summariser
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.service import JobService

# Job that updates all summaries; only one process runs it at a time.
UPKEEP_JOB = "keep_summaries"
# Delay after the start of a server, so that its first answers are not slowed down.
FIRST_SECONDS = 20.0
EVERY_SECONDS = 3600.0
# A server does not run the job if it has run within this time: clients start and stop many servers in an hour.
QUIET_SECONDS = 600.0
GLOBAL_ONLY = Visibility()
# Maximum number of sessions listed by title.
MAX_TITLES = 100


class StartupState(StrEnum):
    """State of the automatic summaries."""

    NOT_ATTEMPTED = "not_attempted"
    SKIPPED = "skipped"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class StartupStatus:
    """State and details of the automatic summaries."""

    state: StartupState
    details: Mapping[str, Any] | None
    """Result (`processed`, `sessions`), failure (`error`) or reason for doing nothing (`reason`)."""


class StartupSummaries:
    """Reads the status of the automatic summaries from the jobs of the store, whichever process ran them."""

    def __init__(self, jobs: JobService, summariser: Summariser, *, disabled_reason: str | None) -> None:
        """Create the reader. `disabled_reason` is None if this server creates summaries automatically."""
        self._jobs = jobs
        self._summariser = summariser
        self._disabled_reason = disabled_reason

    async def status(self, visibility: Visibility = GLOBAL_ONLY) -> StartupStatus:
        """Return the status. Sessions that are not visible are only counted."""
        ended = [JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED]
        last = await self._jobs.list(ended, UPKEEP_JOB, 1)
        if last:
            return await self._job_status(last[0], visibility)
        if self._disabled_reason is not None:
            return StartupStatus(StartupState.SKIPPED, {"reason": self._disabled_reason})
        running = await self._jobs.list([JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING], UPKEEP_JOB, 1)
        return StartupStatus(StartupState.NOT_ATTEMPTED, {"reason": "it is in progress"} if running else None)

    async def _job_status(self, job: Job, visibility: Visibility) -> StartupStatus:
        if job.state is JobState.CANCELLED:
            return StartupStatus(StartupState.SKIPPED, {"reason": "it was cancelled"})
        result = job.result or {}
        problem = job.error.message if job.error else result.get("problem")
        if problem is not None and not result.get("processed"):
            return StartupStatus(StartupState.FAILED, {"error": problem})
        _, found = await self._summariser.page(visibility, Level.SESSION, None, MAX_TITLES, 0)
        sessions = [
            {"title": memory.details["title"], "memoryCount": memory.details["memoryCount"]}
            for memory in found
            if memory.provenance.get("job") == job.id
        ]
        return StartupStatus(StartupState.COMPLETED, {"processed": result.get("processed", 0), "sessions": sessions})
