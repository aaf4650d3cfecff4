"""Tools about tools: search, describe, call."""

from typing import Any

from pydantic import Field

from scrubjay.core.errors import InvalidRequest
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, Tool, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.tool_search import search

ToolName = Field(min_length=1, max_length=100, description="The tool's name.")


class SearchToolsRequest(Request):
    model_config = examples({"query": "stop a running job"})

    query: str = Field(max_length=1_000, description="What you want to do, in plain words; empty returns all tools.")
    family: str | None = Field(default=None, min_length=1, max_length=100, description="Only tools of this family.")
    limit: int = Field(default=10, ge=1, le=200, description="Maximum number of tools to return.")


class FoundTool(Result):
    """A tool in brief."""

    name: str
    family: str
    summary: str
    read_only: bool
    destructive: bool


class SearchToolsResult(Result):
    tools: list[FoundTool] = Field(description="Best match first.")
    total: int = Field(description="Number of matching tools.")


class DescribeToolRequest(Request):
    model_config = examples({"name": "recall"})

    name: str = ToolName


class DescribeToolResult(Result):
    name: str
    family: str
    title: str
    description: str
    input_schema: dict[str, Any] = Field(description="JSON Schema of the arguments.")
    output_schema: dict[str, Any] = Field(description="JSON Schema of the result.")
    read_only: bool
    destructive: bool
    idempotent: bool
    runs_as_job: bool = Field(description="Long-running: the call may return a job to poll with get_job.")


class CallToolRequest(Request):
    model_config = examples({"name": "recall", "arguments": {"query": "what do we know about the parser?"}})

    name: str = ToolName
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any], description="The tool's arguments.")


class CallToolResult(Result):
    tool: str
    result: dict[str, Any] = Field(description="The result of the tool.")


@tool("tools", read_only=True)
async def search_tools(request: SearchToolsRequest, dispatcher: Dispatcher) -> SearchToolsResult:
    """Find tools by what they do. Tools that are not listed can be called too."""
    found = search(dispatcher.registry, request.query, request.family)
    return SearchToolsResult(tools=[_brief(match) for match in found[: request.limit]], total=len(found))


@tool("tools", read_only=True)
async def describe_tool(request: DescribeToolRequest, dispatcher: Dispatcher) -> DescribeToolResult:
    """Show everything about one tool: what it does, its arguments and its result as JSON Schema."""
    described = dispatcher.registry.get(request.name)
    return DescribeToolResult(
        name=described.name,
        family=described.family,
        title=described.title,
        description=described.description,
        input_schema=described.input_schema,
        output_schema=described.output_schema,
        read_only=described.read_only,
        destructive=described.destructive,
        idempotent=described.idempotent,
        runs_as_job=described.runs_as_job,
    )


@tool("tools", destructive=True, log_payload=False, relays=True)  # the call it makes is logged itself
async def call_tool(request: CallToolRequest, dispatcher: Dispatcher, context: CallContext) -> CallToolResult:
    """Call any tool by name, including unlisted ones. Arguments are validated as in a direct call."""
    if request.name == call_tool.name:
        raise InvalidRequest("call_tool cannot call itself", hint="give the name of another tool")
    answer = await dispatcher.call(request.name, request.arguments, context)
    return CallToolResult(tool=request.name, result=answer.model_dump(mode="json"))


def _brief(found: Tool) -> FoundTool:
    return FoundTool(
        name=found.name,
        family=found.family,
        summary=found.summary,
        read_only=found.read_only,
        destructive=found.destructive,
    )
