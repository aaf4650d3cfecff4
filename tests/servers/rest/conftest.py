"""The toy server, and a client that reaches it without a socket."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from tests.servers.rest.toys import Toys, make_toys


@pytest.fixture
async def toys(tmp_path: Path) -> AsyncGenerator[Toys]:
    toys = make_toys(tmp_path)
    async with toys.app.router.lifespan_context(toys.app):
        yield toys


@pytest.fixture
async def client(toys: Toys) -> AsyncGenerator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(toys.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client
