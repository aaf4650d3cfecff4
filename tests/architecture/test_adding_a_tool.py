"""A tool that is declared once is on every surface; no server is edited for it."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx2
from click.testing import CliRunner
from mcp import Client
from pydantic import Field

from scrubjay.app.application import Application
from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.servers.cli.commands import tool_commands
from scrubjay.servers.cli.options import command_line
from scrubjay.servers.docs.tools import tool_pages
from scrubjay.servers.mcp.server import build_server
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.registry import Registry


class EchoRequest(Request):
    text: str = Field(description="Text to repeat.")
    times: int = Field(default=2, ge=1, le=5, description="Number of repetitions.")


class EchoResult(Result):
    repeated: list[str] = Field(description="The text, once per repetition.")


@tool("echoes", read_only=True)
async def say_again(request: EchoRequest) -> EchoResult:
    """Repeat a text."""
    return EchoResult(repeated=[request.text] * request.times)


EXPECTED = {"repeated": ["hi", "hi"]}


CATALOG = [*TOOL_CATALOG, say_again]


def application(home: Path) -> AbstractAsyncContextManager[Application]:
    return running(Settings(home=home), tools=CATALOG)


async def test_002_a_new_tool_is_found_on_mcp(tmp_path: Path) -> None:
    async with application(tmp_path) as app:
        server = build_server(
            lambda: app.served_tools, version="1", instructions="", patience=1, surface="mcp-stdio", client="c"
        )
        for mode in ("legacy", "auto"):
            async with Client(server, mode=mode) as client:
                listed = {tool.name: tool for tool in (await client.list_tools()).tools}
                assert listed["say_again"].input_schema == say_again.input_schema
                assert listed["say_again"].output_schema == say_again.output_schema
                answer = await client.call_tool("say_again", {"text": "hi"})
                assert answer.structured_content == EXPECTED


async def test_002_a_new_tool_is_found_on_rest_and_in_openapi(tmp_path: Path) -> None:
    async with (
        application(tmp_path) as app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(build_http(app)), base_url="http://localhost") as http,
    ):
        assert (await http.post("/v1/tools/say_again", json={"text": "hi"})).json() == EXPECTED
        assert "say_again" in [tool["name"] for tool in (await http.get("/v1/tools")).json()["tools"]]
        operation = (await http.get("/openapi.json")).json()["paths"]["/v1/tools/say_again"]["post"]
        assert operation["operationId"] == "say_again"


def test_002_a_new_tool_is_a_command(tmp_path: Path) -> None:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Dispatcher]:
        async with application(tmp_path) as app:
            yield app.dispatcher

    (group,) = [group for group in tool_commands(Registry(CATALOG), opened) if group.name == "echoes"]
    result = CliRunner().invoke(group, ["say-again", "--text", "hi", "--json"])
    assert json.loads(result.stdout) == EXPECTED


def test_002_a_new_tool_has_a_page() -> None:
    pages = tool_pages(Registry(CATALOG), command_line)
    assert any("say_again" in text and "Text to repeat." in text for text in pages.values())


async def test_041_a_new_tool_can_be_searched_and_described(tmp_path: Path) -> None:
    context = CallContext(surface="python")
    async with application(tmp_path) as app:
        search = await app.dispatcher.call("search_tools", {"query": "say something again"}, context)
        assert search.model_dump()["tools"][0]["name"] == "say_again"
        described = await app.dispatcher.call("describe_tool", {"name": "say_again"}, context)
        assert described.model_dump()["input_schema"] == say_again.input_schema


def test_no_server_lists_tools_of_its_own() -> None:
    """No server names a tool: their sources contain none of the catalog's names as a string."""
    servers = Path(sys.modules[build_server.__module__].__file__ or "").parents[1]
    for source in servers.rglob("*.py"):
        text = source.read_text("utf-8")
        for declared in TOOL_CATALOG:
            assert f'"{declared.name}"' not in text, f"{source.name} names the tool {declared.name}"
