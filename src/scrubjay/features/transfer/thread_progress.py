"""Long work on another thread that can be watched and stopped."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from scrubjay.core.errors import Cancelled, ScrubjayError
from scrubjay.core.progress import Reporter

T = TypeVar("T")

# How often it is looked how far the work has come.
LOOK_SECONDS = 0.1


class Tally:
    """How far the work has come; the work counts, and others look."""

    def __init__(self, message: str, total: float | None = None) -> None:
        self.message = message
        self.total = total
        self.done = 0.0
        self.stop_asked = False

    def reach(self, done: float) -> None:
        """Note how far it is. Raises `Cancelled` when the work has been asked to stop."""
        if self.stop_asked:
            raise Cancelled("the job was asked to stop")
        self.done = done


async def watched(work: Callable[[], Awaitable[T]], tally: Tally, reporter: Reporter) -> T:
    """The outcome of the work, which is reported on meanwhile. It has always ended when this returns."""
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
                with anyio.move_on_after(LOOK_SECONDS):
                    await ended.wait()
                await reporter.report(tally.done, tally.total, tally.message)
        except ScrubjayError as error:
            problems.append(error)
        finally:
            tally.stop_asked = True
    if problems:
        raise problems[0]
    return outcome[0]
