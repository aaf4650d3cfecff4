"""The toy tools, called by the official client through every door and in both eras."""

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
from scrubjay.tooling.served_tools import Offering
from scrubjay.tooling.services import Services
from tests.servers.mcp.toys import INSTRUCTIONS, PATIENCE, TOYS, echo

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


async def test_the_server_tells_who_it_is_and_what_it_can(client: Client, door: str) -> None:
    assert client.protocol_version == ("2026-07-28" if door.endswith("modern") else "2025-11-25")
    assert client.instructions == INSTRUCTIONS
    assert client.server_info
    assert (client.server_info.name, client.server_info.version) == ("scrubjay", "1.2.3")
    assert client.server_capabilities.model_dump(by_alias=True, exclude_none=True) == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": door.endswith("modern")},
    }


async def test_a_result_is_data_with_the_same_as_text_beside_it(client: Client) -> None:
    result = await client.call_tool("echo", {"text": "hällo ", "times": 2})
    assert told(result) == answer({"text": "hällo hällo ", "note": None})


async def test_every_tool_can_be_called_listed_or_not(client: Client) -> None:
    assert told(await client.call_tool("hidden")) == answer({"text": "found", "note": None})


@pytest.mark.parametrize("code", [code for code in ErrorCode if code is not ErrorCode.UNKNOWN_TOOL])
async def test_a_failing_tool_says_why_and_what_to_do(client: Client, code: ErrorCode) -> None:
    assert told(await client.call_tool("fail", {"code": code})) == failure(
        "it went wrong\nHint: do it right",
        {"code": code, "message": "it went wrong", "hint": "do it right", "details": {"tries": 1}},
    )


async def test_a_tool_with_a_bug_tells_no_secrets(client: Client) -> None:
    result = await client.call_tool("break_down")
    assert result.is_error
    assert result.meta
    assert result.meta["scrubjay/error"]["code"] == "internal"
    assert "secret" not in result.model_dump_json()


async def test_arguments_that_do_not_fit_are_a_failure_that_a_model_can_read(client: Client) -> None:
    assert told(await client.call_tool("echo", {"txt": "hello"})) == failure(
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
        "message": "there is no tool called 'ecko'\nHint: did you mean echo?",
        "data": {
            "code": "unknown_tool",
            "message": "there is no tool called 'ecko'",
            "hint": "did you mean echo?",
            "details": {"nearest": ["echo"]},
        },
    }


async def test_text_that_is_not_unicode_stops_neither_progress_nor_answer(client: Client) -> None:
    steps: Steps = []
    with anyio.fail_after(5):
        result = await client.call_tool("name_strange_file", progress_callback=keeping(steps))
    assert steps == [(1, None, "read ?.txt")]
    assert told(result) == answer({"text": "?.txt", "note": None})


async def test_progress_is_told_step_by_step(client: Client) -> None:
    steps: Steps = []
    result = await client.call_tool("count", {"to": 3}, progress_callback=keeping(steps))
    assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    assert told(result) == answer({"counted": 3})


async def test_progress_only_ever_grows(client: Client) -> None:
    steps: Steps = []
    await client.call_tool("stumble", progress_callback=keeping(steps))
    assert steps == [(0, None, None), (2, None, None), (3, None, None)]


async def test_a_client_that_gives_up_stops_the_work(client: Client) -> None:
    with anyio.fail_after(5):
        await give_up(client, "hang", {})
        assert told(await client.call_tool("was_stopped")) == answer({"stopped": True})


async def test_a_job_that_ends_in_time_is_answered_with_its_result(client: Client) -> None:
    steps: Steps = []
    result = await client.call_tool("dig", {"to": 3}, progress_callback=keeping(steps))
    assert result.structured_content["state"] == "completed"
    assert result.structured_content["result"] == {"counted": 3}
    assert steps == sorted(steps)


async def test_a_job_that_takes_longer_is_handed_back(client: Client) -> None:
    steps: Steps = []
    result = await client.call_tool("dig", {"to": 1000}, progress_callback=keeping(steps))
    view = result.structured_content
    assert (view["tool"], view["state"], view["result"]) == ("dig", "running", None)
    assert view["progress"] == {"done": 100, "total": 1000, "message": "stuck"}
    assert steps[-1][:2] == (100, 1000)


async def test_a_client_that_gives_up_waiting_cancels_the_job(client: Client) -> None:
    with anyio.fail_after(10):
        await give_up(client, "dig", {"to": 1000})
        assert told(await client.call_tool("last_job")) == answer({"state": "cancelled"})


async def test_a_call_knows_where_it_came_from(client: Client, door: str) -> None:
    caller = (await client.call_tool("who")).structured_content
    told: str | None = caller.pop("client")
    transport = door.partition("-")[0]
    surface = "inside" if transport == "inside" else f"mcp-{transport}"
    assert caller == {"surface": surface, "working_directory": "/toys", "patience": PATIENCE}
    match door:
        case "stdio-handshake" | "stdio-modern":
            assert told == "stdio:toys"
        case "http-handshake":
            assert told
            assert told.startswith("mcp:")
            assert (await client.call_tool("who")).structured_content["client"] == told
        case _:
            assert told is None


async def test_clients_of_both_eras_are_told_that_the_list_changed(
    client: Client, door: str, heard: list[IncomingMessage]
) -> None:
    with anyio.fail_after(5):
        if door.endswith("modern"):
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("change_list")
                assert await anext(aiter(changes)) == ToolsListChanged()
        else:
            # Over HTTP the client opens its stream for such messages a little later, and misses what comes before.
            while not any(isinstance(message, ToolListChangedNotification) for message in heard):
                await client.call_tool("change_list")


async def test_a_modern_client_may_keep_the_list_for_a_while() -> None:
    async with Client(serve([])) as client:
        listed = await client.list_tools()
        assert (listed.ttl_ms, listed.cache_scope) == (300_000, "private")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_long_list_comes_in_pages(mode: str) -> None:
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
async def test_a_cursor_that_is_not_ours_is_refused(cursor: str) -> None:
    async with Client(serve(many_tools(60)), mode="legacy") as client:
        with pytest.raises(MCPError) as caught:
            await client.list_tools(cursor=cursor)
    assert caught.value.code == INVALID_PARAMS


async def test_a_list_that_cannot_be_had_is_a_typed_error() -> None:
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
async def test_nothing_is_looked_at_before_a_client_asks(mode: str) -> None:
    looks = 0

    async def uses() -> Mapping[str, int]:
        nonlocal looks
        looks += 1
        return {}

    async with Client(serve([], uses), mode=mode) as client:
        assert looks == 0
        await client.list_tools()
        assert looks == 1


def test_input_schemas_are_found_without_a_list() -> None:
    server = serve([echo])
    assert server.get_tool_input_schema
    assert server.get_tool_input_schema("echo") == echo.input_schema
    assert server.get_tool_input_schema("ecko") is None


async def test_a_client_that_left_is_forgotten() -> None:
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
    offering = Offering(Dispatcher(registry, Services()), Listing(registry, Toolset("all"), uses))
    return build_server(
        lambda: offering,
        version="1.2.3",
        instructions="",
        patience=1,
        surface="inside",
    )


def told(result: CallToolResult) -> dict[str, Any]:
    """All that a result says, without the server's name that the modern era adds to each."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    error = (result.meta or {}).get("scrubjay/error")
    return {"text": block.text, "data": result.structured_content, "failed": result.is_error, "error": error}


def answer(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "text": json.dumps(data, ensure_ascii=False, separators=(",", ":")),
        "data": data,
        "failed": False,
        "error": None,
    }


def failure(text: str, error: dict[str, Any]) -> dict[str, Any]:
    return {"text": text, "data": None, "failed": True, "error": error}


def keeping(steps: Steps) -> ProgressFnT:
    async def keep(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    return keep


async def give_up(client: Client, name: str, arguments: dict[str, Any]) -> None:
    """Call the tool, and leave as soon as it tells that it has begun."""
    with anyio.CancelScope() as call:

        async def leave(progress: float, total: float | None, message: str | None) -> None:
            call.cancel()

        await client.call_tool(name, arguments, progress_callback=leave)
    assert call.cancelled_caught
