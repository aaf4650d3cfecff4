"""Run work that stops on cancellation or timeout, even while it reports no progress."""

import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from scrubjay.core.errors import Cancelled, Unavailable
from scrubjay.core.progress import Progress, Reporter

T = TypeVar("T")

POLL_SECONDS = 0.1


class _RepeatingReporter:
    """A reporter that can repeat its last report."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._last = Progress()

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        self._last = Progress(done, total, message)
        await self.repeat()

    async def repeat(self) -> None:
        await self._reporter.report(self._last.done, self._last.total, self._last.message)


async def run_cancellable(
    reporter: Reporter,
    work: Callable[[Reporter], Awaitable[T]],
    *,
    stage: str = "",
    seconds: float | None = None,
    every: float = POLL_SECONDS,
) -> T:
    """Return the result of `work`, polling `reporter` for cancellation every `every` seconds.

    Raises `Cancelled` when the reporter does, and `Unavailable` when the work takes longer than `seconds`.
    """
    repeating = _RepeatingReporter(reporter)
    outcome: list[T] = []
    failures: list[Exception] = []

    async def perform() -> None:
        try:
            outcome.append(await work(repeating))
        except Exception as error:  # raised below, so that it is not wrapped in an exception group
            failures.append(error)
        tasks.cancel_scope.cancel()

    ends = anyio.current_time() + seconds if seconds is not None else None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(perform)
        while True:
            await anyio.sleep(every)
            try:
                await repeating.repeat()
            except Cancelled as error:
                failures.append(error)
                tasks.cancel_scope.cancel()
            if ends is not None and anyio.current_time() > ends:
                failures.append(stage_timeout(stage, seconds or 0.0))
                tasks.cancel_scope.cancel()
    if failures:
        raise failures[0]
    return outcome[0]


async def run_alongside(work: Callable[[], Awaitable[T]], other: Callable[[], Awaitable[None]]) -> T:
    """Run both concurrently and return the result of `work`; when one fails, cancel the other and raise."""
    outcome: list[T] = []
    failures: list[Exception] = []

    async def perform(one: Callable[[], Awaitable[object]]) -> None:
        try:
            await one()
        except Exception as error:  # raised below, so that it is not wrapped in an exception group
            failures.append(error)
            tasks.cancel_scope.cancel()

    async def run_work() -> None:
        outcome.append(await work())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(perform, run_work)
        tasks.start_soon(perform, other)
    if failures:
        raise failures[0]
    return outcome[0]


def stage_timeout(stage: str, seconds: float) -> Unavailable:
    """Return the error for a stage that exceeded its time limit."""
    return Unavailable(
        f"the stage {stage} took longer than {seconds:g} seconds",
        hint="SCRUBJAY_CODE_STAGE_SECONDS raises the limit; excludes leave folders out",
        details={"stage": stage, "seconds": seconds},
    )


async def run_in_thread(work: Callable[[Callable[[], bool]], T]) -> T:
    """Return the result of `work`, run in a thread.

    On cancellation the thread is abandoned; the callable passed to `work` then returns True, and the work should poll
    it to end soon.
    """
    abandoned = threading.Event()
    try:
        return await anyio.to_thread.run_sync(work, abandoned.is_set, abandon_on_cancel=True)
    finally:
        abandoned.set()
