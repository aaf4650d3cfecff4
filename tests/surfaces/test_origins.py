"""A web page of another origin cannot act as the owner of a server without keys, over any protocol."""

import json
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

FOREIGN = (
    "http://localhost:3000",
    "http://127.0.0.1:3000",
    "http://localhost",
    "https://localhost",
    "javascript://localhost",
    "file://localhost",
    "null",
    "http://evil.example",
)
SOCKETS = ("/ws", "/cortex/websocket?vsn=2.0.0")
MCP = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}},
}
REQUESTS: tuple[tuple[str, str, Mapping[str, object] | None], ...] = (
    ("POST", "/v1/tools/remember", {"content": "a page of another origin stored this"}),
    ("GET", "/v1/tools", None),
    ("POST", "/mcp", INITIALIZE),
    ("POST", "/v1/chat/completions", {"model": "x", "messages": [{"role": "user", "content": "x"}]}),
    ("POST", "/v1/mimo/ask", {"query": "x"}),
    ("GET", "/api/status", None),
    ("GET", "/health", None),
    ("GET", "/metrics", None),
)


@pytest.mark.parametrize("origin", FOREIGN)
async def test_014_a_page_of_another_origin_is_refused(url: str, origin: str) -> None:
    async with httpx2.AsyncClient(base_url=url, headers=MCP, timeout=30, trust_env=False) as http:
        for method, path, body in REQUESTS:
            answer = await http.request(method, path, json=body, headers={"Origin": origin})
            assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (403, False), path
        preflight = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        assert (await http.options("/v1/tools/remember", headers=preflight)).status_code == 403
        # A form of a page needs no preflight request.
        form = await http.post(
            "/v1/tools/remember", content=b"{}", headers={"Origin": origin, "Content-Type": "text/plain"}
        )
        assert form.status_code == 403


@pytest.mark.parametrize("path", SOCKETS)
@pytest.mark.parametrize("origin", FOREIGN)
async def test_014_a_websocket_of_a_page_of_another_origin_is_refused(url: str, origin: str, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connect(f"ws{url.removeprefix('http')}{path}", additional_headers={"Origin": origin}, proxy=None):
            pass
    assert refused.value.response.status_code == 403


async def test_014_the_page_of_the_server_itself_can_call_it(url: str, tmp_path: Path) -> None:
    async with httpx2.AsyncClient(base_url=url, headers={**MCP, "Origin": url}, timeout=30, trust_env=False) as http:
        assert (await http.get("/docs")).status_code == 200
        assert (await http.get("/openapi.json")).status_code == 200
        stored = await http.post("/v1/tools/remember", json={"content": f"the own page stored {tmp_path.name}"})
        assert (stored.status_code, stored.headers["access-control-allow-origin"]) == (200, url)
        assert (await http.post("/mcp", json=INITIALIZE)).status_code == 200
    for path in SOCKETS:
        address = f"ws{url.removeprefix('http')}{path}"
        async with connect(address, additional_headers={"Origin": url}, proxy=None) as socket:
            await socket.send(json.dumps({"type": "ping"}) if path == "/ws" else '[null,"1","phoenix","heartbeat",{}]')
            assert await socket.recv()
