"""Tools of skills over every protocol: MCP in both revisions, REST, OpenAPI, and a skill over HTTP."""

import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from scrubjay.app.application import Application
from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import Unavailable
from scrubjay.features.upstream_mcp.schemas import SchemaCache, ToolListing
from scrubjay.servers.mcp.server import build_server
from scrubjay.tooling.context import CallContext
from tests.features.upstream_mcp.conftest import CHILD, PATH, program, write_skills

CONTEXT = CallContext(surface="python")


@asynccontextmanager
async def open_application(home: Path) -> AsyncGenerator[Application]:
    async with running(Settings(home=home)) as application:
        for runner in application.skills.runners.values():
            await runner.ready()
        yield application


async def test_038_a_stdio_client_learns_the_tools_of_a_skill_that_never_ran(home: Path) -> None:
    write_skills(home, kid=program())
    changed = anyio.Event()

    async def on_message(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "scrubjay.app", "mcp", "--tools", "all"],
        env={**os.environ, "SCRUBJAY_HOME": str(home)},
    )
    async with Client(parameters, mode="legacy", message_handler=on_message, cache=None) as client:
        await client.list_tools()
        with anyio.fail_after(20):
            await changed.wait()
        assert (await client.call_tool("kid_add", {"a": 1, "b": 2})).structured_content == {"result": 3}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_038_an_mcp_client_sees_and_calls_the_tools_of_a_skill(home: Path, mode: Any) -> None:
    write_skills(home, kid=program())
    changed = anyio.Event()

    async def on_message(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async with open_application(home) as app:
        server = build_server(
            lambda: app.served_tools, version="1", instructions="", patience=1, surface="mcp-stdio", client="c"
        )
        app.on_tools_change(server.announce_tools_changed)
        async with Client(server, mode=mode, message_handler=on_message, cache=None) as client:

            async def list_tools() -> dict[str, types.Tool]:
                found: list[types.Tool] = []
                page = await client.list_tools()
                found += page.tools
                while page.next_cursor:
                    page = await client.list_tools(cursor=page.next_cursor)
                    found += page.tools
                return {tool.name: tool for tool in found}

            add = (await list_tools())["kid_add"]
            assert add.annotations == types.ToolAnnotations(read_only_hint=True, open_world_hint=True, title="Adding")
            assert add.input_schema["required"] == ["a", "b"]
            assert add.output_schema
            result = await client.call_tool("kid_add", {"a": 1, "b": 2})
            assert (result.structured_content, result.is_error) == ({"result": 3}, False)
            linked = await client.call_tool("kid_link", {})
            assert [part.type for part in linked.content] == ["resource_link", "text"]
            assert (linked.meta or {})["a/b"] == 1
            picture = await client.call_tool("kid_picture", {})
            assert picture.content[0].type == "image"
            assert picture.structured_content is None
            assert (await client.call_tool("kid_fail", {"text": "no"})).is_error
            steps: list[float] = []

            async def progress(progress: float, total: float | None, message: str | None) -> None:
                steps.append(progress)

            await client.call_tool("kid_slow", {"steps": 2}, progress_callback=progress)
            assert steps == [1, 2]
            if mode == "legacy":
                await client.call_tool("kid_learn", {"name": "dance"})
                with anyio.fail_after(5):
                    await changed.wait()
            else:
                async with client.listen(tools_list_changed=True) as changes:
                    await client.call_tool("kid_learn", {"name": "dance"})
                    with anyio.fail_after(5):
                        async for _ in changes:
                            break
            assert "kid_dance" in await list_tools()


async def test_038_rest_calls_lists_and_documents_the_tools_of_a_skill(home: Path) -> None:
    write_skills(home, kid=program())
    async with (
        open_application(home) as app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(build_http(app)), base_url="http://localhost") as http,
    ):
        result = (await http.post("/v1/tools/kid_add", json={"a": 1, "b": 2})).json()
        assert (result["structuredContent"], result["isError"]) == ({"result": 3}, False)
        described = (await http.get("/v1/tools/kid_add")).json()
        assert described["family"] == "skill:kid"
        assert described["annotations"]["read_only"] is True
        assert described["input_schema"]["required"] == ["a", "b"]
        assert "kid_add" in [tool["name"] for tool in (await http.get("/v1/tools?tools=skill:kid")).json()["tools"]]
        document = (await http.get("/openapi.json")).json()
        assert "/v1/tools/kid_add" in document["paths"]
        assert document["components"]["schemas"]["kid_add.input"]["required"] == ["a", "b"]
        await app.skills.reload(force=True)
        write_skills(home)
        await app.skills.reload(force=True)
        assert (await http.post("/v1/tools/kid_add", json={})).status_code == 404
        assert "/v1/tools/kid_add" not in (await http.get("/openapi.json")).json()["paths"]


async def test_041_tools_of_skills_are_searched_described_and_called_by_name(home: Path) -> None:
    tools = [{"name": "juggle", "description": "Throw three balls."}]
    write_skills(home, kid={"config": program(), "tools": tools})
    async with running(Settings(home=home)) as app:
        found = await app.dispatcher.call("search_tools", {"query": "throw balls"}, CONTEXT)
        assert found.model_dump()["tools"][0]["name"] == "kid_juggle"
        called = await app.dispatcher.call("call_tool", {"name": "kid_juggle"}, CONTEXT)
        assert called.model_dump()["result"]["isError"] is True  # the program has no such tool


async def test_038_own_tools_take_precedence_over_tools_of_skills(home: Path) -> None:
    write_skills(home, search={"config": program(), "tools": [{"name": "repo"}, {"name": "other"}]})
    async with running(Settings(home=home)) as app:
        assert app.registry.get("search_repo").family == "code"
        assert app.registry.get("search_other").family == "skill:search"


@contextmanager
def served(port: int) -> Generator[None]:
    server = subprocess.Popen(
        [sys.executable, CHILD, "http", str(port)],
        env={**os.environ, "PATH": PATH},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(1000):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if server.poll() is not None:
                raise AssertionError("the server did not start")
            anyio.run(anyio.sleep, 0.01)
        yield
    finally:
        server.kill()
        server.wait()


def test_038_an_http_skill_is_called_and_works_again_after_an_outage(home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    write_skills(home, far={"url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-Note": "hi"}})

    async def run() -> None:
        async with running(Settings(home=home)) as app:
            with_server = served(port)
            await anyio.to_thread.run_sync(with_server.__enter__)
            try:
                await app.skills.discover_tools()
                result = (await app.dispatcher.call("far_add", {"a": 1, "b": 2}, CONTEXT)).model_dump()
                assert result["structuredContent"] == {"result": 3}
            finally:
                await anyio.to_thread.run_sync(with_server.__exit__, None, None, None)
            with pytest.raises(Unavailable):
                await app.dispatcher.call("far_add", {"a": 1, "b": 2}, CONTEXT)
            again = served(port)
            await anyio.to_thread.run_sync(again.__enter__)
            try:
                result = (await app.dispatcher.call("far_add", {"a": 1, "b": 2}, CONTEXT)).model_dump()
                assert result["isError"] is False
            finally:
                await anyio.to_thread.run_sync(again.__exit__, None, None, None)

    anyio.run(run)


def test_038_a_damaged_or_outdated_cache_is_ignored(tmp_path: Path) -> None:
    cache = SchemaCache(tmp_path / "skills")
    assert cache.read("kid", "hash") is None
    cache.write("kid", "hash", ToolListing((), {"odd name": "why"}))
    assert cache.read("kid", "hash") == ToolListing([], {"odd name": "why"})
    assert cache.read("kid", "other") is None
    (tmp_path / "skills" / "kid.json").write_text('{"config_hash": "hash", "tools": [3]}')
    assert cache.read("kid", "hash") is None
    assert (tmp_path / "skills").stat().st_mode & 0o077 == 0
