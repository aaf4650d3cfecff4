"""Fixtures of all tests, and what makes the suite fast: files in memory, and the longest tests first."""

import gc
import inspect
import os
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
import sniffio
from hypothesis import HealthCheck, settings

# Most tests create a store, and every write waits for the disk: in memory, that takes no time. A killed process leaves
# the same files there. Containers often have only 64 MB of it, which is too little.
MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 2 * 1024**3

# Before numpy is loaded: threads that multiply together wait by spinning, and there is a worker on each core already.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

TESTS = Path(__file__).parent
# From the outside in: the nearer to the whole program, the more processes a test starts and the longer it takes.
OUTERMOST = ("surfaces", "docs", "conformance", "app", "servers", "compat", "scenarios", "features", "db")

# How long an example takes says something about the machine only.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def outside_of_any_loop(request: pytest.FixtureRequest) -> Generator[None]:
    """Let a synchronous test start its own event loop while the loop of a longer fixture is suspended.

    Only with sniffio, which the client of OpenAI brings along, does anyio take such a loop for a running one.
    """
    if inspect.iscoroutinefunction(getattr(request.node, "function", None)):
        yield
        return
    token = sniffio.current_async_library_cvar.set(None)
    yield
    sniffio.current_async_library_cvar.reset(token)


def pytest_configure(config: pytest.Config) -> None:
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest tests first, so that no worker runs one alone at the end."""
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    room = item.path.relative_to(TESTS).parts[0]
    return OUTERMOST.index(room) if room in OUTERMOST else len(OUTERMOST)


def pytest_collection_finish() -> None:
    """Exempt imported modules from garbage collection, which would never find garbage in them."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """Mount a file system of 8 MB, where the machine allows it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk]).returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
