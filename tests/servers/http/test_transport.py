"""What strange clients can do to the connections themselves: nothing that others would notice."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
import pytest
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect

from scrubjay.servers.http import edge, transport
from scrubjay.servers.http.edge import Edge, Guards
from scrubjay.servers.http.load_limits import Load
from tests.servers.doors import doorkeeper
from tests.servers.rest.serving import serving

ASKED = b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def port_of(guards: Guards | None = None) -> AsyncGenerator[int]:
    guarded = Edge(echo, doorkeeper=doorkeeper(None), max_body_bytes=10**6, allowed_hosts=(), guards=guards)
    async with serving(guarded) as port:
        with anyio.fail_after(30):
            yield port


async def said(line: anyio.abc.ByteStream) -> bytes:
    """All that the server says until it closes the connection."""
    answer = b""
    try:
        while True:
            answer += await line.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return answer


def parts(answer: bytes) -> tuple[str, dict[str, str], dict[str, object]]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    return status, dict(line.split(": ", 1) for line in lines), json.loads(body)


@pytest.mark.parametrize("sent", [b"", b"GET /x HTTP/1.1\r\nHost: loc"])
async def test_022_a_connection_over_which_no_request_comes_is_let_go(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "HEAD_SECONDS", 0.3)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        if sent:
            await line.send(sent)
        answer = await said(line)
    assert answer == b"" if not sent else parts(answer)[0] == "HTTP/1.1 408 Request Timeout"


async def test_022_a_second_request_is_waited_for_no_longer_than_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "HEAD_SECONDS", 0.3)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(ASKED)
        assert (await line.receive()).startswith(b"HTTP/1.1 200")
        await line.send(ASKED[:-2])
        assert parts(await said(line))[0] == "HTTP/1.1 408 Request Timeout"


async def test_022_a_socket_that_is_open_is_not_waited_for_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "HEAD_SECONDS", 0.3)
    let_go = anyio.Event()

    async def echoing(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (heard := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": heard["text"]})
        let_go.set()

    async with serving(echoing) as port, connect(f"ws://127.0.0.1:{port}/", proxy=None) as socket:
        with anyio.move_on_after(1.0):  # thrice as long as a request is waited for
            await let_go.wait()
        await socket.send("still there?")
        assert await socket.recv() == "still there?"


@pytest.mark.parametrize("head", [b"X: " + b"a" * 200_000, b"X: a\r\n" * 40_000, b""])
async def test_022_a_head_has_an_end(head: bytes) -> None:
    path = b"/x" if head else b"/" + b"x" * 200_000
    async with port_of() as port:
        async with await anyio.connect_tcp("127.0.0.1", port) as line:
            await line.send(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + head)
            status, headers, body = parts(await said(line))
        assert status == "HTTP/1.1 431 Request Header Fields Too Large"
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
        assert body["request_id"] == headers["x-request-id"]
        async with await anyio.connect_tcp("127.0.0.1", port) as line:
            await line.send(ASKED)
            assert (await line.receive()).startswith(b"HTTP/1.1 200")


async def test_022_a_head_in_pieces_and_a_long_body_behind_it_are_read() -> None:
    body = b"x" * 500_000
    head = b"POST /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(head[:30])
        await anyio.wait_all_tasks_blocked()
        await line.send(head[30:] + body)
        answer = await said(line)
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(body)


async def test_022_requests_that_follow_each_other_in_one_piece_are_all_answered() -> None:
    body = b"x" * 200_000
    first = b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(first + ASKED[:20])
        await line.send(ASKED[20:-2] + b"Connection: close\r\n\r\n")
        answer = await said(line)
    assert answer.count(b"HTTP/1.1 200") == 2


async def test_022_lines_that_are_no_request_keep_no_connection_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "HEAD_SECONDS", 0.3)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(ASKED)
        assert (await line.receive()).startswith(b"HTTP/1.1 200")
        await line.send(b"\r\n")
        assert await said(line) == b""


async def test_022_what_is_no_request_is_told_with_the_headers_of_every_answer() -> None:
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(b"NONSENSE\r\n\r\n")
        status, headers, body = parts(await said(line))
    assert (status, headers["referrer-policy"]) == ("HTTP/1.1 400 Bad Request", "no-referrer")
    assert body["error"] == {
        "code": "invalid_request",
        "message": "this is no request of HTTP",
        "hint": "look at what the client sends",
        "details": {},
    }


async def test_022_many_who_say_nothing_leave_room_for_one_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MOST_WAITED_FOR", 20)
    async with port_of() as port:
        silent = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(50)]
        async with await anyio.connect_tcp("127.0.0.1", port) as line:
            await line.send(ASKED)
            assert (await line.receive()).startswith(b"HTTP/1.1 200")
        for gone in silent[:30]:
            assert await said(gone) == b""
        for line in silent:
            await line.aclose()


async def test_022_a_body_that_comes_a_letter_at_a_time_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge, "_BODY_SECONDS", 0.3)
    monkeypatch.setattr(edge, "_LINGER_SECONDS", 0.1)
    async with port_of() as port, await anyio.connect_tcp("127.0.0.1", port) as line:
        await line.send(b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx")
        answer = await line.receive()
    assert answer.startswith(b"HTTP/1.1 408")


async def test_022_bodies_of_strangers_take_no_turn_away() -> None:
    async with port_of(Guards(load=Load(most_at_once=2))) as port:
        strangers = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(3)]
        for line in strangers:
            await line.send(b"POST /docs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx")
            assert (await line.receive()).startswith(b"HTTP/1.1 200")
        async with await anyio.connect_tcp("127.0.0.1", port) as line:
            await line.send(ASKED)
            assert (await line.receive()).startswith(b"HTTP/1.1 200")
        for line in strangers:
            await line.aclose()
