"""The toy server, and a client that calls it without a socket."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from tests.servers.rest.toy_server import ToyServer, make_toy_server


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[ToyServer]:
    server = make_toy_server(tmp_path)
    async with server.app.router.lifespan_context(server.app):
        yield server


@pytest.fixture
async def client(server: ToyServer) -> AsyncGenerator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(server.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client
