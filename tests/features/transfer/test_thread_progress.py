"""Work in a thread: progress, cancellation, and its end before the call returns."""

import threading

import anyio
import anyio.to_thread
import pytest

from scrubjay.core.errors import Cancelled, InvalidRequest
from scrubjay.core.progress import Progress
from scrubjay.features.transfer.thread_progress import ThreadProgress, run_with_progress


class RecordingReporter:
    """Records the reports, and cancels the work at a given progress."""

    def __init__(self, cancel_at: float = float("inf")) -> None:
        self.reports: list[Progress] = []
        self._cancel_at = cancel_at

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        self.reports.append(Progress(done, total, message))
        if done >= self._cancel_at:
            raise Cancelled("enough")


async def test_the_result_is_returned_and_the_last_report_is_the_last_step() -> None:
    tally, reporter = ThreadProgress("counting", 10), RecordingReporter()

    def work() -> str:
        tally.reach(10)
        return "done"

    assert await run_with_progress(lambda: anyio.to_thread.run_sync(work), tally, reporter) == "done"
    assert reporter.reports[-1] == Progress(10, 10, "counting")


async def test_cancelled_work_has_stopped_when_the_caller_returns() -> None:
    tally, ended = ThreadProgress("counting"), threading.Event()

    def work() -> None:
        number = 0
        try:
            while True:
                number += 1
                tally.reach(number)
        finally:
            ended.set()

    with anyio.fail_after(5), pytest.raises(Cancelled):
        await run_with_progress(lambda: anyio.to_thread.run_sync(work), tally, RecordingReporter(cancel_at=1))
    assert ended.is_set()


async def test_work_has_stopped_when_the_program_ends() -> None:
    tally, started, ended = ThreadProgress("counting"), threading.Event(), threading.Event()

    def work() -> None:
        try:
            while True:
                tally.reach(1)
                started.set()
        finally:
            ended.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_with_progress, lambda: anyio.to_thread.run_sync(work), tally, RecordingReporter())
            await anyio.to_thread.run_sync(started.wait)
            tasks.cancel_scope.cancel()
    assert ended.is_set()


async def test_errors_of_the_work_are_raised_unchanged() -> None:
    def work() -> None:
        raise InvalidRequest("wrong")

    with pytest.raises(InvalidRequest, match="wrong"):
        await run_with_progress(lambda: anyio.to_thread.run_sync(work), ThreadProgress("counting"), RecordingReporter())
