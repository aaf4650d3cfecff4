"""The `call` fixture: a test that takes it runs through every door."""

from collections.abc import AsyncGenerator, Generator
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


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store that every door of this worker opens at the same time."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def url(home: Path) -> Generator[str]:
    with server(home) as url:
        yield url


@pytest.fixture(scope="session")
def doors() -> dict[str, Caller]:
    """Opened doors by name; filled as tests ask for them."""
    return {}


@pytest.fixture(scope="session")
async def open_doors(anyio_backend: str) -> AsyncGenerator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture(params=SURFACES)
async def call(
    request: pytest.FixtureRequest, home: Path, doors: dict[str, Caller], open_doors: AsyncExitStack
) -> Caller:
    """Calls tools through one of the doors; all of them lead into one store."""
    name: str = request.param
    if name not in doors:
        match name:
            case "python":
                opening = through_python(home)
            case "mcp-stdio":
                opening = through_mcp_stdio(home, "auto")
            case "mcp-stdio-handshake":
                opening = through_mcp_stdio(home, "legacy")
            case "mcp-http":
                opening = through_mcp_http(request.getfixturevalue("url"), "auto")
            case "mcp-http-handshake":
                opening = through_mcp_http(request.getfixturevalue("url"), "legacy")
            case "rest":
                opening = through_rest(request.getfixturevalue("url"))
            case _:
                opening = through_cli(home)
        doors[name] = await open_doors.enter_async_context(opening)
    return doors[name]


@pytest.fixture
def project(tmp_path: Path) -> str:
    """A project of this test alone."""
    return str(tmp_path)
