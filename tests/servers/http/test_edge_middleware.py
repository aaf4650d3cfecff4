"""`EdgeMiddleware`: request ids, host and origin checks, keys, limits and headers."""

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
from scrubjay.servers.http import application_run, edge_response
from scrubjay.servers.http.cors import AllowedOrigins
from scrubjay.servers.http.edge_middleware import EdgeGuards, EdgeMiddleware
from scrubjay.servers.http.load_limits import LoadShedder
from scrubjay.servers.http.refusals import RefusalFormats
from scrubjay.servers.http.request_metadata import request_id_of
from tests.servers.authenticators import AcceptAnyKey, authenticator
from tests.servers.rest.uvicorn_server import serving

KEY = "a-long-and-secret-key"
LIMIT = 1000


async def inner(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond with the parts of the request that reached it."""
    message = await receive()
    received = {"path": scope["path"], "request_id": request_id_of(scope), "bytes": len(message["body"])}
    headers = [(b"content-type", b"application/json")]
    if scope["path"] == "/own":
        headers += [(b"cache-control", b"max-age=60"), (b"content-security-policy", b"default-src 'self'")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(received).encode()})


@asynccontextmanager
async def client_of(
    app: ASGIApp = inner,
    *,
    api_key: str | None = None,
    allowed_hosts: tuple[str, ...] = (),
    allowed_origins: tuple[str, ...] = (),
    base_url: str = "http://localhost:4000",
) -> AsyncGenerator[httpx2.AsyncClient]:
    guarded = EdgeMiddleware(
        app,
        authenticator=authenticator(api_key),
        max_body_bytes=LIMIT,
        allowed_hosts=allowed_hosts,
        guards=EdgeGuards(origins=AllowedOrigins(allowed_origins)),
    )
    transport = httpx2.ASGITransport(guarded)
    async with httpx2.AsyncClient(transport=transport, base_url=base_url) as client:
        yield client


@pytest.mark.parametrize("mark", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
async def test_013_a_request_through_an_unlisted_proxy_needs_a_key(mark: str):
    async with client_of() as client:
        assert (await client.get("/x")).status_code == 200
        assert (await client.get("/x", headers={mark: "203.0.113.7"})).status_code == 401
        assert (await client.get("/health", headers={mark: "203.0.113.7"})).status_code == 200


# -- request ids ---------------------------------------------------------------------------------------


async def test_a_request_without_an_id_gets_one_that_the_application_sees():
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
async def test_only_a_well_formed_request_id_is_adopted(given: str, kept: bool):
    async with client_of() as client:
        response = await client.get("/x", headers=[(b"x-request-id", given.encode("latin-1"))])
    assert (response.headers["x-request-id"] == given) is kept


async def test_a_refusal_has_the_request_id():
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
async def test_an_unknown_host_is_refused_on_every_path(host: str):
    async with client_of(api_key=KEY) as client:
        for path in ("/x", "/health", "/docs"):
            response = await client.get(path, headers={"Host": host, "Authorization": f"Bearer {KEY}"})
            assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://localhost.evil.example",
        "null",
        "localhost",
        "localhost:4000",
        "",
        "http://",
        "file://",
        "http://localhost:3000",
        "http://localhost",
        "https://localhost",
        "http://127.0.0.1:4000",
        "http://[::1]:4000",
        "javascript://localhost",
        "javascript://localhost:4000",
        "chrome-extension://localhost:4000",
        "http://localhost:4000.evil.example",
        "http://localhost:4000@evil.example",
        "http://evil.example@localhost:4000",
        "http://localhost:4000/",
        "http://localhost:04000",
        "http://localhost:4000 http://localhost:4000",
        "http://box.example:4000",
        "https://app.example:8443",
        "http://app.example",
    ],
)
async def test_an_origin_other_than_the_servers_own_is_refused(origin: str):
    async with client_of(allowed_hosts=("box.example",), allowed_origins=("https://app.example",)) as client:
        for path in ("/x", "/health", "/docs", "/mcp"):
            response = await client.post(path, headers={"Origin": origin})
            assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden"), path


@pytest.mark.parametrize(
    ("host", "origin", "scheme"),
    [
        ("localhost:4000", "http://localhost:4000", "http"),
        ("LOCALHOST:4000", "http://localhost:4000", "http"),
        ("127.0.0.1:4000", "http://127.0.0.1:4000", "http"),
        ("[::1]:4000", "http://[::1]:4000", "http"),
        ("localhost", "http://localhost", "http"),
        ("localhost:80", "http://localhost", "http"),
        ("box.example", "https://box.example", "https"),
        ("box.example:443", "https://box.example", "https"),
        ("localhost:4000", "https://localhost:4000", "http"),
        ("localhost:4000", "https://app.example", "http"),
        ("localhost:4000", "https://APP.example:443", "http"),
        ("localhost:4000", "http://localhost:5173", "http"),
    ],
)
async def test_the_servers_own_origin_and_allowed_origins_are_accepted(host: str, origin: str, scheme: str):
    allowed = ("https://app.example/", "http://localhost:5173")
    async with client_of(
        allowed_hosts=("box.example",), allowed_origins=allowed, base_url=f"{scheme}://localhost:4000"
    ) as client:
        response = await client.post("/x", headers={"Host": host, "Origin": origin})
    assert (response.status_code, response.headers["access-control-allow-origin"]) == (200, origin)


@pytest.mark.parametrize(
    ("host", "origin"), [("localhost", "https://localhost"), ("box.example", "https://box.example")]
)
async def test_the_default_port_of_another_scheme_is_another_server(host: str, origin: str):
    async with client_of(allowed_hosts=("box.example",)) as client:
        assert (await client.post("/x", headers={"Host": host, "Origin": origin})).status_code == 403


async def test_one_foreign_origin_among_several_is_refused():
    async with client_of() as client:
        headers = [("Origin", "http://localhost:4000"), ("Origin", "http://localhost:3000")]
        assert (await client.post("/x", headers=headers)).status_code == 403


@pytest.mark.parametrize("hosts", [[], [b"localhost", b"evil.example"]])
async def test_a_request_must_have_exactly_one_host_header(hosts: list[bytes]):
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", host) for host in hosts]
    scope: Scope = {"type": "http", "method": "GET", "path": "/x", "headers": headers}
    await EdgeMiddleware(inner, authenticator=authenticator(None), max_body_bytes=LIMIT, allowed_hosts=())(
        scope, receive, send
    )
    assert sent[0]["status"] == 403


# -- the key -------------------------------------------------------------------------------------------


async def test_with_a_key_configured_only_the_open_paths_need_none():
    async with client_of(api_key=KEY) as client:
        for path in ("/x", "/openapi.json", "/mcp", "/v1/tools", "/health/", "/docs/x", "//health"):
            response = await client.get(path)
            assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer"), path
            error = response.json()["error"]
            assert error == {
                "code": "unauthenticated",
                "message": "this server requires a key",
                "hint": "send the header Authorization: Bearer KEY",
                "details": {
                    "reason": "Missing Authorization header",
                    "security_event_id": error["details"]["security_event_id"],
                },
            }
        for path in ("/health", "/docs"):
            assert (await client.get(path)).status_code == 200


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_configured_key_is_accepted(scheme: str):
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
async def test_a_wrong_key_is_refused_and_appears_neither_in_the_response_nor_in_the_log(
    authorization: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    async with client_of(api_key=KEY) as client:
        response = await client.get("/x", headers=[(b"authorization", authorization.encode("latin-1"))])
    assert response.status_code == 401
    logged = str([vars(record) for record in caplog.records if record.name.startswith("scrubjay")])
    assert "'outcome': 'unauthenticated'" in logged
    for secret in (KEY, KEY[:-1]):
        assert secret not in response.text
        assert secret not in logged


async def test_a_non_ascii_key_is_compared_as_utf_8():
    async with client_of(api_key="schlüssel-für-alle") as client:
        response = await client.get("/x", headers=[(b"authorization", "Bearer schlüssel-für-alle".encode())])
    assert response.status_code == 200


async def test_a_websocket_passes_the_same_checks():
    sent: list[Any] = []
    reached: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    guarded = EdgeMiddleware(app, authenticator=authenticator(KEY), max_body_bytes=LIMIT, allowed_hosts=())
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


async def test_every_response_has_the_security_headers():
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


async def test_004_every_response_has_its_latency():
    async with client_of(api_key=KEY) as client:
        for path in ("/health", "/x"):
            assert re.fullmatch(r"\d+\.\d\d", (await client.get(path)).headers["x-mimo-latency-ms"])


async def test_headers_set_by_the_application_are_not_overwritten():
    async with client_of() as client:
        response = await client.get("/own")
    assert response.headers["cache-control"] == "max-age=60"
    assert response.headers.get_list("content-security-policy") == ["default-src 'self'"]


# -- bugs ----------------------------------------------------------------------------------------------


async def test_an_unexpected_exception_is_an_internal_error_and_its_message_is_not_logged(
    caplog: pytest.LogCaptureFixture,
):
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
    (record,) = [record for record in caplog.records if record.message == "a request failed unexpectedly"]
    fields = vars(record)
    assert (fields["error"], fields["request_id"]) == ("ValueError", body["request_id"])
    assert "in broken" in fields["stack"]
    assert "very-private" not in str(fields)


async def test_an_exception_after_the_response_started_truncates_the_response():
    started: list[int] = []

    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"100")]})
        raise ValueError

    async def outside(scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Any) -> None:
            started.extend([message["status"]] if "status" in message else [])
            await send(message)

        await EdgeMiddleware(broken, authenticator=authenticator(None), max_body_bytes=LIMIT, allowed_hosts=())(
            scope, receive, watched
        )

    async with serving(outside) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.get("/x")
    assert started == [200]


# -- the body limit ------------------------------------------------------------------------------------


@asynccontextmanager
async def _served(app: ASGIApp = inner, *, api_key: str | None = None) -> AsyncGenerator[httpx2.AsyncClient]:
    guarded = EdgeMiddleware(app, authenticator=authenticator(api_key), max_body_bytes=LIMIT, allowed_hosts=())
    async with serving(guarded) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        with anyio.fail_after(8):  # less than LINGER_SECONDS, so that a needless wait fails the test
            yield client


async def _in_parts(size: int, part: int) -> AsyncIterator[bytes]:
    for start in range(0, size, part):
        yield b"x" * min(part, size - start)


@pytest.mark.parametrize("part", [LIMIT, 100, 7])
async def test_a_body_up_to_the_limit_is_accepted(part: int):
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
async def test_a_larger_body_is_refused_and_the_connection_stays_usable(size: int):
    async with _served() as client:
        _assert_too_large(await client.post("/x", content=b"x" * size))
        _assert_too_large(await client.post("/x", content=_in_parts(size, 50_000)))
        after = await client.post("/x", content=b"small")
    assert after.json()["bytes"] == 5


async def test_a_body_announced_as_too_large_is_refused_before_it_is_sent():
    async with _served() as client, await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0) as stream:
        await stream.send(b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n")
        answer = await _receive_response(stream)
        assert answer.startswith(b"HTTP/1.1 413 ")
        await stream.send(b"x" * 5000 + b"GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b'"path": "/next"' in await _receive_response(stream)


async def test_a_client_that_expects_100_continue_gets_the_refusal_instead():
    async with _served() as client, await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0) as stream:
        head = b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n"
        await stream.send(head)
        assert (await _receive_response(stream)).startswith(b"HTTP/1.1 413 ")


async def _receive_response(stream: anyio.abc.ByteStream) -> bytes:
    answer = b""
    while b"\r\n\r\n" not in answer or not answer.endswith((b"}", b"0\r\n\r\n")):
        answer += await stream.receive()
    return answer


async def test_a_body_without_a_key_is_refused():
    async with _served(api_key=KEY) as client:
        assert (await client.post("/x", content=b"x" * 500_000)).status_code == 401
        assert (await client.get("/health")).status_code == 200


async def test_a_huge_content_length_is_too_large():
    async with client_of() as client:
        _assert_too_large(await client.post("/x", content=b"", headers={"Content-Length": "9" * 5000}))


async def test_a_client_that_disconnects_while_sending_its_body_does_not_reach_the_application():
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


async def test_the_application_notices_a_disconnect():
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
from scrubjay.servers.http.edge_middleware import EdgeMiddleware
from tests.servers.authenticators import AcceptAnyKey, authenticator
async def inner(scope, receive, send):
    await send({{"type": "http.response.start", "status": 200, "headers": []}})
    with open("/proc/self/status") as status:
        peak = next(line for line in status if line.startswith("VmHWM")).split()[1]
    await send({{"type": "http.response.body", "body": peak.encode()}})
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
guarded = EdgeMiddleware(inner, authenticator=authenticator(None), max_body_bytes={LIMIT}, allowed_hosts=())
uvicorn.Server(uvicorn.Config(guarded, log_config=None, lifespan="off", ws="none")).run([listener])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
def test_a_body_of_fifty_megabytes_is_refused_without_using_memory():
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


async def test_a_refused_client_that_never_stops_sending_is_disconnected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(edge_response, "LINGER_SECONDS", 0.05)
    async with _served() as client, await anyio.connect_tcp("127.0.0.1", client.base_url.port or 0) as stream:
        await stream.send(b"POST /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 99999\r\n\r\n")
        answer = b"".join([part async for part in stream])
    assert answer.startswith(b"HTTP/1.1 413 ")


# -- time and load -------------------------------------------------------------------------------------


async def test_022_a_slow_request_is_stopped_and_a_stream_is_not():
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

    guarded = EdgeMiddleware(
        slow,
        authenticator=authenticator(None),
        max_body_bytes=LIMIT,
        allowed_hosts=(),
        guards=EdgeGuards(request_seconds=0.1),
    )
    async with serving(guarded) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        assert (await client.get("/stream")).text == "late"
        refused = await client.get("/x")
    assert (refused.status_code, refused.json()["error"]["code"], stopped.is_set()) == (504, "busy", True)


async def test_022_requests_above_the_concurrency_limit_get_503_but_health_is_answered():
    started, gate = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/slow":
            started.set()
            await gate.wait()
        await inner(scope, receive, send)

    guarded = EdgeMiddleware(
        app,
        authenticator=authenticator(None),
        max_body_bytes=LIMIT,
        allowed_hosts=(),
        guards=EdgeGuards(load=LoadShedder(max_concurrent=1), refusal_formats=RefusalFormats(REFUSAL_FORMATS)),
    )
    async with (
        serving(guarded) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(client.get, "/slow")
        await started.wait()
        refused = await client.get("/x")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        mimo = await client.get("/v1/mimo/tools")
        assert mimo.json()["reason"] == "System overloaded"
        assert (await client.get("/health")).status_code == 200
        gate.set()


async def test_013_production_mode_without_a_key_answers_like_mimo():
    keyless = authenticator(None, in_production=True)
    guards = EdgeGuards(refusal_formats=RefusalFormats(REFUSAL_FORMATS))
    guarded = EdgeMiddleware(inner, authenticator=keyless, max_body_bytes=LIMIT, allowed_hosts=(), guards=guards)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(guarded), base_url="http://localhost") as client:
        refused = await client.post("/v1/mimo/ask", json={})
        own = await client.get("/x")
    expected = {"error": "Service misconfigured", "security": "API key required in production"}
    assert (refused.status_code, refused.json()) == (503, expected)
    assert (own.status_code, own.json()["error"]["code"]) == (503, "unavailable")


class RevocableKey(AcceptAnyKey):
    """Accepts every key until `authorized` is False."""

    def __init__(self) -> None:
        self.authorized = True

    def is_authorized(self, caller: Caller) -> bool:
        return self.authorized


@pytest.mark.parametrize("sends", [True, False])
async def test_013_revoking_the_key_ends_a_stream_before_its_next_chunk_and_while_it_is_idle(
    sends: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(application_run, "KEY_CHECK_SECONDS", 0.05 if not sends else 60)
    keys, began, revoked = RevocableKey(), anyio.Event(), anyio.Event()

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        began.set()
        await revoked.wait()
        if not sends:
            await anyio.sleep_forever()
        await send({"type": "http.response.body", "body": b"data: a secret", "more_body": True})
        await anyio.sleep_forever()

    guarded = EdgeMiddleware(stream, authenticator=keys, max_body_bytes=LIMIT, allowed_hosts=())
    transport = httpx2.ASGITransport(guarded)
    async with (
        httpx2.AsyncClient(transport=transport, base_url="http://localhost:4000") as client,
        anyio.create_task_group() as tasks,
    ):

        async def revoke() -> None:
            await began.wait()
            keys.authorized = False
            revoked.set()

        with anyio.fail_after(5):
            tasks.start_soon(revoke)
            assert (await client.get("/v1/jobs/x/events")).content == b""
