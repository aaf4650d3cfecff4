"""Work that ends when it is asked to stop or takes longer than it may, also where it reports nothing."""

import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from scrubjay.core.errors import Cancelled, Unavailable
from scrubjay.core.progress import Progress, Reporter

T = TypeVar("T")

LOOK_SECONDS = 0.1


class _Heard:
    """A reporter that can say again what was said last."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._last = Progress()

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        self._last = Progress(done, total, message)
        await self.again()

    async def again(self) -> None:
        await self._reporter.report(self._last.done, self._last.total, self._last.message)


async def heeding(
    reporter: Reporter,
    work: Callable[[Reporter], Awaitable[T]],
    *,
    stage: str = "",
    seconds: float | None = None,
    every: float = LOOK_SECONDS,
) -> T:
    """What the work comes to; it has so many seconds, and its reporter is asked so often whether to go on."""
    heard = _Heard(reporter)
    outcome: list[T] = []
    failures: list[Exception] = []

    async def perform() -> None:
        try:
            outcome.append(await work(heard))
        except Exception as error:  # it is raised below, and not as one of a group
            failures.append(error)
        tasks.cancel_scope.cancel()

    ends = anyio.current_time() + seconds if seconds is not None else None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(perform)
        while True:
            await anyio.sleep(every)
            try:
                await heard.again()
            except Cancelled as error:
                failures.append(error)
                tasks.cancel_scope.cancel()
            if ends is not None and anyio.current_time() > ends:
                failures.append(too_long(stage, seconds or 0.0))
                tasks.cancel_scope.cancel()
    if failures:
        raise failures[0]
    return outcome[0]


async def meanwhile(work: Callable[[], Awaitable[T]], other: Callable[[], Awaitable[None]]) -> T:
    """What the work comes to, when the other has been done beside it as well; if one of them fails, both end."""
    outcome: list[T] = []
    failures: list[Exception] = []

    async def perform(one: Callable[[], Awaitable[object]]) -> None:
        try:
            await one()
        except Exception as error:  # it is raised below, and not as one of a group
            failures.append(error)
            tasks.cancel_scope.cancel()

    async def keep() -> None:
        outcome.append(await work())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(perform, keep)
        tasks.start_soon(perform, other)
    if failures:
        raise failures[0]
    return outcome[0]


def too_long(stage: str, seconds: float) -> Unavailable:
    return Unavailable(
        f"the stage {stage} took longer than {seconds:g} seconds",
        hint="SCRUBJAY_CODE_STAGE_SECONDS allows more; excludes leave folders out",
        details={"stage": stage, "seconds": seconds},
    )


async def in_thread(work: Callable[[Callable[[], bool]], T]) -> T:
    """What the work comes to, in a thread. When nobody waits for it any more, the callable that it is given says so.

    It does not have to be waited for: work that asks now and then ends soon.
    """
    given_up = threading.Event()
    try:
        return await anyio.to_thread.run_sync(work, given_up.is_set, abandon_on_cancel=True)
    finally:
        given_up.set()
