"""A sandbox of real workers, shared by the tests of a file."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.features.sandbox.pool import Pool
from scrubjay.features.sandbox.profiles import Limits, Policy
from scrubjay.features.sandbox.service import Sandbox

MOST = Limits(max_execution_time_ms=60_000, max_memory_mb=256, max_cpu_percent=100, allow_filesystem=True)
LIMITS = Limits(max_execution_time_ms=30_000, max_memory_mb=64, max_cpu_percent=100)


class NoTools:
    """A door that leads nowhere."""

    families: Mapping[str, Sequence[str]] = {}

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        raise AssertionError(f"{name} was called")


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that other processes tell nobody of."""
    with anyio.fail_after(60):
        while not is_so():  # noqa: ASYNC110
            await anyio.sleep(0.01)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the engine is compiled to, once for a test worker."""
    return tmp_path_factory.mktemp("compiled")


@asynccontextmanager
async def sandbox_in(folder: Path, *, slots: int = 2) -> AsyncGenerator[Sandbox]:
    async with anyio.create_task_group() as tasks:
        pool = Pool(folder, tasks, slots=slots, memory_bytes=MOST.max_memory_mb * 1024 * 1024)
        yield Sandbox(pool, Policy("default", MOST))
        tasks.cancel_scope.cancel()


@pytest.fixture(scope="module")
async def sandbox(compiled: Path, anyio_backend: str) -> AsyncGenerator[Sandbox]:
    async with sandbox_in(compiled) as sandbox:
        yield sandbox
