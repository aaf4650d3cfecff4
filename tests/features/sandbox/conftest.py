"""A sandbox with real workers, shared by the tests of a module."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.features.sandbox.artifacts import ARTIFACTS, create_engine, load_module
from scrubjay.features.sandbox.pool import SandboxPool
from scrubjay.features.sandbox.profiles import LimitPolicy, RunLimits
from scrubjay.features.sandbox.service import Sandbox

CEILING = RunLimits(max_execution_time_ms=60_000, max_memory_mb=256, max_cpu_percent=100, allow_filesystem=True)
LIMITS = RunLimits(max_execution_time_ms=30_000, max_memory_mb=64, max_cpu_percent=100)


class NoTools:
    """A tool bridge without tools."""

    families: Mapping[str, Sequence[str]] = {}

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        raise AssertionError(f"{name} was called")


async def until(condition: Callable[[], bool]) -> None:
    """Poll for an effect of another process that sends no event."""
    with anyio.fail_after(60):
        while not condition():  # noqa: ASYNC110
            await anyio.sleep(0.01)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache folder of compiled modules, filled once per test worker."""
    folder = tmp_path_factory.mktemp("compiled")
    engine = create_engine()
    for artifact in ARTIFACTS:
        load_module(artifact, folder, engine)
    return folder


@asynccontextmanager
async def sandbox_in(folder: Path, *, slots: int = 2) -> AsyncGenerator[Sandbox]:
    async with anyio.create_task_group() as tasks:
        pool = SandboxPool(folder, tasks, slots=slots, memory_bytes=CEILING.max_memory_mb * 1024 * 1024)
        yield Sandbox(pool, LimitPolicy("default", CEILING))
        tasks.cancel_scope.cancel()


@pytest.fixture(scope="module")
async def sandbox(compiled: Path, anyio_backend: str) -> AsyncGenerator[Sandbox]:
    async with sandbox_in(compiled) as sandbox:
        yield sandbox
