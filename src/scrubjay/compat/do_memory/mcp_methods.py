"""MCP methods of do-memory: tool descriptions, batches, health and aliases of standard methods."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    ErrorData,
    RequestParams,
)
from mcp_types import Tool as ListedTool
from pydantic import ConfigDict, Field

from scrubjay.core.errors import InvalidRequest, ScrubjayError, UnknownTool
from scrubjay.servers.mcp.errors import error_data, protocol_error
from scrubjay.servers.mcp.resources import RequestContext
from scrubjay.servers.mcp.tool_methods import MAX_LIMIT, ListParams, ToolMethods

# Method name -> tool that answers it.
_TOOL_METHODS: Final[Mapping[str, str]] = {
    "health": "health_check",
    "health/check": "health_check",
    "embedding/config": "configure_embeddings",
}
_LIST_ALIASES: Final = ("tools.get", "tools/get", "list_tools", "list-tools")
_CALL_ALIASES: Final = "call_tool tool/call tools.call".split()  # noqa: SIM905 - a literal list would look like tool names
_BATCH: Final = "batch/execute"


class DescribeParams(RequestParams):
    """Parameters of `tools/describe`."""

    name: str


class DescribeBatchParams(RequestParams):
    """Parameters of `tools/describe_batch`."""

    names: list[str] = Field(max_length=MAX_LIMIT)


class BatchParams(RequestParams):
    """Parameters of `batch/execute`."""

    operations: list[dict[str, Any]]
    mode: str = "parallel"
    max_parallel: int = 10


class ToolParams(RequestParams):
    """Parameters that are passed to a tool unchanged."""

    model_config = ConfigDict(extra="allow")


def add_methods(server: Server[dict[str, Any]], methods: ToolMethods) -> None:
    """Add these methods to a server. They need no session, so both handshake and stateless clients can call them."""
    describe, ask = methods.describe, methods.call_json

    async def describe_one(ctx: RequestContext, params: DescribeParams) -> dict[str, Any]:
        try:
            return {"tool": _to_json(describe(params.name))}
        except UnknownTool as error:
            raise MCPError(METHOD_NOT_FOUND, "Tool not found", {"tool": params.name}) from error

    async def describe_many(ctx: RequestContext, params: DescribeBatchParams) -> dict[str, Any]:
        return {"tools": [_to_json(tool) for tool in _describe_known(params.names, describe)]}

    async def execute(ctx: RequestContext, params: BatchParams) -> dict[str, Any]:
        try:
            return await ask(ctx, _BATCH.replace("/", "_"), params.model_dump(exclude={"meta"}))
        except InvalidRequest as error:
            data: ErrorData = error_data(error, INTERNAL_ERROR)
            raise MCPError(INTERNAL_ERROR, "Batch execution failed", {"details": data.message}) from error
        except ScrubjayError as error:
            raise protocol_error(error) from error

    def call_with(tool: str) -> Callable[[RequestContext, ToolParams], Awaitable[dict[str, Any]]]:
        async def answer(ctx: RequestContext, params: ToolParams) -> dict[str, Any]:
            try:
                return await ask(ctx, tool, params.model_dump(exclude={"meta"}))
            except ScrubjayError as error:
                code = INVALID_PARAMS if isinstance(error, InvalidRequest) else INTERNAL_ERROR
                raise MCPError.from_error_data(error_data(error, code)) from error

        return answer

    async def shut_down(ctx: RequestContext, params: ToolParams) -> dict[str, Any]:
        return {}  # closing the connection is what ends the server

    for name in _LIST_ALIASES:
        server.add_request_handler(name, ListParams, methods.list_tools)
    for name in _CALL_ALIASES:
        server.add_request_handler(name, CallToolRequestParams, methods.call_tool)
    server.add_request_handler("tools/describe", DescribeParams, describe_one)
    server.add_request_handler("tools/describe_batch", DescribeBatchParams, describe_many)
    for method, tool in _TOOL_METHODS.items():
        server.add_request_handler(method, ToolParams, call_with(tool))
    server.add_request_handler(_BATCH, BatchParams, execute)
    server.add_request_handler("shutdown", ToolParams, shut_down)


def _describe_known(names: Sequence[str], describe: Callable[[str], ListedTool]) -> list[ListedTool]:
    found: list[ListedTool] = []
    for name in dict.fromkeys(names):
        try:
            found.append(describe(name))
        except UnknownTool:
            continue  # do-memory documents that unknown names are omitted
    return found


def _to_json(tool: ListedTool) -> dict[str, Any]:
    return tool.model_dump(mode="json", by_alias=True, exclude_none=True)
