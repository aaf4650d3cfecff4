"""The other routes of the REST application, and the common body of all errors."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.exceptions import HTTPException

from scrubjay.core.errors import StoreUnusable
from scrubjay.servers.rest.app import build_app
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Registry, Toolset
from tests.servers.rest.toy_server import CORE, TOYS, ToyServer, echo, make_toy_server


async def test_liveness_is_reported_without_a_store(tmp_path: Path):
    app = make_toy_server(tmp_path).app  # its lifespan does not run, so no store is open
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        response = await client.get("/health")
    fields = response.json()
    assert (response.status_code, fields["status"], fields["version"]) == (200, "healthy", "1.2.3")
    assert fields["stores"] == {"episodic": "pending", "semantic": "pending", "procedural": "pending"}
    assert fields["tools"] == {"count": len(TOYS)}
    assert fields["system"]["memory_mb"] > 10


async def test_the_tool_list_can_be_selected(client: httpx2.AsyncClient):
    async def names(query: str) -> list[str]:
        return [tool["name"] for tool in (await client.get(f"/v1/tools{query}")).json()["tools"]]

    assert await names("") == CORE
    assert await names("?tools=core") == CORE
    assert await names("?tools=all") == [tool.name for tool in TOYS]
    assert await names("?tools=trouble") == ["fail", "raise_unexpectedly", "hang"]
    assert await names("?tools=talk,hang") == ["echo", "hang"]


async def test_an_unknown_toolset_is_invalid_with_the_nearest_name(client: httpx2.AsyncClient):
    response = await client.get("/v1/tools?tools=troubel")
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["hint"]) == (422, "invalid_request", "did you mean trouble?")


async def test_a_tool_is_described_with_its_schemas(client: httpx2.AsyncClient):
    described = (await client.get("/v1/tools/echo")).json()
    listed = (await client.get("/v1/tools?tools=echo")).json()["tools"]
    assert listed == [described]
    assert described == {
        "name": "echo",
        "family": "talk",
        "title": "Echo",
        "description": "Say something back.\n\nSays who asked, too.",
        "annotations": {"read_only": True, "destructive": False, "idempotent": True, "runs_as_job": False},
        "input_schema": echo.input_schema,
        "output_schema": echo.output_schema,
    }


async def test_an_unknown_tool_cannot_be_described(client: httpx2.AsyncClient):
    response = await client.get("/v1/tools/ecko")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "unknown_tool")


async def test_a_job_can_be_read(client: httpx2.AsyncClient):
    started = (await client.post("/v1/tools/count", json={"steps": 1}, headers={"Prefer": "wait=5"})).json()
    assert (await client.get(f"/v1/jobs/{started['job_id']}")).json() == started


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/tools/", "/v1/tools/echo/", "/v2/tools", "/v1/jobs/", "/redoc"])
async def test_a_path_that_does_not_exist_is_not_found(client: httpx2.AsyncClient, path: str):
    response = await client.get(path)
    body = response.json()
    assert response.status_code == 404
    assert body == {
        "error": {
            "code": "not_found",
            "message": f"there is nothing at {path}",
            "hint": "/docs lists all paths",
            "details": {},
        },
        "request_id": body["request_id"],
    }


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/v1/tools/echo", "GET, POST"),
        ("PUT", "/v1/tools/unknown", "GET, POST"),
        ("POST", "/v1/tools", "GET"),
        ("POST", "/health", "GET, HEAD"),
        ("PATCH", "/v1/jobs/x", "GET"),
        ("POST", "/v1/jobs/x/events", "GET"),
        ("OPTIONS", "/v1/tools/echo", "GET, POST"),
        ("NONSENSE", "/v1/tools", "GET"),
    ],
)
async def test_a_wrong_method_is_refused_with_the_allowed_methods(
    client: httpx2.AsyncClient, method: str, path: str, allowed: str
):
    response = await client.request(method, path)
    error = response.json()["error"]
    assert (response.status_code, response.headers["allow"]) == (405, allowed)
    assert (error["code"], error["hint"]) == ("invalid_request", f"use {allowed}")


async def test_an_unexpected_exception_in_a_route_is_a_typed_error(server: ToyServer):
    async def broken() -> Any:
        raise ZeroDivisionError("secret-in-a-message")

    server.app.add_api_route("/broken", broken)
    transport = httpx2.ASGITransport(server.app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.get("/broken")
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal")
    assert "secret-in-a-message" not in response.text


async def test_errors_of_fastapi_have_the_common_body(server: ToyServer, client: httpx2.AsyncClient):
    async def double(number: int) -> int:
        raise HTTPException(418, "no numbers today")

    server.app.add_api_route("/double", double)
    invalid = await client.get("/double?number=many")
    refused = await client.get("/double?number=1")
    assert (invalid.status_code, invalid.json()["error"]["code"]) == (422, "invalid_request")
    assert invalid.json()["error"]["message"].startswith("number: ")
    assert (refused.status_code, refused.json()["error"]["message"]) == (418, "no numbers today")


class Greeting(Request):
    name: str


class Greeted(Result):
    text: str


@tool("manners")
async def greet(request: Greeting) -> Greeted:
    """Return a greeting."""
    return Greeted(text=f"hello {request.name}")


async def test_a_new_tool_is_callable_listed_described_and_documented_automatically(tmp_path: Path):
    app = make_toy_server(tmp_path, tools=[*TOYS, greet]).app
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        assert (await client.post("/v1/tools/greet", json={"name": "you"})).json() == {"text": "hello you"}
        assert "greet" in [tool["name"] for tool in (await client.get("/v1/tools")).json()["tools"]]
        assert (await client.get("/v1/tools/greet")).json()["family"] == "manners"
        document = (await client.get("/openapi.json")).json()
    assert document["paths"]["/v1/tools/greet"]["post"]["operationId"] == "greet"


async def test_a_store_that_cannot_be_opened_is_an_error_of_the_list(server: ToyServer):
    async def uses() -> dict[str, int]:
        raise StoreUnusable("the store is damaged")

    registry = Registry(TOYS)
    app = build_app(server.dispatcher, Listing(registry, Toolset(), uses), server.services, version="1")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        response = await client.get("/v1/tools")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "store_unusable")


def test_environment_variables_do_not_enable_telemetry(tmp_path: Path):
    # In a child process: FastAPI reads the environment when the application starts.
    script = f"""
import anyio
from pathlib import Path
from fastapi.telemetry import _runtime
from tests.servers.rest.toy_server import make_toy_server
def configured(signal): raise SystemExit("telemetry looks for an exporter")
_runtime._export_endpoint = configured
app = make_toy_server(Path({str(tmp_path)!r})).app
async def run():
    messages = [{{"type": "lifespan.startup"}}, {{"type": "lifespan.shutdown"}}]
    async def receive(): return messages.pop(0)
    async def send(message): assert not message["type"].endswith("failed"), message
    await app({{"type": "lifespan", "state": {{}}}}, receive, send)
anyio.run(run)
assert not app._native_telemetry.enabled()
"""
    environment = {
        **os.environ,
        "FASTAPI_OTEL_AUTO_CONFIGURE": "true",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
    }
    child = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, cwd=Path.cwd()
    )
    assert (child.returncode, child.stderr) == (0, "")
