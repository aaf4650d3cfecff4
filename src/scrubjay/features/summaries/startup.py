"""What became of the summaries that a server makes by itself, as a health check tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from scrubjay.core.scopes import Visibility
from scrubjay.features.summaries.models import Level
from scrubjay.features.summaries.service import Summariser
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.service import JobService

# The job that brings all summaries up to date; no two processes ever have it at once.
UPKEEP_JOB = "keep_summaries"
# How soon after its start a server looks for what is missing, so that the first answers do not wait for it.
FIRST_SECONDS = 20.0
EVERY_SECONDS = 3600.0
# Many servers start and stop in an hour: what one of them has done so short a time ago, no other does again.
QUIET_SECONDS = 600.0
EVERYBODY = Visibility()
# So many of the sessions are told by their titles.
MOST_TITLES = 100


class StartupWord(StrEnum):
    """Whether it was done."""

    NOT_ATTEMPTED = "not_attempted"
    SKIPPED = "skipped"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Startup:
    """How it stands with the summaries that a server makes by itself."""

    word: StartupWord
    details: Mapping[str, Any] | None
    """What was done (`processed`, `sessions`), why it failed (`error`), or why nothing was done (`reason`)."""


class StartupSummaries:
    """Knows from the jobs of the store what became of it, whichever process did it."""

    def __init__(self, jobs: JobService, summariser: Summariser, *, off_because: str | None) -> None:
        """`off_because` tells why this server makes no summaries by itself; None when it does."""
        self._jobs = jobs
        self._summariser = summariser
        self._off_because = off_because

    async def status(self, visibility: Visibility = EVERYBODY) -> Startup:
        """How it stands; of sessions that the asker may not see, only their number is told."""
        ended = [JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED]
        last = await self._jobs.list(ended, UPKEEP_JOB, 1)
        if last:
            return await self._told(last[0], visibility)
        if self._off_because is not None:
            return Startup(StartupWord.SKIPPED, {"reason": self._off_because})
        under_way = await self._jobs.list([JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING], UPKEEP_JOB, 1)
        return Startup(StartupWord.NOT_ATTEMPTED, {"reason": "it is being done"} if under_way else None)

    async def _told(self, job: Job, visibility: Visibility) -> Startup:
        if job.state is JobState.CANCELLED:
            return Startup(StartupWord.SKIPPED, {"reason": "it was cancelled"})
        result = job.result or {}
        problem = job.error.message if job.error else result.get("problem")
        if problem is not None and not result.get("processed"):
            return Startup(StartupWord.FAILED, {"error": problem})
        _, found = await self._summariser.page(visibility, Level.SESSION, None, MOST_TITLES, 0)
        sessions = [
            {"title": memory.details["title"], "memoryCount": memory.details["memoryCount"]}
            for memory in found
            if memory.provenance.get("job") == job.id
        ]
        return Startup(StartupWord.COMPLETED, {"processed": result.get("processed", 0), "sessions": sessions})
