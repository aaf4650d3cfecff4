"""Mimo's question endpoint (features 4 and 64)."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import Field

from scrubjay.compat.mimo.routes import mimo_routes
from scrubjay.core.errors import Busy, NotFound, Unavailable
from scrubjay.servers.rest.app import build_app
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Registry, Toolset
from scrubjay.tooling.services import Services
from tests.servers.rest.toy_server import make_toy_server


class Question(Request):
    query: str = Field(min_length=1, description="What to ask.")
    timeout_ms: int = Field(default=5000, ge=1, description="How long it may take.")


class Synthesis(Result):
    synthesis: str | None
    client: str | None


@tool("asking", read_only=True)
async def ask_all(request: Question, context: CallContext) -> Synthesis:
    """Ask all."""
    match request.query:
        case "slow":
            raise Unavailable("too slow", details={"timeout_ms": request.timeout_ms})
        case "stray":
            raise NotFound("there is no such project")
        case "busy":
            raise Busy("others write")
        case "broken":
            raise ZeroDivisionError("secret-in-a-message")
        case _:
            return Synthesis(synthesis=None, client=context.client)


def client() -> httpx2.AsyncClient:
    registry, services = Registry([ask_all]), Services()
    dispatcher = Dispatcher(registry, services)
    mimo = mimo_routes(dispatcher, ask_tool="ask_all")
    app = build_app(dispatcher, Listing(registry, Toolset("all")), services, version="1", protocols=[mimo])
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost")


async def ask(**options: Any) -> httpx2.Response:
    async with client() as http:
        return await http.post("/v1/mimo/ask", **options)


async def test_004_the_answer_is_that_of_the_tool_with_its_duration() -> None:
    answer = await ask(json={"query": "anything"}, headers={"Scrubjay-Client": "curl"})
    assert (answer.status_code, answer.json()) == (200, {"synthesis": None, "client": "http:curl"})


@pytest.mark.parametrize("body", [{}, {"query": ""}, {"query": None}, {"timeout_ms": 5}])
async def test_004_a_missing_query_is_refused(body: dict[str, Any]) -> None:
    answer = await ask(json=body)
    assert (answer.status_code, answer.json()) == (400, {"error": "Missing required parameter: query"})


@pytest.mark.parametrize("options", [{"content": b"{"}, {"content": b"[]"}, {"json": {"query": "x", "timeout_ms": 0}}])
async def test_004_invalid_arguments_get_mimos_error_body(options: dict[str, Any]) -> None:
    answer = await ask(**options)
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]
    assert isinstance(answer.json()["error"], str)


async def test_004_a_missing_object_gets_status_400() -> None:
    answer = await ask(json={"query": "stray"})
    assert (answer.status_code, answer.json()) == (400, {"error": "there is no such project"})


async def test_004_an_expired_timeout_gets_status_504() -> None:
    answer = await ask(json={"query": "slow", "timeout_ms": 70})
    body = answer.json()
    assert body.pop("latency_ms") >= 0
    assert (answer.status_code, body) == (504, {"error": "Query timed out", "timeout_ms": 70})


@pytest.mark.parametrize(
    ("query", "reason"),
    [("busy", "others write"), ("broken", "ask_all failed unexpectedly (ZeroDivisionError)")],
)
async def test_004_any_other_failure_gets_status_500_with_its_reason(query: str, reason: str) -> None:
    answer = await ask(json={"query": query})
    body = answer.json()
    assert body.pop("latency_ms") >= 0
    assert (answer.status_code, body) == (500, {"error": "Query failed", "reason": reason})


async def test_004_the_route_accepts_post_only_and_is_documented() -> None:
    async with client() as http:
        refused = await http.get("/v1/mimo/ask")
        document = (await http.get("/openapi.json")).json()
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    operation = document["paths"]["/v1/mimo/ask"]["post"]
    called = document["paths"]["/v1/tools/ask_all"]["post"]
    assert (operation["operationId"], operation["tags"]) == ("mimo_ask_all", ["mimo"])
    assert operation["requestBody"] == called["requestBody"]
    assert operation["responses"]["200"]["content"] == called["responses"]["200"]["content"]
    assert sorted(operation["responses"]) == ["200", "400", "401", "403", "413", "429", "500", "503", "504"]


async def test_004_without_its_tool_the_route_does_not_exist(tmp_path: Path) -> None:
    transport = httpx2.ASGITransport(make_toy_server(tmp_path).app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
        assert (await http.post("/v1/mimo/ask", json={"query": "x"})).status_code == 404
        assert "/v1/mimo/ask" not in (await http.get("/openapi.json")).json()["paths"]
