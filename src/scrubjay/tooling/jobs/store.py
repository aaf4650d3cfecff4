"""Storage protocol for jobs."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol

from scrubjay.core.errors import ErrorRecord
from scrubjay.core.progress import Progress
from scrubjay.tooling.jobs.models import Job, JobState


class JobStore(Protocol):
    """Stores jobs and their leases. Uses the backend's clock, so that all processes agree.

    Jobs end with the key whose caller started them. `claim` and `renew` therefore cancel all jobs of keys that were
    revoked or have expired, and store the reason as the error of the job.
    """

    async def add(self, kind: str, payload: Mapping[str, Any], *, owner: str | None) -> Job:
        """Store a new job: running under this owner's lease, or queued when `owner` is None."""
        ...

    async def add_unless_recent(
        self, kind: str, payload: Mapping[str, Any], *, owner: str | None, minimum_interval: float
    ) -> Job | None:
        """Like `add`; return None when a job of this kind runs or was created within `minimum_interval` seconds.

        Of concurrent calls in any process, exactly one gets the job.
        """
        ...

    async def get(self, job_id: str) -> Job | None: ...

    async def list(self, *, states: Collection[JobState] = (), kind: str | None = None, limit: int) -> Sequence[Job]:
        """Return jobs, newest first; no states means all."""
        ...

    async def counts(self) -> Mapping[JobState, int]:
        """Return the number of jobs for every state."""
        ...

    async def claim(self, kinds: Collection[str], owner: str) -> Job | None:
        """Take the oldest job of these kinds that is queued, or whose owner's lease ran out; None when there is none.

        Increments `attempts`; progress and `started_at` stay. A job that was being cancelled when its owner died is not
        taken: it becomes cancelled, whatever its kind.
        """
        ...

    async def renew(self, owner: str, progress: Mapping[str, Progress]) -> Mapping[str, JobState]:
        """Renew the leases of these jobs and store their progress; return the states of those still owned.

        An owner whose lease ran out still owns the job until another one claims it.
        """
        ...

    async def finish(
        self,
        job_id: str,
        owner: str,
        state: JobState,
        *,
        progress: Progress,
        result: Mapping[str, Any] | None = None,
        error: ErrorRecord | None = None,
        memory_ids: Collection[str] = (),
    ) -> bool:
        """Store the end of the job; return False when this owner no longer holds it.

        `memory_ids` are the memories quoted in the result. When one of them is or gets deleted, the result is erased.
        """
        ...

    async def release(self, job_id: str, owner: str) -> None:
        """Return the job to the queue when its owner exits; a job being cancelled becomes cancelled.

        Does nothing when this owner no longer holds it.
        """
        ...

    async def forget_ended(self, kept_for: timedelta) -> int:
        """Delete jobs that ended longer ago than this; return their number."""
        ...

    async def request_cancel(self, job_id: str) -> Job | None:
        """Cancel a queued job at once, request cancellation of a running one, leave an ended one unchanged.

        Return the job afterwards; None when it does not exist.
        """
        ...
