"""Slow, silent and malformed clients are limited at the connection, without effect on other clients."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
import pytest
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect

from scrubjay.servers.http import edge_response, request_body, transport
from scrubjay.servers.http.edge_middleware import EdgeGuards, EdgeMiddleware
from scrubjay.servers.http.load_limits import LoadShedder
from tests.servers.authenticators import authenticator
from tests.servers.rest.uvicorn_server import serving

REQUEST = b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def port_of(guards: EdgeGuards | None = None) -> AsyncGenerator[int]:
    guarded = EdgeMiddleware(
        echo, authenticator=authenticator(None), max_body_bytes=10**6, allowed_hosts=(), guards=guards
    )
    async with serving(guarded) as port:
        with anyio.fail_after(30):
            yield port


async def read_until_closed(line: anyio.abc.ByteStream) -> bytes:
    """Return everything that the server sends until it closes the connection."""
    answer = b""
    try:
        while True:
            answer += await line.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return answer


def parse_response(answer: bytes) -> tuple[str, dict[str, str], dict[str, object]]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    return status, dict(line.split(": ", 1) for line in lines), json.loads(body)


@pytest.mark.parametrize("sent", [b"", b"GET /x HTTP/1.1\r\nHost: loc"])
async def test_022_a_connection_without_a_request_is_closed(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "HEAD_SECONDS", 0.3)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        if sent:
            await line.send(sent)
        answer = await read_until_closed(line)
    assert answer == b"" if not sent else parse_response(answer)[0] == "HTTP/1.1 408 Request Timeout"


async def test_022_the_head_timeout_applies_to_every_request_of_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "HEAD_SECONDS", 0.3)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(REQUEST)
        assert (await line.receive()).startswith(b"HTTP/1.1 200")
        await line.send(REQUEST[:-2])
        assert parse_response(await read_until_closed(line))[0] == "HTTP/1.1 408 Request Timeout"


async def test_022_the_head_timeout_does_not_apply_to_an_open_websocket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "HEAD_SECONDS", 0.3)
    closed = anyio.Event()

    async def echoing(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})
        closed.set()

    async with serving(echoing) as port, connect(f"ws://127.0.0.1:{port}/", proxy=None) as socket:
        with anyio.move_on_after(1.0):  # more than three times the head timeout
            await closed.wait()
        await socket.send("still there?")
        assert await socket.recv() == "still there?"


@pytest.mark.parametrize("head", [b"X: " + b"a" * 200_000, b"X: a\r\n" * 40_000, b""])
async def test_022_the_size_of_a_request_head_is_limited(head: bytes) -> None:
    path = b"/x" if head else b"/" + b"x" * 200_000
    async with port_of() as port:
        async with await anyio.connect_tcp("127.0.0.1", port) as line:
            await line.send(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + head)
            status, headers, body = parse_response(await read_until_closed(line))
        assert status == "HTTP/1.1 431 Request Header Fields Too Large"
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
        assert body["request_id"] == headers["x-request-id"]
        async with await anyio.connect_tcp("127.0.0.1", port) as line:
            await line.send(REQUEST)
            assert (await line.receive()).startswith(b"HTTP/1.1 200")


async def test_022_a_split_head_followed_by_a_long_body_is_read() -> None:
    body = b"x" * 500_000
    head = b"POST /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(head[:30])
        await anyio.wait_all_tasks_blocked()
        await line.send(head[30:] + body)
        answer = await read_until_closed(line)
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(body)


async def test_022_pipelined_requests_are_all_answered() -> None:
    body = b"x" * 200_000
    first = b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(first + REQUEST[:20])
        await line.send(REQUEST[20:-2] + b"Connection: close\r\n\r\n")
        answer = await read_until_closed(line)
    assert answer.count(b"HTTP/1.1 200") == 2


async def test_022_empty_lines_do_not_keep_a_connection_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "HEAD_SECONDS", 0.3)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(REQUEST)
        assert (await line.receive()).startswith(b"HTTP/1.1 200")
        await line.send(b"\r\n")
        assert await read_until_closed(line) == b""


async def test_022_an_invalid_request_gets_400_with_the_common_headers() -> None:
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(b"NONSENSE\r\n\r\n")
        status, headers, body = parse_response(await read_until_closed(line))
    assert (status, headers["referrer-policy"]) == ("HTTP/1.1 400 Bad Request", "no-referrer")
    assert body["error"] == {
        "code": "invalid_request",
        "message": "this is not a valid HTTP request",
        "hint": "check what the client sends",
        "details": {},
    }


async def test_022_many_idle_connections_leave_room_for_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_IDLE_CONNECTIONS", 20)
    async with port_of() as port:
        silent = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(50)]
        async with await anyio.connect_tcp("127.0.0.1", port) as line:
            await line.send(REQUEST)
            assert (await line.receive()).startswith(b"HTTP/1.1 200")
        for connection in silent[:30]:
            assert await read_until_closed(connection) == b""
        for line in silent:
            await line.aclose()


async def test_022_a_body_that_arrives_too_slowly_gets_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "BODY_SECONDS", 0.3)
    monkeypatch.setattr(edge_response, "LINGER_SECONDS", 0.1)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx")
        answer = await line.receive()
    assert answer.startswith(b"HTTP/1.1 408")


async def test_022_unread_bodies_on_open_paths_do_not_count_as_running_requests() -> None:
    async with port_of(EdgeGuards(load=LoadShedder(max_concurrent=2))) as port:
        slow_clients = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(3)]
        for line in slow_clients:
            await line.send(b"POST /docs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx")
            assert (await line.receive()).startswith(b"HTTP/1.1 200")
        async with await anyio.connect_tcp("127.0.0.1", port) as line:
            await line.send(REQUEST)
            assert (await line.receive()).startswith(b"HTTP/1.1 200")
        for line in slow_clients:
            await line.aclose()
