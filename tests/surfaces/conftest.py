"""The `call` fixture: a test that takes it runs through every door."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.surfaces.callers import SURFACES, Caller, server, through

Door = Callable[[str], Awaitable[Caller]]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store that every door of this worker opens at the same time."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def url(home: Path) -> Generator[str]:
    with server(home) as url:
        yield url


@pytest.fixture(scope="session")
async def door(home: Path, url: str, anyio_backend: str) -> AsyncGenerator[Door]:
    """A door by its name, opened when it is first asked for; all of them lead into one store."""
    opened: dict[str, Caller] = {}
    async with AsyncExitStack() as stack:

        async def door(name: str) -> Caller:
            if name not in opened:
                opened[name] = await stack.enter_async_context(through(name, home, url))
            return opened[name]

        yield door


@pytest.fixture(params=SURFACES)
async def call(request: pytest.FixtureRequest, door: Door) -> Caller:
    """Calls tools through one of the doors."""
    return await door(request.param)


@pytest.fixture
def project(tmp_path: Path) -> str:
    """A project of this test alone."""
    return str(tmp_path)
