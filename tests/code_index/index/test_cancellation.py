import threading
import time
from collections.abc import Callable

import anyio
import anyio.lowlevel
import pytest

from scrubjay.code_index.index.cancellation import heeding, in_thread, meanwhile
from scrubjay.core.errors import Cancelled, Unavailable
from scrubjay.core.progress import Reporter, SilentReporter

BOUND = 10.0


async def test_work_in_a_thread_is_told_when_nobody_waits_for_it_any_more():
    begun, ended = threading.Event(), threading.Event()

    def work(should_stop: Callable[[], bool]) -> None:
        begun.set()
        while not should_stop():
            time.sleep(0.001)
        ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(in_thread, work)
        assert await anyio.to_thread.run_sync(begun.wait, BOUND)
        tasks.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(ended.wait, BOUND)


async def test_a_stage_that_takes_longer_than_it_may_is_given_up_with_its_name():
    given_up: list[bool] = []

    async def work(_: Reporter) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            given_up.append(True)

    with pytest.raises(Unavailable, match="the stage graph took longer than") as failed:
        with anyio.fail_after(BOUND):
            await heeding(SilentReporter(), work, stage="graph", seconds=0.1, every=0.01)
    assert (failed.value.details, given_up) == ({"stage": "graph", "seconds": 0.1}, [True])


async def test_what_is_asked_to_stop_says_so_and_what_fails_says_why():
    class Stopping:
        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            raise Cancelled("asked to stop")

    async def waits(_: Reporter) -> None:
        await anyio.sleep_forever()

    async def fails(_: Reporter) -> None:
        raise LookupError("lost")

    with pytest.raises(Cancelled, match="asked to stop"):
        with anyio.fail_after(BOUND):
            await heeding(Stopping(), waits, every=0.01)
    with pytest.raises(LookupError, match="lost"):
        await heeding(SilentReporter(), fails)


async def test_other_work_is_done_meanwhile_and_waited_for():
    begun, done = anyio.Event(), list[str]()

    async def work() -> int:
        await begun.wait()  # else it would wait for ever
        done.append("work")
        return 7

    async def other() -> None:
        begun.set()
        await anyio.lowlevel.checkpoint()
        done.append("other")

    with anyio.fail_after(BOUND):
        assert await meanwhile(work, other) == 7
    assert sorted(done) == ["other", "work"]


async def test_when_the_work_fails_the_other_ends_and_the_failure_is_told_as_it_is():
    ended: list[bool] = []

    async def work() -> None:
        raise Unavailable("no disk", hint="add one")

    async def other() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    with anyio.fail_after(BOUND), pytest.raises(Unavailable, match="no disk"):
        await meanwhile(work, other)
    assert ended == [True]


async def test_when_the_other_fails_the_work_ends_and_the_failure_is_told_as_it_is():
    ended: list[bool] = []

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    async def other() -> None:
        raise Unavailable("no disk", hint="add one")

    with anyio.fail_after(BOUND), pytest.raises(Unavailable, match="no disk"):
        await meanwhile(work, other)
    assert ended == [True]
