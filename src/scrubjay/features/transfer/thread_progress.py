"""Progress and cancellation of work that runs on another thread."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from scrubjay.core.errors import Cancelled, ScrubjayError
from scrubjay.core.progress import Reporter

T = TypeVar("T")

# Interval of progress reports.
REPORT_SECONDS = 0.1


class ThreadProgress:
    """Progress that the working thread updates and others read."""

    def __init__(self, message: str, total: float | None = None) -> None:
        self.message = message
        self.total = total
        self.done = 0.0
        self.is_cancelled = False

    def reach(self, done: float) -> None:
        """Record the progress; raise `Cancelled` if the work should stop."""
        if self.is_cancelled:
            raise Cancelled("the job was cancelled")
        self.done = done


async def run_with_progress(work: Callable[[], Awaitable[T]], progress: ThreadProgress, reporter: Reporter) -> T:
    """Run the work, report its progress and return its result. The work has always ended when this returns."""
    outcome: list[T] = []
    problems: list[BaseException] = []
    ended = anyio.Event()

    async def run() -> None:
        try:
            outcome.append(await work())
        except Exception as error:
            problems.append(error)
        finally:
            ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        try:
            while not ended.is_set():
                with anyio.move_on_after(REPORT_SECONDS):
                    await ended.wait()
                await reporter.report(progress.done, progress.total, progress.message)
        except ScrubjayError as error:
            problems.append(error)
        finally:
            progress.is_cancelled = True
    if problems:
        raise problems[0]
    return outcome[0]
