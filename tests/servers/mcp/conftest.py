"""The official client, connected to the toy server in this process, over stdio and over HTTP, in both eras."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client

from tests.servers.mcp import toy_server

TOYS = str(Path(toy_server.__file__))
MODES = {"handshake": "legacy", "modern": "auto"}
CONNECTIONS = [f"{transport}-{era}" for transport in ("inside", "stdio", "http") for era in MODES]


@contextmanager
def http_server(home: Path) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """Run the toy server on a real uvicorn in a child process; yield its URL and the process."""
    process = subprocess.Popen([sys.executable, TOYS, "http", str(home)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp", process
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with http_server(tmp_path_factory.mktemp("http")) as (url, _):
        yield url


@pytest.fixture(scope="module", params=CONNECTIONS)
def connection(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def notifications(connection: str) -> list[IncomingMessage]:
    """The messages that the server sent without a request."""
    return []


@pytest.fixture(scope="module")
async def client(
    request: pytest.FixtureRequest,
    connection: str,
    notifications: list[IncomingMessage],
    tmp_path_factory: pytest.TempPathFactory,
    anyio_backend: str,
) -> AsyncGenerator[Client]:
    """The official client, on one kind of connection."""

    async def listen(message: IncomingMessage) -> None:
        notifications.append(message)

    transport, _, era = connection.partition("-")
    home = tmp_path_factory.mktemp(transport)
    async with AsyncExitStack() as stack:
        match transport:
            case "inside":
                target = await stack.enter_async_context(toy_server.toy_server(home, surface="inside"))
            case "stdio":
                target = StdioServerParameters(command=sys.executable, args=[TOYS, "stdio", str(home)])
            case _:
                http = await stack.enter_async_context(httpx2.AsyncClient(timeout=30, trust_env=False))
                target = streamable_http_client(request.getfixturevalue("url"), http_client=http)
        yield await stack.enter_async_context(Client(target, mode=MODES[era], message_handler=listen))
