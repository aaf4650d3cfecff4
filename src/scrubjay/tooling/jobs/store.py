"""What a backend must offer to keep jobs."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol

from scrubjay.core.errors import ErrorRecord
from scrubjay.core.progress import Progress
from scrubjay.tooling.jobs.models import Job, JobState


class JobStore(Protocol):
    """Keeps jobs and their leases. Times are the backend's own, so that all processes agree."""

    async def add(self, kind: str, payload: Mapping[str, Any], *, owner: str | None) -> Job:
        """Keep a new job: running under this owner's lease, or queued for anybody when there is none."""
        ...

    async def add_alone(
        self, kind: str, payload: Mapping[str, Any], *, owner: str | None, quiet_seconds: float
    ) -> Job | None:
        """The same, unless one of its kind has not ended or began less than so many seconds ago: then None.

        Whoever asks for it at the same moment, in whichever process, exactly one gets the job.
        """
        ...

    async def get(self, job_id: str) -> Job | None: ...

    async def list(self, *, states: Collection[JobState] = (), kind: str | None = None, limit: int) -> Sequence[Job]:
        """Newest first; no states means all."""
        ...

    async def counts(self) -> Mapping[JobState, int]:
        """How many jobs are in each state; every state is there."""
        ...

    async def claim(self, kinds: Collection[str], owner: str) -> Job | None:
        """Take the oldest job of these kinds that is queued, or whose owner's lease ran out; None when there is none.

        That is one more attempt; progress and `started_at` stay. A job that was being cancelled when its owner died is
        not taken: it becomes cancelled, whatever its kind.
        """
        ...

    async def renew(self, owner: str, progress: Mapping[str, Progress]) -> Mapping[str, JobState]:
        """Lengthen the leases of these jobs and note their progress; the states of those still owned.

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
        """Note how the job ended; False when it is no longer this owner's to end.

        `memory_ids` are the memories that its result tells of. When one of them is gone, or as soon as it is, only that
        the job has ended is kept.
        """
        ...

    async def release(self, job_id: str, owner: str) -> None:
        """Give the job back to the queue, because this owner is leaving; one that was to stop is cancelled.

        Nothing happens when it is no longer this owner's.
        """
        ...

    async def forget_ended(self, kept_for: timedelta) -> int:
        """Erase the jobs that ended longer ago than this; how many."""
        ...

    async def request_cancel(self, job_id: str) -> Job | None:
        """A queued job is cancelled at once, a running one is asked to stop, an ended one stays as it is.

        The job as it is then; None when there is none.
        """
        ...
