"""The `call` fixture: a test that uses it runs on every surface."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.surfaces.callers import SURFACES, Caller, open_caller, server

OpenSurface = Callable[[str], Awaitable[Caller]]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of one store that all surfaces of this test worker share."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def url(home: Path) -> Generator[str]:
    with server(home) as url:
        yield url


@pytest.fixture(scope="session")
async def open_surface(home: Path, url: str, anyio_backend: str) -> AsyncGenerator[OpenSurface]:
    """Return the caller of a surface, opened on first use; all of them share one store."""
    opened: dict[str, Caller] = {}
    async with AsyncExitStack() as stack:

        async def open_by_name(name: str) -> Caller:
            if name not in opened:
                opened[name] = await stack.enter_async_context(open_caller(name, home, url))
            return opened[name]

        yield open_by_name


@pytest.fixture(params=SURFACES)
async def call(request: pytest.FixtureRequest, open_surface: OpenSurface) -> Caller:
    """Calls tools on one of the surfaces."""
    return await open_surface(request.param)


@pytest.fixture
def project(tmp_path: Path) -> str:
    """A project that only this test uses."""
    return str(tmp_path)
