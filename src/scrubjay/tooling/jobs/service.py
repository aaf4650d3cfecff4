"""Starts, runs, watches and cancels jobs; several processes share them through the store.

A job that the holder of a key started ends with the key, in whichever process it runs.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import anyio
import anyio.abc
import anyio.lowlevel

from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import Cancelled, ErrorRecord, Internal, NotFound, ScrubjayError
from scrubjay.core.ids import new_id
from scrubjay.core.progress import Progress, Reporter, SilentReporter
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.store import JobStore

logger = logging.getLogger("scrubjay.tooling.jobs")

T = TypeVar("T")

# Per lease duration: number of heartbeats, and number of searches for abandoned jobs.
BEATS_PER_LEASE = 30
LOOKS_PER_LEASE = 3
# Longest time between heartbeats: work stops within this time after it was cancelled elsewhere, or its key has ended.
MAX_BEAT_SECONDS = 1.0
# Polling interval for a job that another process runs.
WATCH_SECONDS = 0.2


@dataclass(eq=False)
class JobRun:
    """An attempt at a job, passed to the work, which also reports progress through it."""

    job_id: str
    kind: str
    payload: Mapping[str, Any]
    attempt: int
    progress: Progress = Progress()
    cancel_requested: bool = False
    memory_ids: frozenset[str] = frozenset()
    """Memories quoted in the result; set by the work before it ends."""
    _changed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def resumed(self) -> bool:
        """Return True when an earlier attempt exists."""
        return self.attempt > 1

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        progress = Progress(done, total, message)
        if progress != self.progress:  # a repeated report only checks for cancellation
            self.progress = progress
            self.announce()
        await anyio.lowlevel.checkpoint()
        if self.cancel_requested:
            raise Cancelled("the job was cancelled")

    def announce(self) -> None:
        """Wake the watchers in this process."""
        self._changed.set()
        self._changed = anyio.Event()

    async def next_change(self) -> None:
        await self._changed.wait()


Handler = Callable[[JobRun], Awaitable[Mapping[str, Any]]]


def unknown_job(job_id: str) -> NotFound:
    return NotFound(f"there is no job {job_id[:80]!r}", hint="list_jobs shows the existing jobs")


class JobService:
    """Starts, watches and cancels the jobs of a store, and runs those of this process."""

    def __init__(
        self,
        store: JobStore,
        handlers: Mapping[str, Handler],
        tasks: anyio.abc.TaskGroup,
        *,
        lease_seconds: float = 30.0,
        adopts: bool = True,
    ) -> None:
        """Run jobs in the given task group; when it is cancelled, unfinished jobs return to the queue."""
        self._lease_seconds = lease_seconds
        self._store = store
        self._handlers = handlers
        self._tasks = tasks
        self._owner = new_id("run")
        self._mine: dict[str, JobRun] = {}
        tasks.start_soon(self._beat)
        if adopts:
            tasks.start_soon(self._adopt)

    async def start(self, kind: str, payload: Mapping[str, Any]) -> Job:
        """Start a job in this process; it is durable when this returns.

        Shielded from cancellation, so that the caller always gets the job and can cancel it.
        """
        job = await _whole(self._store.add(kind, payload, owner=self._owner))
        self._tasks.start_soon(self._perform, self._take(job))
        return job

    async def start_unless_recent(
        self, kind: str, payload: Mapping[str, Any], *, minimum_interval: float
    ) -> Job | None:
        """Like `start`; return None when any process runs this kind or started it within `minimum_interval` seconds."""
        job = await _whole(
            self._store.add_unless_recent(kind, payload, owner=self._owner, minimum_interval=minimum_interval)
        )
        if job is not None:
            self._tasks.start_soon(self._perform, self._take(job))
        return job

    async def get(self, job_id: str) -> Job:
        if (job := await self._store.get(job_id)) is None:
            raise unknown_job(job_id)
        return self._with_latest_progress(job)

    async def list(self, states: Sequence[JobState], kind: str | None, limit: int) -> Sequence[Job]:
        jobs = await self._store.list(states=states, kind=kind, limit=limit)
        return [self._with_latest_progress(job) for job in jobs]

    async def watch(self, job_id: str) -> AsyncIterator[Job]:
        """Yield the job now and after each change until it has ended, whichever process runs it."""
        last: Job | None = None
        while True:
            run = self._mine.get(job_id)
            change = run.next_change if run else None
            job = await self.get(job_id)
            if job != last:
                last = job
                yield job
            if job.state.ended:
                return
            with anyio.move_on_after(WATCH_SECONDS):
                await (change() if change else anyio.sleep_forever())

    async def wait(self, job_id: str, patience: float | None, reporter: Reporter) -> Job:
        """Return the job once it has ended or after `patience` seconds; progress is passed to `reporter`."""
        job: Job | None = None
        reported: Progress | None = None
        with anyio.move_on_after(patience):
            async for job in self.watch(job_id):
                if job.progress != reported and job.progress != Progress():
                    reported = job.progress
                    await reporter.report(reported.done, reported.total, reported.message)
        if job is None or not job.state.ended:
            job = await self.get(job_id)
        return job

    async def cancel(self, job_id: str, *, patience: float | None) -> Job:
        """Request cancellation and wait up to `patience` seconds. A job is `cancelled` only once it has stopped."""
        await self.get(job_id)
        await self._store.request_cancel(job_id)
        if run := self._mine.get(job_id):
            run.cancel_requested = True
            run.announce()
        return await self.wait(job_id, patience, SilentReporter())

    # -- running -----------------------------------------------------------------------------------

    def _take(self, job: Job) -> JobRun:
        run = JobRun(job.id, job.kind, job.payload, job.attempts)
        self._mine[job.id] = run
        return run

    async def _perform(self, run: JobRun) -> None:
        """Run one job. In every case it is ended or released, and watchers are notified."""
        try:
            result = await self._handlers[run.kind](run)
        except Cancelled:
            await self._end(run, JobState.CANCELLED)
        except ScrubjayError as error:
            await self._end(run, JobState.FAILED, error=error.record)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._store.release(run.job_id, self._owner)
                self._forget(run)
            raise
        except Exception as error:  # a bug: the job must still end for its watchers
            logger.error(
                "a job failed unexpectedly", extra={"job_id": run.job_id, "tool": run.kind, **error_fields(error)}
            )
            broken = Internal(
                f"{run.kind} failed unexpectedly ({type(error).__name__})",
                hint=f"this is a bug; the log has the details under job {run.job_id}",
            )
            await self._end(run, JobState.FAILED, error=broken.record)
        else:
            await self._end(run, JobState.COMPLETED, result=result)

    async def _end(
        self,
        run: JobRun,
        state: JobState,
        *,
        result: Mapping[str, Any] | None = None,
        error: ErrorRecord | None = None,
    ) -> None:
        with anyio.CancelScope(shield=True):
            try:
                mine = await self._store.finish(
                    run.job_id,
                    self._owner,
                    state,
                    progress=run.progress,
                    result=result,
                    error=error,
                    memory_ids=run.memory_ids,
                )
            except ScrubjayError as problem:  # its lease will run out, and another process will finish it
                logger.error(
                    "could not store the end of a job", extra={"job_id": run.job_id, "problem": problem.message}
                )
            else:
                if not mine:
                    logger.warning("a job ended after its lease was lost", extra={"job_id": run.job_id})
            finally:
                self._forget(run)

    def _forget(self, run: JobRun) -> None:
        self._mine.pop(run.job_id, None)
        run.announce()

    async def _beat(self) -> None:
        """Renew leases, store progress, and detect jobs that were cancelled or taken over, or whose key has ended."""
        while True:
            await anyio.sleep(min(self._lease_seconds / BEATS_PER_LEASE, MAX_BEAT_SECONDS))
            runs = dict(self._mine)  # jobs started during the query are not in its answer
            if not runs:
                continue
            try:
                states = await self._store.renew(self._owner, {job_id: run.progress for job_id, run in runs.items()})
            except ScrubjayError as error:
                logger.warning("could not renew job leases", extra={"problem": error.message})
                continue
            for job_id, run in runs.items():
                if states.get(job_id) is not JobState.RUNNING:
                    run.cancel_requested = True  # cancelled, or taken over because our lease ran out

    async def _adopt(self) -> None:
        """Take over queued jobs and jobs whose process died."""
        while True:
            try:
                while job := await self._store.claim(list(self._handlers), self._owner):
                    logger.info("took over a job", extra={"job_id": job.id, "tool": job.kind, "attempt": job.attempts})
                    self._tasks.start_soon(self._perform, self._take(job))
            except ScrubjayError as error:
                logger.warning("could not search for abandoned jobs", extra={"problem": error.message})
            await anyio.sleep(self._lease_seconds / LOOKS_PER_LEASE)

    def _with_latest_progress(self, job: Job) -> Job:
        run = self._mine.get(job.id)
        if run is None or job.state.ended:
            return job
        return replace(job, progress=run.progress)


async def _whole(work: Awaitable[T]) -> T:
    """Await the work, shielded from cancellation."""
    outcome: list[T] = []
    with anyio.CancelScope(shield=True):
        outcome.append(await work)
    return outcome[0]
