"""Calling tools over HTTP: results, errors, jobs, and disconnecting clients."""

import asyncio
import json
import logging
from collections.abc import Coroutine
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from starlette.types import Message, Receive, Scope, Send

from scrubjay.core.errors import ErrorCode
from scrubjay.servers.http import requests
from scrubjay.servers.http.edge_middleware import EdgeMiddleware
from scrubjay.servers.http.errors import STATUS
from scrubjay.servers.rest.tool_route import ToolCallEndpoint, ToolRoute, ToolRouteMiddleware
from tests.servers.authenticators import authenticator
from tests.servers.rest.toy_server import ToyServer
from tests.servers.rest.uvicorn_server import serving


async def test_a_call_returns_the_tools_result(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/echo", json={"text": "hé", "times": 2, "tags": [{"name": "x"}]})
    answer = response.json()
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert answer == {
        "text": "hé hé",
        "tags": [{"name": "x", "weight": 1.0}],
        "client": None,
        "request_id": answer["request_id"],
    }


async def test_a_call_has_the_id_of_its_request(server: ToyServer):
    guarded = EdgeMiddleware(server.app, authenticator=authenticator(None), max_body_bytes=1000, allowed_hosts=())
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(guarded), base_url="http://localhost") as client:
        response = await client.post("/v1/tools/echo", json={"text": ""}, headers={"X-Request-Id": "mine"})
    assert (response.json()["request_id"], response.headers["x-request-id"]) == ("mine", "mine")


@pytest.mark.parametrize("body", [b"", b" \n", b"{}"])
async def test_an_empty_body_is_an_empty_request(client: httpx2.AsyncClient, body: bytes):
    response = await client.post("/v1/tools/count", content=body, headers={"Prefer": "wait=5"})
    assert response.json()["result"] == {"steps": 2}


async def test_tools_that_are_not_listed_can_be_called(client: httpx2.AsyncClient):
    listed = [tool["name"] for tool in (await client.get("/v1/tools")).json()["tools"]]
    response = await client.post("/v1/tools/fail", json={"code": "conflict"})
    assert "fail" not in listed
    assert response.status_code == 409


async def test_an_unknown_tool_is_404_with_the_nearest_names(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/ecko", json={})
    body = response.json()
    assert response.status_code == 404
    assert body == {
        "error": {
            "code": "unknown_tool",
            "message": "there is no tool named 'ecko'",
            "hint": "did you mean echo?",
            "details": {"nearest": ["echo"]},
        },
        "request_id": body["request_id"],
    }


@pytest.mark.parametrize("code", list(ErrorCode))
async def test_each_error_of_a_tool_has_its_status_and_the_common_body(client: httpx2.AsyncClient, code: ErrorCode):
    response = await client.post("/v1/tools/fail", json={"code": code})
    body = response.json()
    assert response.status_code == STATUS[code]
    assert body == {
        "error": {"code": code, "message": "as asked", "hint": "do not ask", "details": {"why": "test"}},
        "request_id": body["request_id"],
    }
    assert (response.headers.get("retry-after") == "1") == (code == ErrorCode.BUSY)
    assert (response.headers.get("www-authenticate") == "Bearer") == (code == ErrorCode.UNAUTHENTICATED)


async def test_an_unexpected_exception_is_a_typed_error_without_its_message(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/raise_unexpectedly")
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal")
    assert "secret-in-a-message" not in response.text


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nonsense",
        b'{"text": NaN}',
        b'{"text": -Infinity}',
        b'\xef\xbb\xbf{"text": "a"}',
        b'{"text": "\xff"}',
        b'{"text": "\xed\xa0\x80"}',
        b'{"text": "\\ud800"}',
        b'{"\\udc00": 1}',
        b'{"text": "a"} {}',
        '{"text": "a"}'.encode("utf-16"),
        b'{"text": ' + b"9" * 100_000 + b"}",
        b"[" * 500_000,
        b'{"text":' * 100_000,
        b"[]",
        b'"text"',
        b"null",
        b"17",
    ],
    ids=lambda body: repr(body[:24]),
)
async def test_a_body_that_is_not_a_json_object_is_malformed(client: httpx2.AsyncClient, body: bytes):
    response = await client.post("/v1/tools/echo", content=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"text": "a\\u0000b"}', "NUL"),
        (b'{"te\\u0000xt": "a"}', "NUL"),
        (b'{"text": 1e999}', "not a finite number"),
        (b'{"text": "a", "tags": ' + b"[" * 60 + b"]" * 60 + b"}", "nested"),
        (b'{"text": "a", "tmes": 2}', "tmes: unknown field"),
        (b"{}", "Field required"),
    ],
)
async def test_invalid_arguments_are_422(client: httpx2.AsyncClient, body: bytes, expected: str):
    response = await client.post("/v1/tools/echo", content=body)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (422, "invalid_request")
    assert expected in error["message"]


async def test_the_last_value_of_a_duplicate_key_counts(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/echo", content=b'{"text": "first", "text": "last"}')
    assert response.json()["text"] == "last"


async def test_a_client_is_identified_by_its_header(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/echo", json={"text": ""}, headers={"Scrubjay-Client": "my editor"})
    assert response.json()["client"] == "http:my editor"


@pytest.mark.parametrize("name", ["", "x" * 101, "na\tme", b"caf\xe9", " "])
async def test_a_client_name_must_be_printable_ascii(client: httpx2.AsyncClient, name: str | bytes):
    response = await client.post("/v1/tools/echo", json={"text": ""}, headers=[(b"Scrubjay-Client", _bytes(name))])
    assert (response.status_code, response.json()["error"]["code"]) == (422, "invalid_request")


def _bytes(name: str | bytes) -> bytes:
    return name.encode() if isinstance(name, str) else name


async def test_a_job_is_returned_immediately_without_a_preference(server: ToyServer, client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/count", json={"gated": True})
    job = response.json()
    assert (response.status_code, job["state"], job["result"]) == (202, "running", None)
    assert response.headers["location"] == f"/v1/jobs/{job['job_id']}"
    assert "preference-applied" not in response.headers
    server.controls.gate.set()


async def test_a_job_that_ends_in_time_is_returned_with_its_result(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/count", json={"steps": 3}, headers={"Prefer": "respond-async, wait=9"})
    job = response.json()
    assert (response.status_code, response.headers.get("location")) == (200, None)
    assert response.headers["preference-applied"] == "wait=9"
    assert (job["state"], job["result"], job["progress"]) == (
        "completed",
        {"steps": 3},
        {"done": 3, "total": 3, "message": "step 3"},
    )


async def test_a_job_that_fails_in_time_returns_its_error(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/count", json={"fails": True}, headers={"Prefer": "wait=9"})
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["message"]) == (409, "conflict", "counted wrong")
    assert (await client.get(f"/v1/jobs/{error['details']['job_id']}")).json()["state"] == "failed"


@pytest.mark.parametrize(
    ("preference", "applied"),
    [("wait=61", "wait=60"), ("wait=999999999", "wait=60"), ('WAIT="7"', "wait=7"), ("wait = 7; x=1", "wait=7")],
)
async def test_a_preference_follows_rfc_7240_and_is_capped(client: httpx2.AsyncClient, preference: str, applied: str):
    response = await client.post("/v1/tools/count", headers={"Prefer": preference})
    assert (response.status_code, response.headers["preference-applied"]) == (200, applied)


@pytest.mark.parametrize("preference", ["wait=", "wait=-1", "wait=1.5", "wait=soon", "await=5", "return=minimal", ""])
async def test_an_invalid_preference_is_ignored(server: ToyServer, client: httpx2.AsyncClient, preference: str):
    response = await client.post("/v1/tools/count", json={"gated": True}, headers={"Prefer": preference})
    assert (response.status_code, response.headers.get("preference-applied")) == (202, None)
    server.controls.gate.set()


async def test_a_disconnect_cancels_the_call(server: ToyServer):
    async with serving(server.app) as port:
        with anyio.fail_after(5):
            await _post_and_disconnect(port, server, "hang", {})
            await server.controls.stopped.wait()


async def test_a_disconnect_while_waiting_cancels_the_job(server: ToyServer, client: httpx2.AsyncClient):
    async with serving(server.app) as port:
        with anyio.fail_after(5):
            await _post_and_disconnect(port, server, "count", {"gated": True}, "Prefer: wait=60\r\n")
            await server.controls.stopped.wait()


async def test_a_job_continues_when_its_client_does_not_wait(server: ToyServer, client: httpx2.AsyncClient):
    async with serving(server.app) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as remote:
        job = (await remote.post("/v1/tools/count", json={"gated": True})).json()
    server.controls.gate.set()
    async with client.stream("GET", f"/v1/jobs/{job['job_id']}/events") as events:
        assert '"state":"completed"' in (await events.aread()).decode()


async def _post_and_disconnect(
    port: int, server: ToyServer, tool: str, body: dict[str, object], headers: str = ""
) -> None:
    text = json.dumps(body)
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        head = f"POST /v1/tools/{tool} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(text)}\r\n{headers}\r\n"
        await stream.send(f"{head}{text}".encode())
        await server.controls.began.wait()


async def test_request_bodies_are_not_logged(client: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    await client.post("/v1/tools/echo", json={"text": "very-private"})
    await client.post("/v1/tools/echo", content=b'{"text": "very-private')
    await client.post("/v1/tools/echo", json={"text": "fine", "very-private": 1, "times": "very-private"})
    assert [record.message for record in caplog.records].count("call") == 2
    assert "very-private" not in str([vars(record) for record in caplog.records])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/tools/echo", b'{"text": "x"}'),
        ("POST", "/v1/tools/echo", b"{"),
        ("POST", "/v1/tools/echo", b'{"texd": 1}'),
        ("POST", "/v1/tools/ecko", b""),
        ("POST", "/v1/tools/fail", b'{"code": "conflict"}'),
        ("POST", "/v1/tools/break", b"{}"),
        ("POST", "/v1/tools/", b""),
        ("POST", "/v1/tools", b""),
        ("POST", "/v1/tools/echo/more", b""),
        ("POST", "/v1/tools/echo%2Fmore", b""),
        ("GET", "/v1/tools/echo", b""),
        ("DELETE", "/v1/tools/echo", b""),
        ("POST", "/v1/toolsecho", b""),
    ],
)
async def test_the_middleware_answers_exactly_like_the_router(server: ToyServer, method: str, path: str, body: bytes):
    answers: list[tuple[int, bytes, dict[str, str]]] = []
    for app in (server.app, ToolRouteMiddleware(server.app, routes=server.app.routes)):
        guarded = EdgeMiddleware(app, authenticator=authenticator(None), max_body_bytes=1000, allowed_hosts=())
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(guarded), base_url="http://localhost") as client:
            response = await client.request(method, path, content=body, headers={"X-Request-Id": "mine"})
        fields = {
            name: value for name, value in response.headers.items() if not name.startswith(("x-mimo", "x-ratelimit"))
        }
        answers.append((response.status_code, response.content, fields))
    assert answers[0] == answers[1]


async def test_a_call_bypasses_the_framework(server: ToyServer):
    async def elsewhere(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError(scope["path"])

    middleware = ToolRouteMiddleware(elsewhere, routes=[ToolRoute(ToolCallEndpoint(server.dispatcher))])
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(middleware), base_url="http://localhost") as client:
        assert (await client.post("/v1/tools/echo", json={"text": "x"})).status_code == 200
        with pytest.raises(AssertionError, match="/v1/tools"):
            await client.get("/v1/tools")


async def test_a_disconnect_watcher_is_started_only_for_calls_that_wait(
    monkeypatch: pytest.MonkeyPatch,
):
    started_tasks: list[str] = []
    create_task = asyncio.create_task

    def create(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        started_tasks.append(work.__qualname__)
        return create_task(work)

    monkeypatch.setattr(requests.asyncio, "create_task", create)

    async def disconnected() -> Message:
        return {"type": "http.disconnect"}

    async def immediate() -> int:
        return 7

    assert await requests.run_while_connected(disconnected, immediate()) == 7
    await anyio.lowlevel.checkpoint()
    assert started_tasks == []
    assert await requests.run_while_connected(disconnected, anyio.sleep_forever()) is None
    assert started_tasks == ["cancel_when_disconnected"]
