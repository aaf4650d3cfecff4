"""The toy server on a real uvicorn, over plain HTTP."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.servers.mcp.conftest import http_server
from tests.servers.mcp.toy_server import MAX_BYTES

ACCEPT = {"Accept": "application/json, text/event-stream"}
ENVELOPE: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture(scope="module")
async def http(url: str, anyio_backend: str) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(
        base_url=url.removesuffix("/mcp"), headers=ACCEPT, timeout=10, trust_env=False
    ) as http:
        yield http


def request(method: str, meta: Mapping[str, Any] | None = None, **params: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """Return headers and body of a request of the modern era."""
    headers = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    return headers, {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": {**params, "_meta": {**ENVELOPE, **(meta or {})}},
    }


async def send(
    http: httpx2.AsyncClient, method: str, headers: Mapping[str, str] | None = None, **params: Any
) -> httpx2.Response:
    standard_headers, body = request(method, **params)
    return await http.post("/mcp", headers={**standard_headers, **(headers or {})}, json=body)


async def test_a_short_result_is_plain_json(http: httpx2.AsyncClient) -> None:
    response = await send(http, "tools/call", name="echo", arguments={"text": "hello"})
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json()["result"]["structuredContent"] == {"text": "hello", "note": None}


async def test_a_result_with_progress_is_a_stream_of_events(http: httpx2.AsyncClient) -> None:
    response = await send(http, "tools/call", meta={"progressToken": "p"}, name="count", arguments={"to": 2})
    assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream")
    events = [
        json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line.startswith("data: ")
    ]
    assert [event.get("params") for event in events[:2]] == [
        {"progressToken": "p", "progress": 1, "total": 2, "message": "step 1"},
        {"progressToken": "p", "progress": 2, "total": 2, "message": "step 2"},
    ]
    assert events[2]["result"]["structuredContent"] == {"counted": 2}


async def test_a_disconnect_stops_the_work(http: httpx2.AsyncClient) -> None:
    headers, body = request("tools/call", {"progressToken": 1}, name="hang", arguments={})
    async with http.stream("POST", "/mcp", headers=headers, json=body) as streaming:
        await anext(streaming.aiter_lines())
    response = await send(http, "tools/call", name="was_stopped", arguments={})
    assert response.json()["result"]["structuredContent"] == {"stopped": True}


@pytest.mark.parametrize(
    ("name", "client"),
    [("agent 7", "http:agent 7"), ("x" * 100, f"http:{'x' * 100}"), (None, None)],
    ids=["a name", "a long name", "none"],
)
async def test_a_modern_client_is_named_by_its_header(
    http: httpx2.AsyncClient, name: str | None, client: str | None
) -> None:
    headers = {"Scrubjay-Client": name} if name else {}
    response = await send(http, "tools/call", headers, name="who", arguments={})
    assert response.json()["result"]["structuredContent"]["client"] == client


@pytest.mark.parametrize("name", ["", "x" * 101, "é", "a\tb"], ids=["empty", "too long", "not ASCII", "a tab"])
async def test_an_invalid_client_name_is_refused(http: httpx2.AsyncClient, name: str) -> None:
    headers, body = request("tools/call", name="who", arguments={})
    encoded = [(key.encode(), value.encode()) for key, value in headers.items()]
    response = await http.post("/mcp", headers=[*encoded, (b"Scrubjay-Client", name.encode())], json=body)
    assert response.json()["result"]["_meta"]["scrubjay/error"] == {
        "code": "invalid_request",
        "message": "the Scrubjay-Client header must be 1 to 100 printable ASCII characters",
        "hint": None,
        "details": {},
    }


async def test_a_session_id_is_ignored_in_the_modern_era(http: httpx2.AsyncClient) -> None:
    response = await send(http, "tools/call", {"Mcp-Session-Id": "somebody-elses"}, name="who", arguments={})
    assert response.json()["result"]["structuredContent"]["client"] is None


async def test_white_space_around_header_values_is_ignored(url: str) -> None:
    headers, body = request("tools/call", name="echo", arguments={"text": "hello"})
    content = json.dumps(body).encode()
    lines = [*headers.items(), *ACCEPT.items(), ("Content-Type", "application/json"), ("Host", "127.0.0.1:1")]
    head = "".join(f"{name}: \t{value} \t\r\n" for name, value in [*lines, ("Content-Length", str(len(content)))])
    async with await anyio.connect_tcp("127.0.0.1", int(url.split(":")[2].split("/")[0])) as stream:
        await stream.send(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + content)
        assert (await stream.receive()).startswith(b"HTTP/1.1 200 OK")


async def test_foreign_hosts_and_origins_are_refused(http: httpx2.AsyncClient) -> None:
    assert (await send(http, "tools/list", {"Host": "evil.example"})).status_code == 421
    assert (await send(http, "tools/list", {"Origin": "http://evil.example"})).status_code == 403
    assert (await send(http, "tools/list", {"Origin": "http://127.0.0.1:9"})).status_code == 200


@pytest.mark.parametrize("headers", [{"Mcp-Protocol-Version": "2026-07-28"}, {}], ids=["modern", "handshake"])
async def test_invalid_bodies_are_refused_and_the_server_continues(
    http: httpx2.AsyncClient, headers: Mapping[str, str]
) -> None:
    json_type = {**headers, "Content-Type": "application/json"}
    broken = await http.post("/mcp", headers=json_type, content=b"{")
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, -32700)
    large = await http.post("/mcp", headers=json_type, content=b" " * (MAX_BYTES + 1))
    assert large.status_code == 413
    assert (await send(http, "ping")).status_code == 404
    assert (await send(http, "tools/list")).status_code == 200


async def test_a_lone_surrogate_is_refused(http: httpx2.AsyncClient) -> None:
    headers, body = request("tools/call", name="echo", arguments={"text": "\ud800"})
    response = await http.post(
        "/mcp", headers={**headers, "Content-Type": "application/json"}, content=json.dumps(body).encode()
    )
    assert response.json()["result"]["_meta"]["scrubjay/error"]["code"] == "invalid_request"


async def test_a_client_can_end_its_session(http: httpx2.AsyncClient) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }
    session = {"Mcp-Session-Id": (await http.post("/mcp", json=hello)).headers["mcp-session-id"]}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert (await http.post("/mcp", headers=session, json=ping)).status_code == 200
    assert (await http.delete("/mcp", headers=session)).status_code == 200
    assert (await http.post("/mcp", headers=session, json=ping)).status_code == 404


async def test_a_listening_client_does_not_delay_shutdown(tmp_path: Path) -> None:
    headers, body = request("subscriptions/listen", notifications={"toolsListChanged": True})
    with http_server(tmp_path) as (url, process):
        async with (
            httpx2.AsyncClient(headers=ACCEPT, timeout=10, trust_env=False) as http,
            http.stream("POST", url, headers=headers, json=body) as streaming,
        ):
            lines = streaming.aiter_lines()
            assert "notifications/subscriptions/acknowledged" in await anext_data(lines)
            process.terminate()
            assert '"resultType":"complete"' in await anext_data(lines)
        process.wait(10)


async def anext_data(lines: AsyncIterator[str]) -> str:
    async for line in lines:
        if line.startswith("data: "):
            return line
    raise AssertionError("the stream ended")
