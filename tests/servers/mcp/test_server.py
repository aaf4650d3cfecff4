"""The toy tools, called by the official client over every connection, in both eras."""

import gc
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.server.connection import Connection
from mcp.server.subscriptions import ToolsListChanged
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent, ToolListChangedNotification

from scrubjay.core.errors import ErrorCode, StoreUnusable
from scrubjay.servers.mcp.server import ToolServer, build_server
from scrubjay.tooling.declaration import Request, Result, Tool, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Registry, Toolset
from scrubjay.tooling.served_tools import ServedTools
from scrubjay.tooling.services import Services
from tests.servers.mcp.toy_server import INSTRUCTIONS, PATIENCE, TOYS, echo

Steps = list[tuple[float, float | None, str | None]]


async def test_tools_are_listed_in_the_order_of_the_listing(client: Client) -> None:
    first = await client.list_tools(cache_mode="bypass")
    again = await client.list_tools(cache_mode="bypass")
    assert [tool.name for tool in first.tools] == [tool.name for tool in TOYS if tool.core]
    assert again.tools == first.tools
    assert first.next_cursor is None


async def test_a_listed_tool_is_the_declared_one(client: Client) -> None:
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert listed["echo"].model_dump(by_alias=True, exclude_none=True) == {
        "name": "echo",
        "title": "Echo",
        "description": "Say something again.\n\nNothing is changed.",
        "inputSchema": echo.input_schema,
        "outputSchema": echo.output_schema,
        "annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }
    hints = listed["fail"].annotations
    assert hints
    assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == (False, True, False)


async def test_the_server_reports_its_version_and_capabilities(client: Client, connection: str) -> None:
    assert client.protocol_version == ("2026-07-28" if connection.endswith("modern") else "2025-11-25")
    assert client.instructions == INSTRUCTIONS
    assert client.server_info
    assert (client.server_info.name, client.server_info.version) == ("scrubjay", "1.2.3")
    assert client.server_capabilities.model_dump(by_alias=True, exclude_none=True) == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": connection.endswith("modern")},
    }


async def test_a_result_is_structured_content_with_the_same_data_as_text(client: Client) -> None:
    result = await client.call_tool("echo", {"text": "hällo ", "times": 2})
    assert contents_of(result) == success({"text": "hällo hällo ", "note": None})


async def test_an_unlisted_tool_can_be_called(client: Client) -> None:
    assert contents_of(await client.call_tool("hidden")) == success({"text": "found", "note": None})


@pytest.mark.parametrize("code", [code for code in ErrorCode if code is not ErrorCode.UNKNOWN_TOOL])
async def test_a_failed_call_has_the_error_and_its_hint(client: Client, code: ErrorCode) -> None:
    assert contents_of(await client.call_tool("fail", {"code": code})) == failure(
        "it went wrong\nHint: do it right",
        {"code": code, "message": "it went wrong", "hint": "do it right", "details": {"tries": 1}},
    )


async def test_an_unexpected_exception_in_a_tool_reveals_no_message(client: Client) -> None:
    result = await client.call_tool("break_down")
    assert result.is_error
    assert result.meta
    assert result.meta["scrubjay/error"]["code"] == "internal"
    assert "secret" not in result.model_dump_json()


async def test_invalid_arguments_are_a_tool_failure_that_a_model_can_read(client: Client) -> None:
    assert contents_of(await client.call_tool("echo", {"txt": "hello"})) == failure(
        "echo: text: Field required; txt: unknown field\nHint: txt: did you mean text?",
        {
            "code": "invalid_request",
            "message": "echo: text: Field required; txt: unknown field",
            "hint": "txt: did you mean text?",
            "details": {
                "problems": [
                    {"field": "text", "problem": "Field required"},
                    {"field": "txt", "problem": "unknown field", "nearest": ["text"]},
                ]
            },
        },
    )


async def test_an_unknown_tool_is_a_protocol_error_with_the_nearest_names(client: Client) -> None:
    with pytest.raises(MCPError) as caught:
        await client.call_tool("ecko")
    assert caught.value.error.model_dump() == {
        "code": INVALID_PARAMS,
        "message": "there is no tool named 'ecko'\nHint: did you mean echo?",
        "data": {
            "code": "unknown_tool",
            "message": "there is no tool named 'ecko'",
            "hint": "did you mean echo?",
            "details": {"nearest": ["echo"]},
        },
    }


async def test_lone_surrogates_break_neither_progress_nor_result(client: Client) -> None:
    steps: Steps = []
    with anyio.fail_after(5):
        result = await client.call_tool("name_strange_file", progress_callback=collect_into(steps))
    assert steps == [(1, None, "read ?.txt")]
    assert contents_of(result) == success({"text": "?.txt", "note": None})


async def test_progress_is_reported_step_by_step(client: Client) -> None:
    steps: Steps = []
    result = await client.call_tool("count", {"to": 3}, progress_callback=collect_into(steps))
    assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    assert contents_of(result) == success({"counted": 3})


async def test_reported_progress_only_increases(client: Client) -> None:
    steps: Steps = []
    await client.call_tool("stumble", progress_callback=collect_into(steps))
    assert steps == [(0, None, None), (2, None, None), (3, None, None)]


async def test_cancelling_a_call_stops_the_work(client: Client) -> None:
    with anyio.fail_after(5):
        await call_and_cancel(client, "hang", {})
        assert contents_of(await client.call_tool("was_stopped")) == success({"stopped": True})


async def test_a_job_that_ends_in_time_returns_its_result(client: Client) -> None:
    steps: Steps = []
    result = await client.call_tool("dig", {"to": 3}, progress_callback=collect_into(steps))
    assert result.structured_content["state"] == "completed"
    assert result.structured_content["result"] == {"counted": 3}
    assert steps == sorted(steps)


async def test_a_longer_job_returns_its_id_and_state(client: Client) -> None:
    steps: Steps = []
    result = await client.call_tool("dig", {"to": 1000}, progress_callback=collect_into(steps))
    view = result.structured_content
    assert (view["tool"], view["state"], view["result"]) == ("dig", "running", None)
    assert view["progress"] == {"done": 100, "total": 1000, "message": "stuck"}
    assert steps[-1][:2] == (100, 1000)


async def test_cancelling_a_call_cancels_its_job(client: Client) -> None:
    with anyio.fail_after(10):
        await call_and_cancel(client, "dig", {"to": 1000})
        assert contents_of(await client.call_tool("last_job")) == success({"state": "cancelled"})


async def test_the_call_context_has_surface_and_client(client: Client, connection: str) -> None:
    caller = (await client.call_tool("who")).structured_content
    name: str | None = caller.pop("client")
    transport = connection.partition("-")[0]
    surface = "inside" if transport == "inside" else f"mcp-{transport}"
    assert caller == {"surface": surface, "working_directory": "/toys", "patience": PATIENCE}
    match connection:
        case "stdio-handshake" | "stdio-modern":
            assert name == "stdio:toys"
        case "http-handshake":
            assert name
            assert name.startswith("mcp:")
            assert (await client.call_tool("who")).structured_content["client"] == name
        case _:
            assert name is None


async def test_clients_of_both_eras_are_notified_when_the_tool_list_changes(
    client: Client, connection: str, notifications: list[IncomingMessage]
) -> None:
    with anyio.fail_after(5):
        if connection.endswith("modern"):
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("change_list")
                assert await anext(aiter(changes)) == ToolsListChanged()
        else:
            # Over HTTP the client opens its stream for notifications a little later, and misses earlier ones.
            while not any(isinstance(message, ToolListChangedNotification) for message in notifications):
                await client.call_tool("change_list")


async def test_a_modern_client_may_cache_the_tool_list() -> None:
    async with Client(serve([])) as client:
        listed = await client.list_tools()
        assert (listed.ttl_ms, listed.cache_scope) == (300_000, "private")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_long_list_is_paginated(mode: str) -> None:
    async with Client(serve(many_tools(120)), mode=mode) as client:
        pages: list[list[str]] = []
        cursor = None
        while not pages or cursor:
            page = await client.list_tools(cursor=cursor)
            pages.append([tool.name for tool in page.tools])
            cursor = page.next_cursor
    assert [len(page) for page in pages] == [50, 50, 20]
    assert [name for page in pages for name in page] == [f"tool_{number}" for number in range(120)]


@pytest.mark.parametrize("cursor", ["", "50", "!!!", "bm9uZQ==", "w6k", "\udce9"])
async def test_an_invalid_cursor_is_refused(cursor: str) -> None:
    async with Client(serve(many_tools(60)), mode="legacy") as client:
        with pytest.raises(MCPError) as caught:
            await client.list_tools(cursor=cursor)
    assert caught.value.code == INVALID_PARAMS


async def test_a_failing_list_returns_a_typed_error() -> None:
    async def uses() -> Mapping[str, int]:
        raise StoreUnusable("the store is damaged", hint="run scrubjay store check")

    async with Client(serve([], uses)) as client:
        with pytest.raises(MCPError) as caught:
            await client.list_tools()
    assert caught.value.error.model_dump() == {
        "code": INTERNAL_ERROR,
        "message": "the store is damaged\nHint: run scrubjay store check",
        "data": {
            "code": "store_unusable",
            "message": "the store is damaged",
            "hint": "run scrubjay store check",
            "details": {},
        },
    }


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_usage_is_not_queried_before_a_client_lists_tools(mode: str) -> None:
    queries = 0

    async def uses() -> Mapping[str, int]:
        nonlocal queries
        queries += 1
        return {}

    async with Client(serve([], uses), mode=mode) as client:
        assert queries == 0
        await client.list_tools()
        assert queries == 1


def test_input_schemas_are_available_without_a_list() -> None:
    server = serve([echo])
    assert server.get_tool_input_schema
    assert server.get_tool_input_schema("echo") == echo.input_schema
    assert server.get_tool_input_schema("ecko") is None


async def test_a_disconnected_client_is_released() -> None:
    server = serve([])
    async with Client(server, mode="legacy") as client:
        await client.list_tools()
    del client
    gc.collect()
    assert not any(isinstance(thing, Connection) for thing in gc.get_objects())


class Nothing(Request):
    pass


class Done(Result):
    pass


def many_tools(number: int) -> list[Tool]:
    async def work(request: Nothing) -> Done:
        """Do nothing."""
        return Done()

    declared = tool("toys")(work)
    return [replace(declared, name=f"tool_{index}") for index in range(number)]


def serve(tools: Sequence[Tool], uses: Callable[[], Awaitable[Mapping[str, int]]] | None = None) -> ToolServer:
    registry = Registry(tools)
    served = ServedTools(Dispatcher(registry, Services()), Listing(registry, Toolset("all"), uses))
    return build_server(
        lambda: served,
        version="1.2.3",
        instructions="",
        patience=1,
        surface="inside",
    )


def contents_of(result: CallToolResult) -> dict[str, Any]:
    """Return the parts of a result, without the server info that the modern era adds."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    error = (result.meta or {}).get("scrubjay/error")
    return {"text": block.text, "data": result.structured_content, "failed": result.is_error, "error": error}


def success(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "text": json.dumps(data, ensure_ascii=False, separators=(",", ":")),
        "data": data,
        "failed": False,
        "error": None,
    }


def failure(text: str, error: dict[str, Any]) -> dict[str, Any]:
    return {"text": text, "data": None, "failed": True, "error": error}


def collect_into(steps: Steps) -> ProgressFnT:
    async def collect(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    return collect


async def call_and_cancel(client: Client, name: str, arguments: dict[str, Any]) -> None:
    """Call the tool and cancel the call as soon as it reports progress."""
    with anyio.CancelScope() as call:

        async def cancel_call(progress: float, total: float | None, message: str | None) -> None:
            call.cancel()

        await client.call_tool(name, arguments, progress_callback=cancel_call)
    assert call.cancelled_caught
