"""Starts, runs, watches and cancels jobs; several processes share them through the store."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import anyio
import anyio.abc
import anyio.lowlevel

from scrubjay.core.error_location import place_of
from scrubjay.core.errors import Cancelled, ErrorRecord, Internal, NotFound, ScrubjayError
from scrubjay.core.ids import new_id
from scrubjay.core.progress import Progress, Reporter, SilentReporter
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.store import JobStore

logger = logging.getLogger("scrubjay.tooling.jobs")

T = TypeVar("T")

# In the time of a lease, a process gives this many signs of life and looks this often for jobs that nobody runs.
BEATS_PER_LEASE = 30
LOOKS_PER_LEASE = 3
# How often a watcher looks at a job that another process runs.
WATCH_SECONDS = 0.2


@dataclass(eq=False)
class JobRun:
    """One attempt at a job, as the work itself sees it. It is the work's reporter."""

    job_id: str
    kind: str
    payload: Mapping[str, Any]
    attempt: int
    progress: Progress = Progress()
    stop_asked: bool = False
    tells_of: frozenset[str] = frozenset()
    """The memories whose words are in its result, as the work says before it ends."""
    _changed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def resumed(self) -> bool:
        """Whether an earlier attempt got part of the way."""
        return self.attempt > 1

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        progress = Progress(done, total, message)
        if progress != self.progress:  # what is said again, to ask whether to go on, is no news
            self.progress = progress
            self.announce()
        await anyio.lowlevel.checkpoint()
        if self.stop_asked:
            raise Cancelled("the job was asked to stop")

    def announce(self) -> None:
        """Wake whoever watches in this process."""
        self._changed.set()
        self._changed = anyio.Event()

    async def next_change(self) -> None:
        await self._changed.wait()


Handler = Callable[[JobRun], Awaitable[Mapping[str, Any]]]


def unknown_job(job_id: str) -> NotFound:
    return NotFound(f"there is no job {job_id[:80]!r}", hint="list_jobs shows those there are")


class JobService:
    """The jobs of one store, and the part of them that this process runs."""

    def __init__(
        self,
        store: JobStore,
        handlers: Mapping[str, Handler],
        tasks: anyio.abc.TaskGroup,
        *,
        lease_seconds: float = 30.0,
        adopts: bool = True,
    ) -> None:
        """Runs jobs in the given task group. When that is cancelled, what is unfinished goes back to the queue."""
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
        """Begin the work at once in this process; the job is durable when this returns.

        A caller that is cancelled meanwhile still learns of the job, so that it can be cancelled too.
        """
        job = await _whole(self._store.add(kind, payload, owner=self._owner))
        self._tasks.start_soon(self._perform, self._take(job))
        return job

    async def start_alone(self, kind: str, payload: Mapping[str, Any], *, quiet_seconds: float) -> Job | None:
        """The same, unless any process is at such work or began it less than so many seconds ago: then None."""
        job = await _whole(self._store.add_alone(kind, payload, owner=self._owner, quiet_seconds=quiet_seconds))
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
        """The job now and after each change, until it has ended; also when another process runs it."""
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
        """The job once it has ended, or as it is when patience runs out; its progress is passed on meanwhile."""
        job: Job | None = None
        told: Progress | None = None
        with anyio.move_on_after(patience):
            async for job in self.watch(job_id):
                if job.progress != told and job.progress != Progress():
                    told = job.progress
                    await reporter.report(told.done, told.total, told.message)
        if job is None or not job.state.ended:
            job = await self.get(job_id)
        return job

    async def cancel(self, job_id: str, *, patience: float | None) -> Job:
        """Ask the work to stop and wait until it has: `cancelled` is never said of work still running."""
        await self.get(job_id)
        await self._store.request_cancel(job_id)
        if run := self._mine.get(job_id):
            run.stop_asked = True
            run.announce()
        return await self.wait(job_id, patience, SilentReporter())

    # -- running -----------------------------------------------------------------------------------

    def _take(self, job: Job) -> JobRun:
        run = JobRun(job.id, job.kind, job.payload, job.attempts)
        self._mine[job.id] = run
        return run

    async def _perform(self, run: JobRun) -> None:
        """Run one job to its end. Whatever happens, the job is ended or given back, and watchers are told."""
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
        except Exception as error:  # a bug: watchers must still be told the work has ended
            logger.error("a job broke", extra={"job_id": run.job_id, "tool": run.kind, **place_of(error)})
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
                    memory_ids=run.tells_of,
                )
            except ScrubjayError as problem:  # its lease will run out, and another process will finish it
                logger.error("a job's end could not be kept", extra={"job_id": run.job_id, "problem": problem.message})
            else:
                if not mine:
                    logger.warning("a job ended here after its lease was lost", extra={"job_id": run.job_id})
            finally:
                self._forget(run)

    def _forget(self, run: JobRun) -> None:
        self._mine.pop(run.job_id, None)
        run.announce()

    async def _beat(self) -> None:
        """Keep the leases alive, note progress, and notice what another process asked or took."""
        while True:
            await anyio.sleep(self._lease_seconds / BEATS_PER_LEASE)
            runs = dict(self._mine)  # what begins while the store is asked is not judged by this answer
            if not runs:
                continue
            try:
                states = await self._store.renew(self._owner, {job_id: run.progress for job_id, run in runs.items()})
            except ScrubjayError as error:
                logger.warning("leases could not be renewed", extra={"problem": error.message})
                continue
            for job_id, run in runs.items():
                if states.get(job_id) is not JobState.RUNNING:
                    run.stop_asked = True  # cancelled elsewhere, or taken over because our lease ran out

    async def _adopt(self) -> None:
        """Take over what nobody runs: queued jobs, and those of processes that died."""
        while True:
            try:
                while job := await self._store.claim(list(self._handlers), self._owner):
                    logger.info("took over a job", extra={"job_id": job.id, "tool": job.kind, "attempt": job.attempts})
                    self._tasks.start_soon(self._perform, self._take(job))
            except ScrubjayError as error:
                logger.warning("could not look for unfinished jobs", extra={"problem": error.message})
            await anyio.sleep(self._lease_seconds / LOOKS_PER_LEASE)

    def _with_latest_progress(self, job: Job) -> Job:
        run = self._mine.get(job.id)
        if run is None or job.state.ended:
            return job
        return replace(job, progress=run.progress)


async def _whole(work: Awaitable[T]) -> T:
    """The outcome of the work, finished even when its caller is being cancelled."""
    outcome: list[T] = []
    with anyio.CancelScope(shield=True):
        outcome.append(await work)
    return outcome[0]
