"""Work on another thread is watched, can be stopped, and has always ended."""

import threading

import anyio
import anyio.to_thread
import pytest

from scrubjay.core.errors import Cancelled, InvalidRequest
from scrubjay.core.progress import Progress
from scrubjay.features.transfer.thread_progress import Tally, watched


class Notebook:
    """Notes what is reported; asks the work to stop when it has come so far."""

    def __init__(self, enough: float = float("inf")) -> None:
        self.noted: list[Progress] = []
        self._enough = enough

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        self.noted.append(Progress(done, total, message))
        if done >= self._enough:
            raise Cancelled("enough")


async def test_the_outcome_comes_back_and_the_last_report_is_the_last_step() -> None:
    tally, notebook = Tally("counting", 10), Notebook()

    def work() -> str:
        tally.reach(10)
        return "done"

    assert await watched(lambda: anyio.to_thread.run_sync(work), tally, notebook) == "done"
    assert notebook.noted[-1] == Progress(10, 10, "counting")


async def test_work_that_is_asked_to_stop_has_stopped_when_the_asker_learns_of_it() -> None:
    tally, ended = Tally("counting"), threading.Event()

    def work() -> None:
        number = 0
        try:
            while True:
                number += 1
                tally.reach(number)
        finally:
            ended.set()

    with anyio.fail_after(5), pytest.raises(Cancelled):
        await watched(lambda: anyio.to_thread.run_sync(work), tally, Notebook(enough=1))
    assert ended.is_set()


async def test_work_has_stopped_also_when_the_program_ends() -> None:
    tally, begun, ended = Tally("counting"), threading.Event(), threading.Event()

    def work() -> None:
        try:
            while True:
                tally.reach(1)
                begun.set()
        finally:
            ended.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watched, lambda: anyio.to_thread.run_sync(work), tally, Notebook())
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()
    assert ended.is_set()


async def test_what_goes_wrong_in_the_work_is_told_as_it_is() -> None:
    def work() -> None:
        raise InvalidRequest("wrong")

    with pytest.raises(InvalidRequest, match="wrong"):
        await watched(lambda: anyio.to_thread.run_sync(work), Tally("counting"), Notebook())
