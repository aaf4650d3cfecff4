"""What stands in front of all HTTP gateways: ids, guards, limits and headers."""

import json
import logging
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import httpx2
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from scrubjay.compat.mimo.refusals import REFUSAL_FORMATS
from scrubjay.core.callers import Caller
from scrubjay.servers.http import edge
from scrubjay.servers.http.edge import Edge, Guards, request_id_of
from scrubjay.servers.http.load_limits import Load
from scrubjay.servers.http.refusals import RefusalFormats
from tests.servers.doors import OpenDoor, doorkeeper
from tests.servers.rest.serving import serving

KEY = "a-long-and-secret-key"
LIMIT = 1000


async def inner(scope: Scope, receive: Receive, send: Send) -> None:
    """Tells what reached it."""
    message = await receive()
    told = {"path": scope["path"], "request_id": request_id_of(scope), "bytes": len(message["body"])}
    headers = [(b"content-type", b"application/json")]
    if scope["path"] == "/own":
        headers += [(b"cache-control", b"max-age=60"), (b"content-security-policy", b"default-src 'self'")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(told).encode()})


@asynccontextmanager
async def client_of(
    app: ASGIApp = inner, *, api_key: str | None = None, allowed_hosts: tuple[str, ...] = ()
) -> AsyncGenerator[httpx2.AsyncClient]:
    guarded = Edge(app, doorkeeper=doorkeeper(api_key), max_body_bytes=LIMIT, allowed_hosts=allowed_hosts)
    transport = httpx2.ASGITransport(guarded)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:4000") as client:
        yield client


@pytest.mark.parametrize("mark", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
async def test_013_through_a_proxy_that_nobody_named_nobody_is_the_owner(mark: str):
    async with client_of() as client:
        assert (await client.get("/x")).status_code == 200
        assert (await client.get("/x", headers={mark: "203.0.113.7"})).status_code == 401
        assert (await client.get("/health", headers={mark: "203.0.113.7"})).status_code == 200


# -- request ids ---------------------------------------------------------------------------------------


async def test_a_request_without_an_id_gets_one_that_the_gateway_sees():
    async with client_of() as client:
        response = await client.get("/x")
    assert re.fullmatch(r"req_[0-9a-z]{26}", response.headers["x-request-id"])
    assert response.json()["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("trace-1.a:b_C", True),
        ("x" * 100, True),
        ("x" * 101, False),
        ("two words", False),
        ("", False),
        ("<script>", False),
        ("é", False),
    ],
)
async def test_only_a_sane_request_id_is_taken_over(given: str, kept: bool):
    async with client_of() as client:
        response = await client.get("/x", headers=[(b"x-request-id", given.encode("latin-1"))])
    assert (response.headers["x-request-id"] == given) is kept


async def test_a_refusal_carries_the_request_id_too():
    async with client_of(api_key=KEY) as client:
        response = await client.get("/x", headers={"X-Request-Id": "mine"})
    assert (response.headers["x-request-id"], response.json()["request_id"]) == ("mine", "mine")


# -- hosts and origins ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:4000", "127.0.0.1", "127.0.0.1:9", "[::1]", "[::1]:4000", "box.example:4000"]
)
async def test_loopback_and_allowed_hosts_are_served(host: str):
    async with client_of(allowed_hosts=("Box.example",)) as client:
        response = await client.get("/x", headers={"Host": host, "Origin": f"http://{host}"})
    assert response.status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "evil.example:4000",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "evil.example/localhost",
        "localhost:4000:1",
        "localhost:port",
        "::1",
        "0.0.0.0",
        "",
    ],
)
async def test_a_rebound_host_is_refused_on_every_path(host: str):
    async with client_of(api_key=KEY) as client:
        for path in ("/x", "/health", "/docs"):
            response = await client.get(path, headers={"Host": host, "Authorization": f"Bearer {KEY}"})
            assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://localhost.evil.example", "null", "localhost", "", "http://", "file://"]
)
async def test_a_page_from_elsewhere_is_refused(origin: str):
    async with client_of() as client:
        response = await client.post("/x", headers={"Origin": origin})
    assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")


@pytest.mark.parametrize("hosts", [[], [b"localhost", b"evil.example"]])
async def test_a_request_names_exactly_one_host(hosts: list[bytes]):
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", host) for host in hosts]
    scope: Scope = {"type": "http", "method": "GET", "path": "/x", "headers": headers}
    await Edge(inner, doorkeeper=doorkeeper(None), max_body_bytes=LIMIT, allowed_hosts=())(scope, receive, send)
    assert sent[0]["status"] == 403


# -- the key -------------------------------------------------------------------------------------------


async def test_with_a_key_set_everything_but_the_open_paths_needs_it():
    async with client_of(api_key=KEY) as client:
        for path in ("/x", "/openapi.json", "/mcp", "/v1/tools", "/health/", "/docs/x", "//health"):
            response = await client.get(path)
            assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer"), path
            error = response.json()["error"]
            assert error == {
                "code": "unauthenticated",
                "message": "this server needs a key",
                "hint": "send the header Authorization: Bearer KEY",
                "details": {
                    "reason": "Missing Authorization header",
                    "security_event_id": error["details"]["security_event_id"],
                },
            }
        for path in ("/health", "/docs"):
            assert (await client.get(path)).status_code == 200


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_right_key_opens(scheme: str):
    async with client_of(api_key=KEY) as client:
        assert (await client.get("/x", headers={"Authorization": f"{scheme} {KEY}"})).status_code == 200


@pytest.mark.parametrize(
    "authorization",
    [
        f"Bearer {KEY}x",
        f"Bearer {KEY[:-1]}",
        f"Basic {KEY}",
        KEY,
        "Bearer",
        "Bearer ",
        "",
        f"Bearer Bearer {KEY}",
        "Bearer ß",
    ],
)
async def test_a_wrong_key_opens_nothing_and_is_told_nowhere(authorization: str, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    async with client_of(api_key=KEY) as client:
        response = await client.get("/x", headers=[(b"authorization", authorization.encode("latin-1"))])
    assert response.status_code == 401
    logged = str([vars(record) for record in caplog.records if record.name.startswith("scrubjay")])
    assert "'outcome': 'unauthenticated'" in logged
    for secret in (KEY, KEY[:-1]):
        assert secret not in response.text
        assert secret not in logged


async def test_a_key_beyond_ascii_is_compared_as_utf_8():
    async with client_of(api_key="schlüssel-für-alle") as client:
        response = await client.get("/x", headers=[(b"authorization", "Bearer schlüssel-für-alle".encode())])
    assert response.status_code == 200


async def test_a_websocket_passes_the_same_guard():
    sent: list[Any] = []
    reached: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    guarded = Edge(app, doorkeeper=doorkeeper(KEY), max_body_bytes=LIMIT, allowed_hosts=())
    host = (b"host", b"localhost")
    for headers in (
        [host],
        [(b"host", b"evil.example"), (b"authorization", f"Bearer {KEY}".encode())],
        [host, (b"authorization", f"Bearer {KEY}".encode())],
    ):
        await guarded({"type": "websocket", "path": "/ws", "headers": headers}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}] * 2
    assert len(reached) == 1


# -- headers -------------------------------------------------------------------------------------------


async def test_every_answer_carries_the_security_headers():
    expected = {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    }
    async with client_of(api_key=KEY) as client:
        for response in (await client.get("/health"), await client.get("/x")):
            assert {name: response.headers[name] for name in expected} == expected
            assert re.fullmatch(r"\d+\.\d\d", response.headers["x-mimo-latency-ms"])


async def test_004_every_answer_tells_how_long_it_took():
    async with client_of(api_key=KEY) as client:
        for path in ("/health", "/x"):
            assert re.fullmatch(r"\d+\.\d\d", (await client.get(path)).headers["x-mimo-latency-ms"])


async def test_what_a_gateway_says_of_itself_is_kept():
    async with client_of() as client:
        response = await client.get("/own")
    assert response.headers["cache-control"] == "max-age=60"
    assert response.headers.get_list("content-security-policy") == ["default-src 'self'"]


# -- bugs ----------------------------------------------------------------------------------------------


async def test_a_bug_in_a_gateway_is_a_typed_answer_and_its_message_is_not_logged(caplog: pytest.LogCaptureFixture):
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive())["body"]
        raise ValueError(f"cannot take {body!r}")

    async with client_of(broken) as client:
        response = await client.post("/x", content=b"very-private")
    body = response.json()
    assert response.status_code == 500
    assert body == {
        "error": {
            "code": "internal",
            "message": "the request failed unexpectedly (ValueError)",
            "hint": f"this is a bug; the log has the details under request {body['request_id']}",
            "details": {},
        },
        "request_id": body["request_id"],
    }
    (record,) = [record for record in caplog.records if record.message == "a request broke"]
    told = vars(record)
    assert (told["error"], told["request_id"]) == ("ValueError", body["request_id"])
    assert "in broken" in told["stack"]
    assert "very-private" not in str(told)


async def test_a_bug_after_the_answer_began_cuts_the_answer_off():
    started: list[int] = []

    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"100")]})
        raise ValueError

    async def outside(scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Any) -> None:
            started.extend([message["status"]] if "status" in message else [])
            await send(message)

        await Edge(broken, doorkeeper=doorkeeper(None), max_body_bytes=LIMIT, allowed_hosts=())(scope, receive, watched)

    async with serving(outside) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.get("/x")
    assert started == [200]


# -- the body limit ------------------------------------------------------------------------------------


@asynccontextmanager
async def _served(app: ASGIApp = inner, *, api_key: str | None = None) -> AsyncGenerator[httpx2.AsyncClient]:
    guarded = Edge(app, doorkeeper=doorkeeper(api_key), max_body_bytes=LIMIT, allowed_hosts=())
    async with serving(guarded) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        with anyio.fail_after(8):  # less than the edge lingers, so that a needless wait is noticed
            yield client


async def _in_parts(size: int, part: int) -> AsyncIterator[bytes]:
    for start in range(0, size, part):
        yield b"x" * min(part, size - start)


@pytest.mark.parametrize("part", [LIMIT, 100, 7])
async def test_a_body_up_to_the_limit_arrives_whole(part: int):
    async with _served() as client:
        assert (await client.post("/x", content=b"x" * LIMIT)).json()["bytes"] == LIMIT
        assert (await client.post("/x", content=_in_parts(LIMIT, part))).json()["bytes"] == LIMIT


def _assert_too_large(response: httpx2.Response) -> None:
    assert response.status_code == 413
    assert response.json()["error"] == {
        "code": "too_large",
        "message": f"the body is larger than {LIMIT} bytes",
        "hint": "send it in smaller parts",
        "details": {"limit_bytes": LIMIT},
    }


@pytest.mark.parametrize("size", [LIMIT + 1, 5_000_000])
async def test_a_larger_body_is_refused_and_the_connection_goes_on(size: int):
    async with _served() as client:
        _assert_too_large(await client.post("/x", content=b"x" * size))
        _assert_too_large(await client.post("/x", content=_in_parts(size, 50_000)))
        after = await client.post("/x", content=b"small")
    assert after.json()["bytes"] == 5


async def test_a_body_announced_too_large_is_refused_before_it_is_sent():
    async with _served() as client, await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0) as stream:
        await stream.send(b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n")
        answer = await _receive_answer(stream)
        assert answer.startswith(b"HTTP/1.1 413 ")
        await stream.send(b"x" * 5000 + b"GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b'"path": "/next"' in await _receive_answer(stream)


async def test_a_client_that_waits_for_leave_to_send_gets_the_refusal_instead():
    async with _served() as client, await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0) as stream:
        head = b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n"
        await stream.send(head)
        assert (await _receive_answer(stream)).startswith(b"HTTP/1.1 413 ")


async def _receive_answer(stream: anyio.abc.ByteStream) -> bytes:
    answer = b""
    while b"\r\n\r\n" not in answer or not answer.endswith((b"}", b"0\r\n\r\n")):
        answer += await stream.receive()
    return answer


async def test_a_body_without_a_key_is_refused_the_same_way():
    async with _served(api_key=KEY) as client:
        assert (await client.post("/x", content=b"x" * 500_000)).status_code == 401
        assert (await client.get("/health")).status_code == 200


async def test_a_length_that_no_number_holds_is_too_large():
    async with client_of() as client:
        _assert_too_large(await client.post("/x", content=b"", headers={"Content-Length": "9" * 5000}))


async def test_a_client_that_leaves_before_its_body_is_whole_reaches_no_gateway():
    reached = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/half":
            reached.set()
        await inner(scope, receive, send)

    async with _served(app) as client:
        async with await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0) as stream:
            await stream.send(b"POST /half HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\nhalf")
        assert (await client.get("/x")).status_code == 200
    assert not reached.is_set()


async def test_a_gateway_notices_a_client_that_leaves():
    began, left = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "http.request"
        began.set()
        assert (await receive())["type"] == "http.disconnect"
        left.set()

    async with _served(app) as client:
        async with await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0) as stream:
            await stream.send(b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
            await began.wait()
        await left.wait()


_CHILD = f"""
import json, socket, sys, uvicorn
from scrubjay.servers.http.edge import Edge
from tests.servers.doors import OpenDoor, doorkeeper
async def inner(scope, receive, send):
    await send({{"type": "http.response.start", "status": 200, "headers": []}})
    with open("/proc/self/status") as status:
        peak = next(line for line in status if line.startswith("VmHWM")).split()[1]
    await send({{"type": "http.response.body", "body": peak.encode()}})
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
guarded = Edge(inner, doorkeeper=doorkeeper(None), max_body_bytes={LIMIT}, allowed_hosts=())
uvicorn.Server(uvicorn.Config(guarded, log_config=None, lifespan="off", ws="none")).run([listener])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
def test_fifty_megabytes_leave_no_trace_in_memory_and_the_client_reads_the_refusal():
    with subprocess.Popen([sys.executable, "-c", _CHILD], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout
            url = f"http://127.0.0.1:{int(child.stdout.readline())}/x"

            def peak_kilobytes() -> int:
                with urllib.request.urlopen(url, timeout=5) as response:
                    return int(response.read())

            before = peak_kilobytes()
            # This client closes its connection after each request and sends everything before it reads anything:
            # a server that closed at once would reset it.
            for body in (b"x" * 50_000_000, (b"x" * 100_000 for _ in range(500))):
                with pytest.raises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(urllib.request.Request(url, data=body, method="POST"), timeout=20)
                with refused.value as answer:
                    assert (answer.code, json.load(answer)["error"]["code"]) == (413, "too_large")
            assert peak_kilobytes() - before < 5_000
        finally:
            child.terminate()


async def test_a_refused_client_that_never_stops_sending_is_left_at_last(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(edge, "_LINGER_SECONDS", 0.05)
    async with _served() as client, await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0) as stream:
        await stream.send(b"POST /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 99999\r\n\r\n")
        answer = b"".join([part async for part in stream])
    assert answer.startswith(b"HTTP/1.1 413 ")


# -- time and load -------------------------------------------------------------------------------------


async def test_022_what_takes_too_long_is_stopped_and_what_streams_is_not():
    stopped = anyio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/stream":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await anyio.sleep(0.3)
            await send({"type": "http.response.body", "body": b"late"})
            return
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    guarded = Edge(
        slow,
        doorkeeper=doorkeeper(None),
        max_body_bytes=LIMIT,
        allowed_hosts=(),
        guards=Guards(request_seconds=0.1),
    )
    async with serving(guarded) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        assert (await client.get("/stream")).text == "late"
        refused = await client.get("/x")
    assert (refused.status_code, refused.json()["error"]["code"], stopped.is_set()) == (504, "busy", True)


async def test_022_too_many_at_once_are_told_to_come_again_but_health_is_answered():
    begun, gate = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/slow":
            begun.set()
            await gate.wait()
        await inner(scope, receive, send)

    guarded = Edge(
        app,
        doorkeeper=doorkeeper(None),
        max_body_bytes=LIMIT,
        allowed_hosts=(),
        guards=Guards(load=Load(most_at_once=1), refusal_formats=RefusalFormats(REFUSAL_FORMATS)),
    )
    async with (
        serving(guarded) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(client.get, "/slow")
        await begun.wait()
        refused = await client.get("/x")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        mimo = await client.get("/v1/mimo/tools")
        assert mimo.json()["reason"] == "System overloaded"
        assert (await client.get("/health")).status_code == 200
        gate.set()


async def test_013_production_without_a_key_answers_as_mimo_does():
    keyless = doorkeeper(None, in_production=True)
    guards = Guards(refusal_formats=RefusalFormats(REFUSAL_FORMATS))
    guarded = Edge(inner, doorkeeper=keyless, max_body_bytes=LIMIT, allowed_hosts=(), guards=guards)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(guarded), base_url="http://localhost") as client:
        refused = await client.post("/v1/mimo/ask", json={})
        own = await client.get("/x")
    expected = {"error": "Service misconfigured", "security": "API key required in production"}
    assert (refused.status_code, refused.json()) == (503, expected)
    assert (own.status_code, own.json()["error"]["code"]) == (503, "unavailable")


class Fickle(OpenDoor):
    """Lets everybody in, and sends them away again when told."""

    def __init__(self) -> None:
        self.welcome = True

    def is_welcome(self, caller: Caller) -> bool:
        return self.welcome


@pytest.mark.parametrize("speaks", [True, False])
async def test_013_a_stream_ends_with_its_key_before_its_first_part_and_while_it_is_silent(
    speaks: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(edge, "TEND_SECONDS", 0.05 if not speaks else 60)
    door, began, revoked = Fickle(), anyio.Event(), anyio.Event()

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        began.set()
        await revoked.wait()
        if not speaks:
            await anyio.sleep_forever()
        await send({"type": "http.response.body", "body": b"data: a secret", "more_body": True})
        await anyio.sleep_forever()

    guarded = Edge(stream, doorkeeper=door, max_body_bytes=LIMIT, allowed_hosts=())
    transport = httpx2.ASGITransport(guarded)
    async with (
        httpx2.AsyncClient(transport=transport, base_url="http://localhost:4000") as client,
        anyio.create_task_group() as tasks,
    ):

        async def revoke() -> None:
            await began.wait()
            door.welcome = False
            revoked.set()

        with anyio.fail_after(5):
            tasks.start_soon(revoke)
            assert (await client.get("/v1/jobs/x/events")).content == b""
