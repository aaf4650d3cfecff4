"""As many workers as may run at once, each used again and again for as long as it is sound."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import anyio.abc

from scrubjay.core.errors import Busy
from scrubjay.features.sandbox.workers import Worker

IDLE_SECONDS: Final = 60.0
# Whatever a library leaks is gone with its process.
MOST_RUNS: Final = 1_000
MOST_WAITING: Final = 1_000


def usual_slots() -> int:
    return min(20, 2 * (os.cpu_count() or 1))


class Pool:
    """The workers of one server."""

    def __init__(self, folder: Path, tasks: anyio.abc.TaskGroup, *, slots: int, memory_bytes: int) -> None:
        """What minds the idle ones runs in `tasks`; when these are cancelled, all workers end."""
        self.slots = slots
        self._folder = folder
        self._tasks = tasks
        self._memory_bytes = memory_bytes
        self._limiter = anyio.CapacityLimiter(slots)
        self._waiting = 0
        self._idle: list[Worker] = []
        self._is_minded = False
        self._preparing = anyio.Lock()
        self._is_prepared = False

    @property
    def busy(self) -> int:
        return self._limiter.borrowed_tokens

    @property
    def idle(self) -> int:
        return len(self._idle)

    @asynccontextmanager
    async def worker(self) -> AsyncGenerator[Worker]:
        """A worker of one's own. One that is left by an exception is ended, whatever it is doing."""
        if self._waiting >= MOST_WAITING:
            raise Busy(f"{self._waiting} programs wait to be run already", hint="try again later")
        self._waiting += 1
        try:
            await self._limiter.acquire_on_behalf_of(token := object())
        finally:
            self._waiting -= 1
        try:
            worker = await self._living() or await self._started()
            try:
                yield worker
            except BaseException:
                await worker.end()
                raise
            worker.runs += 1
            if worker.runs >= MOST_RUNS:
                await worker.end()
            else:
                worker.idle_since = anyio.current_time()
                self._idle.append(worker)
        finally:
            self._limiter.release_on_behalf_of(token)

    async def _living(self) -> Worker | None:
        """One that has nothing to do, if there is any; those that died meanwhile are put away."""
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            await worker.end()
        return None

    async def _started(self) -> Worker:
        if not self._is_minded:
            self._is_minded = True
            self._tasks.start_soon(self._mind)
        if self._is_prepared:
            return await Worker.started(self._folder, self._memory_bytes)
        async with self._preparing:  # the first one compiles for all
            worker = await Worker.started(self._folder, self._memory_bytes)
            self._is_prepared = True
            return worker

    async def _mind(self) -> None:
        """End workers that nobody has needed for a while, and at last all."""
        try:
            while True:
                await anyio.sleep(IDLE_SECONDS / 4)
                while self._idle and anyio.current_time() - self._idle[0].idle_since > IDLE_SECONDS:
                    await self._idle.pop(0).end()
        finally:
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as ending:
                    for worker in self._idle:
                        ending.start_soon(worker.end)
                self._idle.clear()
