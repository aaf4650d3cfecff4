"""One key of the least rights cannot stop a real server for the other keys, nor can one client that does not read."""

import asyncio
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.surfaces.callers import environment, server
from tests.surfaces.commands import run_command

# Places of the server for requests (the default) and, to open fewer sockets here, for streams.
PLACES, STREAMS = 512, 60
# More than all places.
REQUESTS = 600
# Seconds for each answer to the other key: far more than it takes on a busy machine, and less than the 30 seconds after
# which slow bodies end by themselves.
PROMPTLY = 25.0

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "modest", "version": "1"}},
}


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def shared_url(shared_home: Path) -> Generator[str]:
    with server(shared_home, SCRUBJAY_LIMITS_STREAMS=str(STREAMS)) as url:
        yield url


@pytest.fixture(scope="module")
async def keys(shared_home: Path, anyio_backend: str) -> Mapping[str, str]:
    """The keys of both clients: both have the least rights."""
    made: dict[str, str] = {}
    for name in ("greedy", "modest"):
        words = ["keys", "create", "--name", name, "--scopes", "memory:read", "--json"]
        result = await run_command(words, b"", environment(shared_home), shared_home)
        made[name] = httpx2.Response(200, content=result.stdout).json()["key"]
    return made


@pytest.fixture
async def modest(shared_url: str, keys: Mapping[str, str]) -> AsyncGenerator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Bearer {keys['modest']}"}
    async with httpx2.AsyncClient(base_url=shared_url, headers=headers, timeout=PROMPTLY, trust_env=False) as client:
        yield client


@asynccontextmanager
async def _connections(url: str, request: bytes, count: int) -> AsyncGenerator[list[asyncio.StreamReader]]:
    """Send the request on each of many connections, whose answers are read only in small part."""
    port = int(url.rpartition(":")[2])
    opened = [await asyncio.open_connection("127.0.0.1", port, limit=1024) for _ in range(count)]
    try:
        for _, writer in opened:
            writer.write(request)
        yield [reader for reader, _ in opened]
    finally:
        for _, writer in opened:
            writer.transport.abort()


def _post(key: str, path: str, length: int) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()


async def _refused(readers: list[asyncio.StreamReader], most: int) -> int:
    """Wait until at least this many requests are refused with 429; return how many are."""
    statuses = [asyncio.create_task(reader.readline()) for reader in readers]
    refused = 0
    async with asyncio.timeout(60):
        for status in asyncio.as_completed(statuses):
            assert (await status).startswith(b"HTTP/1.1 429")
            refused += 1
            if refused == most:
                break
    for status in statuses:
        status.cancel()
    return refused


async def _assert_served(modest: httpx2.AsyncClient) -> None:
    """Check that recall, MCP, health and new connections work for the other key, each promptly."""
    for _ in range(20):
        answer = await modest.post("/v1/tools/recall", json={"query": "anything"})
        assert answer.status_code == 200
    parallel = await asyncio.gather(*(modest.post("/v1/tools/recall", json={"query": "x"}) for _ in range(50)))
    assert [answer.status_code for answer in parallel] == [200] * 50
    assert (await modest.get("/health")).status_code == 200
    answer = await modest.post("/mcp", json=INITIALIZE, headers={"Accept": "application/json, text/event-stream"})
    assert answer.status_code == 200


async def test_022_slow_bodies_of_one_key_do_not_stop_another(
    shared_url: str, keys: Mapping[str, str], modest: httpx2.AsyncClient
) -> None:
    async with _connections(shared_url, _post(keys["greedy"], "/v1/tools/recall", 100_000) + b"{", REQUESTS) as readers:
        await _refused(readers, REQUESTS - PLACES // 2)  # the key has half of the places
        await _assert_served(modest)


async def test_022_answers_that_one_key_does_not_read_do_not_stop_another(
    shared_url: str, keys: Mapping[str, str], modest: httpx2.AsyncClient
) -> None:
    large = f"GET /v1/tools?tools=all HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {keys['greedy']}\r\n\r\n"
    async with _connections(shared_url, large.encode(), PLACES // 2):
        await _assert_served(modest)


async def test_022_sockets_of_one_key_do_not_stop_another(shared_url: str, keys: Mapping[str, str]) -> None:
    address = f"ws{shared_url.removeprefix('http')}/ws"
    greedy, modest = ({"Authorization": f"Bearer {keys[name]}"} for name in ("greedy", "modest"))
    async with AsyncExitStack() as opened:
        for _ in range(STREAMS // 2):
            await opened.enter_async_context(connect(address, additional_headers=greedy, proxy=None, open_timeout=60))
        with pytest.raises(InvalidStatus) as refused:
            await opened.enter_async_context(connect(address, additional_headers=greedy, proxy=None, open_timeout=60))
        assert refused.value.response.status_code == 429
        began = time.monotonic()
        async with connect(address, additional_headers=modest, proxy=None, open_timeout=60) as socket:
            assert await socket.recv()
        assert time.monotonic() - began < PROMPTLY


async def test_022_an_agent_on_a_server_without_keys_may_call_many_tools_at_once(url: str) -> None:
    limits = httpx2.Limits(max_connections=400, max_keepalive_connections=400)
    async with httpx2.AsyncClient(base_url=url, timeout=60, limits=limits, trust_env=False) as client:
        calls = [client.post("/v1/tools/recall", json={"query": f"question {number}"}) for number in range(400)]
        assert {answer.status_code for answer in await asyncio.gather(*calls)} == {200}
