"""The `call` fixture: a test that takes it runs through every door."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.surfaces.callers import (
    Caller,
    server,
    through_cli,
    through_mcp_http,
    through_mcp_stdio,
    through_python,
    through_rest,
)

SURFACES = ("python", "mcp-stdio", "mcp-stdio-handshake", "mcp-http", "mcp-http-handshake", "rest", "cli")

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
                match name:
                    case "python":
                        opening = through_python(home)
                    case "mcp-stdio":
                        opening = through_mcp_stdio(home, "auto")
                    case "mcp-stdio-handshake":
                        opening = through_mcp_stdio(home, "legacy")
                    case "mcp-http":
                        opening = through_mcp_http(url, "auto")
                    case "mcp-http-handshake":
                        opening = through_mcp_http(url, "legacy")
                    case "rest":
                        opening = through_rest(url)
                    case _:
                        opening = through_cli(home)
                opened[name] = await stack.enter_async_context(opening)
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
