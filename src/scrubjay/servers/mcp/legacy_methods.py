"""Methods that clients of the systems before us know: lists in brief, descriptions, batches, and other names."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    ErrorData,
    ListToolsResult,
    PaginatedRequestParams,
    RequestParams,
)
from mcp_types import Tool as ListedTool
from pydantic import ConfigDict, Field

from scrubjay.core.errors import InvalidRequest, ScrubjayError, UnknownTool
from scrubjay.servers.mcp.errors import error_data, protocol_error
from scrubjay.servers.mcp.resources import RequestContext
from scrubjay.tooling.profiles import METHODS

MOST_LISTED: Final = 200
_LIST_ALIASES: Final = ("tools.get", "tools/get", "list_tools", "list-tools")
_CALL_ALIASES: Final = "call_tool tool/call tools.call".split()  # noqa: SIM905 - methods, of which one is a tool's name
_BATCH: Final = "batch/execute"


class ListParams(PaginatedRequestParams):
    """What a client may ask of a list beside the place to go on from."""

    limit: int | None = Field(default=None, ge=1, le=MOST_LISTED)
    """How many at most."""
    lazy: bool = False
    """Names, titles and descriptions only."""


class DescribeParams(RequestParams):
    """Which tool to describe."""

    name: str


class DescribeBatchParams(RequestParams):
    """Which tools to describe."""

    names: list[str] = Field(max_length=MOST_LISTED)


class BatchParams(RequestParams):
    """What `batch_execute` takes."""

    operations: list[dict[str, Any]]
    mode: str = "parallel"
    max_parallel: int = 10


class ToolParams(RequestParams):
    """What any tool takes."""

    model_config = ConfigDict(extra="allow")


Listing = Callable[[RequestContext, ListParams], Awaitable[ListToolsResult]]
Calling = Callable[[RequestContext, CallToolRequestParams], Awaitable[CallToolResult]]
Asking = Callable[[RequestContext, str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""What a tool answers to these arguments."""


def add_methods(
    server: Server[dict[str, Any]],
    *,
    list_tools: Listing,
    call_tool: Calling,
    describe: Callable[[str], ListedTool],
    ask: Asking,
) -> None:
    """Let a server answer them. They need nothing of a session, so both eras have them."""

    async def describe_one(ctx: RequestContext, params: DescribeParams) -> dict[str, Any]:
        try:
            return {"tool": _wire(describe(params.name))}
        except UnknownTool as error:
            raise MCPError(METHOD_NOT_FOUND, "Tool not found", {"tool": params.name}) from error

    async def describe_many(ctx: RequestContext, params: DescribeBatchParams) -> dict[str, Any]:
        return {"tools": [_wire(tool) for tool in _known(params.names, describe)]}

    async def execute(ctx: RequestContext, params: BatchParams) -> dict[str, Any]:
        try:
            return await ask(ctx, _BATCH.replace("/", "_"), params.model_dump(exclude={"meta"}))
        except InvalidRequest as error:
            told: ErrorData = error_data(error, INTERNAL_ERROR)
            raise MCPError(INTERNAL_ERROR, "Batch execution failed", {"details": told.message}) from error
        except ScrubjayError as error:
            raise protocol_error(error) from error

    def asking(tool: str) -> Callable[[RequestContext, ToolParams], Awaitable[dict[str, Any]]]:
        async def answer(ctx: RequestContext, params: ToolParams) -> dict[str, Any]:
            try:
                return await ask(ctx, tool, params.model_dump(exclude={"meta"}))
            except ScrubjayError as error:
                code = INVALID_PARAMS if isinstance(error, InvalidRequest) else INTERNAL_ERROR
                raise MCPError.from_error_data(error_data(error, code)) from error

        return answer

    async def shut_down(ctx: RequestContext, params: ToolParams) -> dict[str, Any]:
        return {}  # that is done by whoever closes the connection

    for name in ("tools/list", *_LIST_ALIASES):
        server.add_request_handler(name, ListParams, list_tools)
    for name in _CALL_ALIASES:
        server.add_request_handler(name, CallToolRequestParams, call_tool)
    server.add_request_handler("tools/describe", DescribeParams, describe_one)
    server.add_request_handler("tools/describe_batch", DescribeBatchParams, describe_many)
    for method, tool in METHODS.items():
        server.add_request_handler(method, ToolParams, asking(tool))
    server.add_request_handler(_BATCH, BatchParams, execute)
    server.add_request_handler("shutdown", ToolParams, shut_down)


def in_brief(tool: ListedTool) -> ListedTool:
    """A tool without its schemas: whoever wants to call it asks for them."""
    return ListedTool(name=tool.name, title=tool.title, description=tool.description, input_schema={"type": "object"})


def _known(names: Sequence[str], describe: Callable[[str], ListedTool]) -> list[ListedTool]:
    found: list[ListedTool] = []
    for name in dict.fromkeys(names):
        try:
            found.append(describe(name))
        except UnknownTool:
            continue  # left out, as it is documented
    return found


def _wire(tool: ListedTool) -> dict[str, Any]:
    return tool.model_dump(mode="json", by_alias=True, exclude_none=True)
