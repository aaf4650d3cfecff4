"""A pool of worker processes: limits concurrent runs and reuses healthy workers."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import anyio.abc

from scrubjay.core.errors import Busy
from scrubjay.features.sandbox.workers import SandboxWorker

IDLE_SECONDS: Final = 60.0
# Workers are replaced regularly, which limits memory leaks of libraries.
MAX_RUNS: Final = 1_000
MAX_WAITING: Final = 1_000


def default_slots() -> int:
    return min(20, 2 * (os.cpu_count() or 1))


class SandboxPool:
    """The sandbox workers of one server."""

    def __init__(self, folder: Path, tasks: anyio.abc.TaskGroup, *, slots: int, memory_bytes: int) -> None:
        """End idle workers from a task in `tasks`; cancelling the group ends all workers."""
        self.slots = slots
        self._folder = folder
        self._tasks = tasks
        self._memory_bytes = memory_bytes
        self._limiter = anyio.CapacityLimiter(slots)
        self._waiting = 0
        self._idle: list[SandboxWorker] = []
        self._has_reaper = False
        self._first_start = anyio.Lock()
        self._is_compiled = False

    @property
    def busy(self) -> int:
        return self._limiter.borrowed_tokens

    @property
    def idle(self) -> int:
        return len(self._idle)

    @asynccontextmanager
    async def worker(self) -> AsyncGenerator[SandboxWorker]:
        """Lend a worker exclusively. If the block raises, the worker is killed instead of reused."""
        if self._waiting >= MAX_WAITING:
            raise Busy(f"{self._waiting} programs are already waiting to run", hint="try again later")
        self._waiting += 1
        try:
            await self._limiter.acquire_on_behalf_of(token := object())
        finally:
            self._waiting -= 1
        try:
            worker = await self._idle_worker() or await self._start_worker()
            try:
                yield worker
            except BaseException:
                await worker.close()
                raise
            worker.runs += 1
            if worker.runs >= MAX_RUNS:
                await worker.close()
            else:
                worker.idle_since = anyio.current_time()
                self._idle.append(worker)
        finally:
            self._limiter.release_on_behalf_of(token)

    async def _idle_worker(self) -> SandboxWorker | None:
        """Return an idle worker that is alive, or None; dead ones are closed."""
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            await worker.close()
        return None

    async def _start_worker(self) -> SandboxWorker:
        if not self._has_reaper:
            self._has_reaper = True
            self._tasks.start_soon(self._reap_idle)
        if self._is_compiled:
            return await SandboxWorker.start(self._folder, self._memory_bytes)
        async with self._first_start:  # the first worker fills the compilation cache for all others
            worker = await SandboxWorker.start(self._folder, self._memory_bytes)
            self._is_compiled = True
            return worker

    async def _reap_idle(self) -> None:
        """End workers that were idle for `IDLE_SECONDS`; when cancelled, end all idle workers."""
        try:
            while True:
                await anyio.sleep(IDLE_SECONDS / 4)
                while self._idle and anyio.current_time() - self._idle[0].idle_since > IDLE_SECONDS:
                    await self._idle.pop(0).close()
        finally:
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as ending:
                    for worker in self._idle:
                        ending.start_soon(worker.close)
                self._idle.clear()
