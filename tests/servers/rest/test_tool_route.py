"""Calling tools over HTTP: answers, refusals, jobs, and clients that leave."""

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
from scrubjay.servers.http.edge import Edge
from scrubjay.servers.http.errors import STATUS
from scrubjay.servers.rest.tool_route import ToolCalls, ToolRoute, ToolRouteFirst
from tests.servers.doors import doorkeeper
from tests.servers.rest.serving import serving
from tests.servers.rest.toys import Toys


async def test_a_call_answers_with_the_tools_result(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/echo", json={"text": "hé", "times": 2, "tags": [{"name": "x"}]})
    answer = response.json()
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert answer == {
        "text": "hé hé",
        "tags": [{"name": "x", "weight": 1.0}],
        "client": None,
        "request_id": answer["request_id"],
    }


async def test_a_call_has_the_id_of_its_request(toys: Toys):
    guarded = Edge(toys.app, doorkeeper=doorkeeper(None), max_body_bytes=1000, allowed_hosts=())
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


async def test_an_unknown_tool_is_answered_with_the_nearest_names(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/ecko", json={})
    body = response.json()
    assert response.status_code == 404
    assert body == {
        "error": {
            "code": "unknown_tool",
            "message": "there is no tool called 'ecko'",
            "hint": "did you mean echo?",
            "details": {"nearest": ["echo"]},
        },
        "request_id": body["request_id"],
    }


@pytest.mark.parametrize("code", list(ErrorCode))
async def test_each_failure_of_a_tool_has_its_status_and_the_one_body(client: httpx2.AsyncClient, code: ErrorCode):
    response = await client.post("/v1/tools/fail", json={"code": code})
    body = response.json()
    assert response.status_code == STATUS[code]
    assert body == {
        "error": {"code": code, "message": "as asked", "hint": "do not ask", "details": {"why": "test"}},
        "request_id": body["request_id"],
    }
    assert (response.headers.get("retry-after") == "1") == (code == ErrorCode.BUSY)
    assert (response.headers.get("www-authenticate") == "Bearer") == (code == ErrorCode.UNAUTHENTICATED)


async def test_a_bug_in_a_tool_is_a_typed_answer_that_tells_nothing_of_the_inside(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/break_down")
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
async def test_a_body_that_is_no_json_object_is_malformed(client: httpx2.AsyncClient, body: bytes):
    response = await client.post("/v1/tools/echo", content=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"text": "a\\u0000b"}', "NUL"),
        (b'{"te\\u0000xt": "a"}', "NUL"),
        (b'{"text": 1e999}', "not a number"),
        (b'{"text": "a", "tags": ' + b"[" * 60 + b"]" * 60 + b"}", "nested"),
        (b'{"text": "a", "tmes": 2}', "tmes: unknown field"),
        (b"{}", "Field required"),
    ],
)
async def test_a_body_that_does_not_fit_is_invalid_by_the_dispatchers_word(
    client: httpx2.AsyncClient, body: bytes, said: str
):
    response = await client.post("/v1/tools/echo", content=body)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (422, "invalid_request")
    assert said in error["message"]


async def test_of_a_key_given_twice_the_last_value_counts(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/echo", content=b'{"text": "first", "text": "last"}')
    assert response.json()["text"] == "last"


async def test_a_client_is_told_from_others_by_its_header(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/echo", json={"text": ""}, headers={"Scrubjay-Client": "my editor"})
    assert response.json()["client"] == "http:my editor"


@pytest.mark.parametrize("name", ["", "x" * 101, "na\tme", b"caf\xe9", " "])
async def test_a_client_name_must_be_printable_ascii(client: httpx2.AsyncClient, name: str | bytes):
    response = await client.post("/v1/tools/echo", json={"text": ""}, headers=[(b"Scrubjay-Client", _bytes(name))])
    assert (response.status_code, response.json()["error"]["code"]) == (422, "invalid_request")


def _bytes(name: str | bytes) -> bytes:
    return name.encode() if isinstance(name, str) else name


async def test_a_job_is_handed_back_at_once_unless_asked_to_wait(toys: Toys, client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/count", json={"gated": True})
    job = response.json()
    assert (response.status_code, job["state"], job["result"]) == (202, "running", None)
    assert response.headers["location"] == f"/v1/jobs/{job['job_id']}"
    assert "preference-applied" not in response.headers
    toys.stage.gate.set()


async def test_a_job_that_ends_in_time_is_answered_whole(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/count", json={"steps": 3}, headers={"Prefer": "respond-async, wait=9"})
    job = response.json()
    assert (response.status_code, response.headers.get("location")) == (200, None)
    assert response.headers["preference-applied"] == "wait=9"
    assert (job["state"], job["result"], job["progress"]) == (
        "completed",
        {"steps": 3},
        {"done": 3, "total": 3, "message": "step 3"},
    )


async def test_a_job_that_fails_in_time_is_its_failure(client: httpx2.AsyncClient):
    response = await client.post("/v1/tools/count", json={"fails": True}, headers={"Prefer": "wait=9"})
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["message"]) == (409, "conflict", "counted wrong")
    assert (await client.get(f"/v1/jobs/{error['details']['job_id']}")).json()["state"] == "failed"


@pytest.mark.parametrize(
    ("preference", "applied"),
    [("wait=61", "wait=60"), ("wait=999999999", "wait=60"), ('WAIT="7"', "wait=7"), ("wait = 7; x=1", "wait=7")],
)
async def test_a_preference_is_read_as_rfc_7240_says_and_capped(
    client: httpx2.AsyncClient, preference: str, applied: str
):
    response = await client.post("/v1/tools/count", headers={"Prefer": preference})
    assert (response.status_code, response.headers["preference-applied"]) == (200, applied)


@pytest.mark.parametrize("preference", ["wait=", "wait=-1", "wait=1.5", "wait=soon", "await=5", "return=minimal", ""])
async def test_a_preference_that_is_not_understood_is_ignored(toys: Toys, client: httpx2.AsyncClient, preference: str):
    response = await client.post("/v1/tools/count", json={"gated": True}, headers={"Prefer": preference})
    assert (response.status_code, response.headers.get("preference-applied")) == (202, None)
    toys.stage.gate.set()


async def test_a_client_that_leaves_stops_its_call(toys: Toys):
    async with serving(toys.app) as port:
        with anyio.fail_after(5):
            await _post_and_leave(port, toys, "hang", {})
            await toys.stage.stopped.wait()


async def test_a_client_that_leaves_while_it_waits_cancels_the_job(toys: Toys, client: httpx2.AsyncClient):
    async with serving(toys.app) as port:
        with anyio.fail_after(5):
            await _post_and_leave(port, toys, "count", {"gated": True}, "Prefer: wait=60\r\n")
            await toys.stage.stopped.wait()


async def test_a_client_that_does_not_wait_leaves_its_job_running(toys: Toys, client: httpx2.AsyncClient):
    async with serving(toys.app) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as remote:
        job = (await remote.post("/v1/tools/count", json={"gated": True})).json()
    toys.stage.gate.set()
    async with client.stream("GET", f"/v1/jobs/{job['job_id']}/events") as events:
        assert '"state":"completed"' in (await events.aread()).decode()


async def _post_and_leave(port: int, toys: Toys, tool: str, body: dict[str, object], headers: str = "") -> None:
    text = json.dumps(body)
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        head = f"POST /v1/tools/{tool} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(text)}\r\n{headers}\r\n"
        await stream.send(f"{head}{text}".encode())
        await toys.stage.began.wait()


async def test_what_a_client_sends_is_in_no_log(client: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture):
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
async def test_the_shortcut_answers_as_the_long_way_does(toys: Toys, method: str, path: str, body: bytes):
    answers: list[tuple[int, bytes, dict[str, str]]] = []
    for app in (toys.app, ToolRouteFirst(toys.app, routes=toys.app.routes)):
        guarded = Edge(app, doorkeeper=doorkeeper(None), max_body_bytes=1000, allowed_hosts=())
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(guarded), base_url="http://localhost") as client:
            response = await client.request(method, path, content=body, headers={"X-Request-Id": "mine"})
        told = {
            name: value for name, value in response.headers.items() if not name.startswith(("x-mimo", "x-ratelimit"))
        }
        answers.append((response.status_code, response.content, told))
    assert answers[0] == answers[1]


async def test_a_call_passes_no_layer_of_the_framework(toys: Toys):
    async def elsewhere(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError(scope["path"])

    shortcut = ToolRouteFirst(elsewhere, routes=[ToolRoute(ToolCalls(toys.dispatcher))])
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(shortcut), base_url="http://localhost") as client:
        assert (await client.post("/v1/tools/echo", json={"text": "x"})).status_code == 200
        with pytest.raises(AssertionError, match="/v1/tools"):
            await client.get("/v1/tools")


async def test_a_call_that_waits_for_nothing_is_watched_by_nobody_and_one_that_waits_is(
    monkeypatch: pytest.MonkeyPatch,
):
    begun: list[str] = []
    usual = asyncio.create_task

    def create(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        begun.append(work.__qualname__)
        return usual(work)

    monkeypatch.setattr(requests.asyncio, "create_task", create)

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def at_once() -> int:
        return 7

    assert await requests.while_connected(gone, at_once()) == 7
    await anyio.lowlevel.checkpoint()
    assert begun == []
    assert await requests.while_connected(gone, anyio.sleep_forever()) is None
    assert begun == ["cancel_when_disconnected"]
