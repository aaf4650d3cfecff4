"""The parameters of `tools/list`, and the interface for adding methods to a server."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams
from mcp_types import Tool as ListedTool
from pydantic import Field

from scrubjay.servers.mcp.resources import RequestContext

MAX_LIMIT: Final = 200


class ListParams(PaginatedRequestParams):
    """Parameters of `tools/list`."""

    limit: int | None = Field(default=None, ge=1, le=MAX_LIMIT)
    """The largest number of tools."""
    lazy: bool = False
    """Return names, titles and descriptions only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMethods:
    """The functions from which additional methods can be built."""

    list_tools: Callable[[RequestContext, ListParams], Awaitable[ListToolsResult]]
    call_tool: Callable[[RequestContext, CallToolRequestParams], Awaitable[CallToolResult]]
    describe: Callable[[str], ListedTool]
    """Raises `UnknownTool`."""
    call_json: Callable[[RequestContext, str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
    """Calls a tool and returns its result as JSON data."""


AddMethods = Callable[[Server[dict[str, Any]], ToolMethods], None]


def without_schemas(tool: ListedTool) -> ListedTool:
    """Return a tool without its schemas, which `tools/describe` returns."""
    return ListedTool(name=tool.name, title=tool.title, description=tool.description, input_schema={"type": "object"})
