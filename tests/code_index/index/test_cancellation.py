"""Stages of a build can be cancelled, limited in time and run concurrently."""

import threading
import time
from collections.abc import Callable

import anyio
import anyio.lowlevel
import pytest

from scrubjay.code_index.index.cancellation import run_alongside, run_cancellable, run_in_thread
from scrubjay.core.errors import Cancelled, Unavailable
from scrubjay.core.progress import Reporter, SilentReporter

BOUND = 10.0


async def test_work_in_a_thread_is_asked_to_stop_when_its_caller_is_cancelled():
    begun, ended = threading.Event(), threading.Event()

    def work(should_stop: Callable[[], bool]) -> None:
        begun.set()
        while not should_stop():
            time.sleep(0.001)
        ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_in_thread, work)
        assert await anyio.to_thread.run_sync(begun.wait, BOUND)
        tasks.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(ended.wait, BOUND)


async def test_a_stage_above_its_time_limit_is_cancelled_and_named_in_the_error():
    cancelled: list[bool] = []

    async def work(_: Reporter) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.append(True)

    with pytest.raises(Unavailable, match="the stage graph took longer than") as failed:
        with anyio.fail_after(BOUND):
            await run_cancellable(SilentReporter(), work, stage="graph", seconds=0.1, every=0.01)
    assert (failed.value.details, cancelled) == ({"stage": "graph", "seconds": 0.1}, [True])


async def test_cancellation_and_failures_are_raised_unchanged():
    class Stopping:
        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            raise Cancelled("stop requested")

    async def wait(_: Reporter) -> None:
        await anyio.sleep_forever()

    async def fail(_: Reporter) -> None:
        raise LookupError("lost")

    with pytest.raises(Cancelled, match="stop requested"):
        with anyio.fail_after(BOUND):
            await run_cancellable(Stopping(), wait, every=0.01)
    with pytest.raises(LookupError, match="lost"):
        await run_cancellable(SilentReporter(), fail)


async def test_other_work_runs_concurrently_and_is_awaited():
    begun, done = anyio.Event(), list[str]()

    async def work() -> int:
        await begun.wait()  # otherwise it would wait forever
        done.append("work")
        return 7

    async def other() -> None:
        begun.set()
        await anyio.lowlevel.checkpoint()
        done.append("other")

    with anyio.fail_after(BOUND):
        assert await run_alongside(work, other) == 7
    assert sorted(done) == ["other", "work"]


async def test_a_failure_of_the_work_cancels_the_other_and_is_raised_unchanged():
    ended: list[bool] = []

    async def work() -> None:
        raise Unavailable("no disk", hint="add one")

    async def other() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    with anyio.fail_after(BOUND), pytest.raises(Unavailable, match="no disk"):
        await run_alongside(work, other)
    assert ended == [True]


async def test_a_failure_of_the_other_cancels_the_work_and_is_raised_unchanged():
    ended: list[bool] = []

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    async def other() -> None:
        raise Unavailable("no disk", hint="add one")

    with anyio.fail_after(BOUND), pytest.raises(Unavailable, match="no disk"):
        await run_alongside(work, other)
    assert ended == [True]
