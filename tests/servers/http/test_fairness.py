"""One key cannot keep the others out: not by slow bodies, not by unread responses, not by streams and sockets."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Self

import anyio
import httpx2
import pytest
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from scrubjay.core.callers import ANONYMOUS, Caller
from scrubjay.servers.http import edge_response, request_body, transport
from scrubjay.servers.http.callers import caller_of, socket_guard_of
from scrubjay.servers.http.edge_middleware import EdgeGuards, EdgeMiddleware
from scrubjay.servers.http.load_limits import LoadShedder
from scrubjay.servers.http.places import Places
from tests.servers.authenticators import AcceptAnyKey
from tests.servers.rest.uvicorn_server import serving

PLACES = 8
BODY_BYTES = 1_000_000
# A large response fills the buffers of the sockets and that of the server's transport many times.
SEND_BUFFER_BYTES = 64 * 1024
RECEIVE_BUFFER_BYTES = 4096
LARGE = 4 * 1024 * 1024
LATE = "/late"


class KeyOfEachName(AcceptAnyKey):
    """Accepts every key, whose text is its id; a request without a key is anonymous."""

    async def authenticate(self, key: str | None) -> Caller:
        return ANONYMOUS if key is None else Caller(key, key_id=key)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        guard = socket_guard_of(scope, KeyOfEachName())
        while (message := await receive())["type"] == "websocket.receive":
            try:
                caller = await guard.authenticate(message["text"]) if scope["path"] == LATE else caller_of(scope)
                await send({"type": "websocket.send", "text": caller.name})
            except Exception as error:
                await send({"type": "websocket.send", "text": type(error).__name__})
        return
    await receive()
    if scope["path"] == "/large":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % LARGE)]})
        await send({"type": "http.response.body", "body": b"x" * LARGE})
        return
    kind = b"text/event-stream" if scope["path"] == "/stream" else b"text/plain"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
    if scope["path"] == "/stream":
        await send({"type": "http.response.body", "body": b"data: begin\n\n", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    await send({"type": "http.response.body", "body": b"done"})


@asynccontextmanager
async def serving_shares(ended: anyio.Event | None = None) -> AsyncGenerator[int]:
    """Serve the application; `ended` is set when the first request has ended and its response has been read."""

    guards = EdgeGuards(
        load=LoadShedder(max_concurrent=PLACES),
        streams=Places(PLACES, "open streams"),
        bodies=Places(BODY_BYTES, "bytes of request bodies"),
        late_key_paths=(LATE,),
    )
    guarded = EdgeMiddleware(
        application, authenticator=KeyOfEachName(), max_body_bytes=10**6, allowed_hosts=(), guards=guards
    )

    async def observed(scope: Scope, receive: Receive, send: Send) -> None:
        await guarded(scope, receive, send)
        if ended is not None:
            ended.set()

    async with serving(observed, send_buffer_bytes=SEND_BUFFER_BYTES) as port:
        with anyio.fail_after(20):
            yield port


@pytest.fixture
async def port() -> AsyncGenerator[int]:
    async with serving_shares() as port:
        yield port


async def get(port: int, key: str, path: str = "/x") -> int:
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {key}"})
    return answer.status_code


async def get_until(port: int, key: str, status: int) -> None:
    """Repeat a request until it has this status; the test's time limit ends it."""
    while await get(port, key) != status:
        pass  # each request waits for its answer


def head(path: str, key: str, length: int | None = None) -> bytes:
    body = "" if length is None else f"Content-Length: {length}\r\n"
    method = "GET" if length is None else "POST"
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n{body}\r\n".encode()


class Connection:
    """A client's connection that reads only in `receive`; an anyio stream made of a socket reads before that too."""

    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, port: int) -> Self:
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        raw.setblocking(False)
        await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", port))
        return cls(raw)

    async def send(self, data: bytes) -> None:
        await self._loop.sock_sendall(self._raw, data)

    async def receive(self) -> bytes:
        """Return the next bytes; none when the server has closed the connection."""
        return await self._loop.sock_recv(self._raw, 65536)

    def close(self) -> None:
        self._raw.close()


async def open_requests(port: int, request: bytes, count: int) -> Sequence[Connection]:
    """Send a request on each of many connections and read nothing; the receive buffers are small."""
    lines: list[Connection] = []
    for _ in range(count):
        lines.append(await Connection.open(port))
        await lines[-1].send(request)
    return lines


def close_all(lines: Sequence[Connection]) -> None:
    for line in lines:
        line.close()


async def test_022_slow_bodies_of_one_key_leave_places_to_others(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_response, "LINGER_SECONDS", 0.1)
    slow = await open_requests(port, head("/x", "greedy", 100) + b"x", PLACES * 3)
    await get_until(port, "greedy", 429)
    assert [await get(port, "modest") for _ in range(20)] == [200] * 20
    close_all(slow)
    await get_until(port, "greedy", 200)


async def test_022_bodies_of_one_key_leave_memory_to_others(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_response, "LINGER_SECONDS", 0.1)
    (first,) = await open_requests(port, head("/x", "greedy", BODY_BYTES) + b"x" * 400_000, 1)
    (second,) = await open_requests(port, head("/x", "greedy", BODY_BYTES) + b"x" * 400_000, 1)
    # One of them is refused: which one depends on the order in which their bytes arrive.
    answers = [asyncio.create_task(line.receive()) for line in (first, second)]
    done, waiting = await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
    assert [task.result()[:12] for task in done] == [b"HTTP/1.1 429"]
    assert len(waiting) == 1
    async with httpx2.AsyncClient(trust_env=False) as client:
        headers = {"Authorization": "Bearer modest"}
        answer = await client.post(f"http://127.0.0.1:{port}/x", content=b"x" * 250_000, headers=headers)
    assert answer.status_code == 200
    assert await get(port, "greedy") == 200
    for task in waiting:
        task.cancel()
    close_all([first, second])


async def test_022_slow_bodies_end_at_their_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "BODY_SECONDS", 0.3)
    monkeypatch.setattr(edge_response, "LINGER_SECONDS", 0.1)
    async with serving_shares() as port:
        slow = await open_requests(port, head("/x", "greedy", 100) + b"x", PLACES // 2)
        await get_until(port, "greedy", 429)
        await get_until(port, "greedy", 200)
        close_all(slow)


async def test_022_unread_responses_count_against_their_key(port: int) -> None:
    unread = await open_requests(port, head("/large", "greedy"), PLACES * 2)
    await get_until(port, "greedy", 429)
    assert [await get(port, "modest") for _ in range(20)] == [200] * 20
    close_all(unread)
    await get_until(port, "greedy", 200)


@pytest.mark.parametrize("pipelined", [b"", head("/x", "greedy") * 3], ids=["one", "pipelined"])
async def test_022_a_client_that_does_not_read_is_disconnected(
    pipelined: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "WRITE_SECONDS", 0.3)
    monkeypatch.setattr(transport, "WRITE_BYTES_PER_SECOND", 10**9)
    ended = anyio.Event()
    async with serving_shares(ended) as port:
        (line,) = await open_requests(port, head("/large", "greedy") + pipelined, 1)
        await ended.wait()
        assert await read_all(line) < LARGE
        line.close()


async def read_all(line: Connection) -> int:
    """Return the number of bytes that the server sends until it closes the connection."""
    received = 0
    with suppress(ConnectionError):
        while data := await line.receive():
            received += len(data)
    return received


async def test_022_a_client_that_reads_a_large_response_gets_it_all(port: int) -> None:
    async with httpx2.AsyncClient(trust_env=False) as client:
        headers = {"Authorization": "Bearer patient"}
        for _ in range(3):
            answer = await client.get(f"http://127.0.0.1:{port}/large", headers=headers)
            assert len(answer.content) == LARGE


async def test_022_streams_of_one_key_leave_places_to_others_and_to_its_own_requests(port: int) -> None:
    streams = await open_requests(port, head("/stream", "greedy"), PLACES // 2)
    for line in streams:
        assert (await line.receive()).startswith(b"HTTP/1.1 200")
    assert await get(port, "greedy", "/stream") == 429
    assert await get(port, "greedy") == 200
    (other,) = await open_requests(port, head("/stream", "modest"), 1)
    assert (await other.receive()).startswith(b"HTTP/1.1 200")
    close_all([*streams, other])
    while await _status_of_stream(port, "greedy") != 200:
        pass


async def _status_of_stream(port: int, key: str) -> int:
    (line,) = await open_requests(port, head("/stream", key), 1)
    status = int((await line.receive())[9:12])
    line.close()
    return status


def _connect(port: int, key: str | None, path: str = "/ws") -> connect:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return connect(f"ws://127.0.0.1:{port}{path}", additional_headers=headers, proxy=None)


async def test_022_sockets_of_one_key_leave_places_to_others(port: int) -> None:
    async with AsyncExitStack() as opened:
        for _ in range(PLACES // 2):
            await opened.enter_async_context(_connect(port, "greedy"))
        with pytest.raises(InvalidStatus) as refused:
            async with _connect(port, "greedy"):
                pass
        assert refused.value.response.status_code == 429
        async with _connect(port, "modest") as socket:
            await socket.send("?")
            assert await socket.recv() == "modest"
    async with _connect(port, "greedy") as socket:
        await socket.send("?")
        assert await socket.recv() == "greedy"


async def test_022_a_socket_is_counted_for_the_key_that_it_sends_later(port: int) -> None:
    async def join(socket: ClientConnection, key: str) -> str | bytes:
        await socket.send(key)
        return await socket.recv()

    async with AsyncExitStack() as opened:
        sockets = [await opened.enter_async_context(_connect(port, None, LATE)) for _ in range(PLACES * 2)]
        answers = [await join(socket, "greedy") for socket in sockets]
        assert answers == ["greedy"] * (PLACES // 2) + ["ShareExceeded"] * (PLACES * 2 - PLACES // 2)
        assert [await join(sockets[0], "greedy") for _ in range(3)] == ["greedy"] * 3  # it has its place already
        assert await join(sockets[-1], "modest") == "modest"


async def test_022_a_client_without_a_key_on_this_machine_may_use_all_places(port: int) -> None:
    slow = await open_requests(port, head("/x", "x", 100).replace(b"Authorization: Bearer x\r\n", b"") + b"x", PLACES)
    async with httpx2.AsyncClient(trust_env=False) as client:
        while (await client.get(f"http://127.0.0.1:{port}/x")).status_code != 503:
            pass
        assert (await client.get(f"http://127.0.0.1:{port}/health")).status_code == 200
    close_all(slow)


async def test_022_idle_connections_and_those_with_refused_requests_give_way_to_new_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "MAX_IDLE_CONNECTIONS", 10)
    async with serving_shares() as port:
        # One after the other: a connection with a request that is worked on is not idle yet.
        requests = [(head("/x", "greedy", 10**9), b"413")] * 20 + [(head("/x", "modest"), b"200")] * 20
        lines: list[Connection] = []
        for request, status in requests:
            lines += await open_requests(port, request, 1)
            assert (await lines[-1].receive()).startswith(b"HTTP/1.1 " + status)
        for line in lines[:30]:
            await read_all(line)  # returns, because the server closes the connection
        close_all(lines)
