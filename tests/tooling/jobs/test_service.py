"""Jobs: durable, watched, cancelled, resumed."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.callers import Caller
from scrubjay.core.errors import Cancelled, Conflict, ErrorCode, NotFound, Unavailable
from scrubjay.core.progress import Progress, SilentReporter
from scrubjay.features.keys.models import StoredKey
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.jobs import service
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.service import Handler, JobRun, JobService

# Determines the heartbeat interval only: leases expire by the store's clock.
LEASE_SECONDS = 0.3


class Clock:
    """A clock that only moves when the test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class Work:
    """Three steps, each started when the test allows it."""

    def __init__(self) -> None:
        self.began = anyio.Event()
        self.go = anyio.Event()
        self.attempts: list[int] = []
        self.ended_at_step: int | None = None

    async def __call__(self, run: JobRun) -> Mapping[str, Any]:
        self.attempts.append(run.attempt)
        for step in range(3):
            self.ended_at_step = step
            await run.report(step, 3, f"step {step}")
            self.began.set()
            await self.go.wait()
        return {"answer": run.payload["question"]}


class Endless:
    """Works until it is cancelled."""

    def __init__(self) -> None:
        self.began = anyio.Event()
        self.stopped = anyio.Event()

    async def __call__(self, run: JobRun) -> Mapping[str, Any]:
        step = 0
        try:
            while True:
                await run.report(step, None, "working")
                self.began.set()
                step += 1
                await anyio.sleep(0.01)
        finally:
            self.stopped.set()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path, clock: Clock) -> AsyncGenerator[SqliteStore]:
    opened = await SqliteStore.open(tmp_path, clock=clock)
    yield opened
    await opened.close()


@asynccontextmanager
async def running(
    store: SqliteStore, handlers: Mapping[str, Handler], *, adopts: bool = False
) -> AsyncGenerator[JobService]:
    """Run the job service of one process; leaving the context shuts it down."""
    async with anyio.create_task_group() as tasks:
        yield JobService(store.jobs, handlers, tasks, lease_seconds=LEASE_SECONDS, adopts=adopts)
        tasks.cancel_scope.cancel()


async def wait_until_ended(jobs: JobService, job_id: str) -> Job:
    with anyio.fail_after(5):
        return await jobs.wait(job_id, None, SilentReporter())


async def test_a_job_completes_with_its_result_which_can_be_read_later(store: SqliteStore) -> None:
    work = Work()
    work.go.set()
    async with running(store, {"work": work}) as jobs:
        started = await jobs.start("work", {"question": 42})
        assert started.state is JobState.RUNNING
        done = await wait_until_ended(jobs, started.id)
    assert (done.state, done.result, done.error, done.attempts) == (JobState.COMPLETED, {"answer": 42}, None, 1)
    assert done.progress == Progress(2, 3, "step 2")
    assert await store.jobs.get(started.id) == done


async def test_progress_is_visible_while_the_work_runs(store: SqliteStore) -> None:
    work = Work()
    seen: list[str] = []
    async with running(store, {"work": work}) as jobs:
        job = await jobs.start("work", {"question": 1})
        with anyio.fail_after(5):
            async for change in jobs.watch(job.id):
                if change.progress.message and change.progress.message not in seen:
                    seen.append(change.progress.message)
                if change.progress.message == "step 0":
                    work.go.set()
    assert seen[0] == "step 0"
    assert seen[-1] == "step 2"


async def test_a_job_is_cancelled_only_once_its_work_has_stopped(store: SqliteStore) -> None:
    work = Work()
    async with running(store, {"work": work}) as jobs:
        job = await jobs.start("work", {"question": 1})
        await work.began.wait()
        assert (await jobs.cancel(job.id, patience=0)).state is JobState.CANCELLING
        work.go.set()
        done = await wait_until_ended(jobs, job.id)
    assert (done.state, done.result) == (JobState.CANCELLED, None)
    assert work.ended_at_step == 1


async def test_a_job_can_be_cancelled_before_its_first_step(store: SqliteStore) -> None:
    go = anyio.Event()
    reported = False

    async def work(run: JobRun) -> Mapping[str, Any]:
        nonlocal reported
        await go.wait()
        await run.report(1, 1, "too late")
        reported = True
        return {}

    async with running(store, {"work": work}) as jobs:
        job = await jobs.start("work", {})
        assert (await jobs.cancel(job.id, patience=0)).state is JobState.CANCELLING
        go.set()
        assert (await wait_until_ended(jobs, job.id)).state is JobState.CANCELLED
    assert not reported


async def test_a_caller_cancelled_while_starting_a_job_still_gets_the_job(store: SqliteStore) -> None:
    work = Endless()
    async with running(store, {"work": work}) as jobs:
        with anyio.CancelScope() as impatient:
            impatient.cancel()
            await jobs.start("work", {})
        (job,) = await store.jobs.list(limit=2)
        assert (await jobs.cancel(job.id, patience=5)).state is JobState.CANCELLED


async def test_cancelling_an_ended_job_changes_nothing(store: SqliteStore) -> None:
    work = Work()
    work.go.set()
    async with running(store, {"work": work}) as jobs:
        done = await wait_until_ended(jobs, (await jobs.start("work", {"question": 1})).id)
        assert await jobs.cancel(done.id, patience=5) == done


async def test_an_expected_error_keeps_its_code_and_a_bug_still_ends_the_job(store: SqliteStore) -> None:
    async def refuses(run: JobRun) -> Mapping[str, Any]:
        raise Conflict("already there", hint="choose another name")

    async def crashes(run: JobRun) -> Mapping[str, Any]:
        raise ZeroDivisionError

    async with running(store, {"refuses": refuses, "crashes": crashes}) as jobs:
        refused = await wait_until_ended(jobs, (await jobs.start("refuses", {})).id)
        crashed = await wait_until_ended(jobs, (await jobs.start("crashes", {})).id)
    assert (refused.state, crashed.state) == (JobState.FAILED, JobState.FAILED)
    assert refused.error is not None
    assert (refused.error.code, refused.error.hint) == (ErrorCode.CONFLICT, "choose another name")
    assert crashed.error is not None
    assert crashed.error.code is ErrorCode.INTERNAL


async def test_an_unknown_job_is_not_found(store: SqliteStore) -> None:
    async with running(store, {}) as jobs:
        with pytest.raises(NotFound):
            await jobs.get("job_none")


async def test_a_process_that_exits_returns_its_job_to_the_queue(store: SqliteStore) -> None:
    first, second = Work(), Work()
    async with running(store, {"work": first}) as jobs:
        job = await jobs.start("work", {"question": 7})
        await first.began.wait()
    left = await store.jobs.get(job.id)
    assert left is not None
    assert left.state is JobState.QUEUED
    second.go.set()
    async with running(store, {"work": second}, adopts=True) as jobs:
        done = await wait_until_ended(jobs, job.id)
    assert (done.state, done.result, second.attempts) == (JobState.COMPLETED, {"answer": 7}, [2])


async def test_a_job_of_a_dead_process_is_taken_over_when_its_lease_expires(store: SqliteStore, clock: Clock) -> None:
    orphan = await store.jobs.add("work", {"question": 9}, owner="a process that was killed")
    work = Work()
    work.go.set()
    async with running(store, {"work": work}, adopts=True) as jobs:
        untouched = await jobs.get(orphan.id)
        assert untouched.state is JobState.RUNNING
        clock.now += timedelta(seconds=31)
        done = await wait_until_ended(jobs, orphan.id)
    assert (done.state, done.attempts, work.attempts) == (JobState.COMPLETED, 2, [2])


async def test_another_process_can_watch_and_cancel(tmp_path: Path, store: SqliteStore, clock: Clock) -> None:
    other = await SqliteStore.open(tmp_path, clock=clock)
    work = Endless()
    async with running(store, {"work": work}) as owner, running(other, {}) as watcher:
        job = await owner.start("work", {})
        with anyio.fail_after(5):
            async for seen in watcher.watch(job.id):
                if seen.progress.message == "working":
                    break
            done = await watcher.cancel(job.id, patience=None)
    assert (done.state, work.stopped.is_set()) == (JobState.CANCELLED, True)
    await other.close()


async def test_work_ends_with_the_key_that_started_it_and_other_work_runs_on(
    tmp_path: Path, store: SqliteStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_BEAT_SECONDS", 0.01)  # a long lease must not delay the check of keys
    other = await SqliteStore.open(tmp_path, clock=clock)
    stored = StoredKey("key_1", "ada", b"digest", frozenset({"code"}), clock.now)
    await store.keys.add(stored)
    works = [Endless(), Endless()]
    contexts = [CallContext(surface="rest", caller=Caller("ada", stored.scopes, "key_1")), CallContext(surface="rest")]
    async with anyio.create_task_group() as tasks:
        handlers = {"work": works[0], "owned": works[1]}
        jobs = JobService(store.jobs, handlers, tasks, lease_seconds=3600, adopts=False)
        ended, kept = [
            await jobs.start(kind, {"context": context.kept()})
            for kind, context in zip(handlers, contexts, strict=True)
        ]
        for work in works:
            await work.began.wait()
        await other.keys.revoke("ada", clock.now)  # by another process
        done = await wait_until_ended(jobs, ended.id)
        assert (done.state, works[0].stopped.is_set()) == (JobState.CANCELLED, True)
        assert done.error is not None
        assert done.error.message == "the key that started this job was revoked or has expired"
        assert ((await jobs.get(kept.id)).state, works[1].stopped.is_set()) == (JobState.RUNNING, False)
        tasks.cancel_scope.cancel()
    await other.close()


async def test_work_that_lost_its_lease_stops_without_ending_the_job_of_its_new_owner(
    store: SqliteStore, clock: Clock
) -> None:
    work = Endless()
    async with running(store, {"work": work}) as jobs:
        job = await jobs.start("work", {})
        await work.began.wait()
        # The lease expires, and another process claims the job before the owner's next heartbeat.
        with anyio.fail_after(5):
            claimed = None
            while claimed is None:
                clock.now += timedelta(seconds=31)
                claimed = await store.jobs.claim(["work"], "somebody else")
            assert claimed.id == job.id
            await work.stopped.wait()
        now = await store.jobs.get(job.id)
    assert now is not None
    assert (now.state, now.owner) == (JobState.RUNNING, "somebody else")


class FailingStore:
    """A job store that cannot store the end of a job."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.refused = anyio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store.jobs, name)

    async def finish(self, *_: Any, **__: Any) -> bool:
        self.refused.set()
        raise Unavailable("the disk is full")


async def test_a_job_whose_end_cannot_be_stored_is_left_to_another_process(store: SqliteStore, clock: Clock) -> None:
    work = Work()
    work.go.set()
    failing: Any = FailingStore(store)
    async with anyio.create_task_group() as tasks:
        jobs = JobService(failing, {"work": work}, tasks, lease_seconds=LEASE_SECONDS, adopts=False)
        await jobs.start("work", {"question": 5})
        with anyio.fail_after(5):
            await failing.refused.wait()
            await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    (job,) = await store.jobs.list(limit=2)
    assert job.state is JobState.RUNNING
    clock.now += timedelta(seconds=31)
    async with running(store, {"work": work}, adopts=True) as others:
        assert (await wait_until_ended(others, job.id)).result == {"answer": 5}


class SlowToRenew:
    """A job store whose `renew` waits for the test."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.renewing = anyio.Event()
        self.proceed = anyio.Event()
        self.renewed = anyio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store.jobs, name)

    async def renew(self, owner: str, progress: Mapping[str, Progress]) -> Mapping[str, JobState]:
        states = await self._store.jobs.renew(owner, progress)
        if self.renewing.is_set() and self.proceed.is_set():
            self.renewed.set()
        self.renewing.set()
        await self.proceed.wait()
        return states


async def test_a_job_started_during_a_heartbeat_is_not_stopped(store: SqliteStore) -> None:
    slow: Any = SlowToRenew(store)
    first, second = Endless(), Work()
    async with anyio.create_task_group() as tasks:
        jobs = JobService(slow, {"first": first, "second": second}, tasks, lease_seconds=LEASE_SECONDS, adopts=False)
        await jobs.start("first", {})
        with anyio.fail_after(5):
            await slow.renewing.wait()
            late = await jobs.start("second", {"question": 3})
            slow.proceed.set()
            await slow.renewed.wait()
            second.go.set()
            assert (await jobs.wait(late.id, None, SilentReporter())).result == {"answer": 3}
        tasks.cancel_scope.cancel()


async def test_a_repeated_report_sends_no_notification_but_checks_for_cancellation() -> None:
    run = JobRun("job", "kind", {}, 1)
    reported: list[Progress] = []

    async def collect() -> None:
        while True:
            await run.next_change()
            reported.append(run.progress)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect)
        await anyio.wait_all_tasks_blocked()
        for done in (1.0, 1.0, 1.0, 2.0):
            await run.report(done, 4, "reading")
            await anyio.wait_all_tasks_blocked()
        run.cancel_requested = True
        with pytest.raises(Cancelled):
            await run.report(2.0, 4, "reading")
        tasks.cancel_scope.cancel()
    assert reported == [Progress(1.0, 4, "reading"), Progress(2.0, 4, "reading")]
