"""Fixture tools with our own declarations; the suite calls them through the registry and the dispatcher."""

from collections.abc import Sequence
from typing import Any

import anyio
from mcp.server.subscriptions import PromptsListChanged
from pydantic import Field

from scrubjay.core.errors import Conflict
from scrubjay.core.progress import Reporter
from scrubjay.servers.mcp.server import ToolServer
from scrubjay.tooling.declaration import Request, Result, Tool, tool

# The suite requires exactly this schema; the server must pass it on unchanged.
SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class NoRequest(Request):
    pass


class RegionRequest(Request):
    region: str = Field(default="", description="Where to look.", json_schema_extra={"x-mcp-header": "Region"})


class SchemaRequest(Request):
    @classmethod
    def model_json_schema(cls, *arguments: Any, **options: Any) -> dict[str, Any]:
        return SCHEMA_2020_12


class TextResult(Result):
    text: str = Field(description="The text that the suite expects.")


@tool("conformance", read_only=True)
async def test_simple_text(request: NoRequest) -> TextResult:
    """Return a text."""
    return TextResult(text="This is a simple text response for testing.")


@tool("conformance", read_only=True)
async def test_error_handling(request: NoRequest) -> TextResult:
    """Always fail."""
    raise Conflict("This tool intentionally returns an error for testing")


@tool("conformance", read_only=True)
async def test_tool_with_progress(request: NoRequest, reporter: Reporter) -> TextResult:
    """Report three steps."""
    for done in (0, 50, 100):
        await reporter.report(done, 100)
        await anyio.sleep(0.05)
    return TextResult(text="done")


@tool("conformance")
async def test_trigger_tool_change(request: NoRequest, server: ToolServer) -> TextResult:
    """Announce a change of the list of tools."""
    await server.announce_tools_changed()
    return TextResult(text="announced")


@tool("conformance")
async def test_trigger_prompt_change(request: NoRequest, server: ToolServer) -> TextResult:
    """Announce a change of the list of prompts."""
    await server.changes.publish(PromptsListChanged())
    return TextResult(text="announced")


@tool("conformance", read_only=True)
async def test_custom_headers(request: RegionRequest) -> TextResult:
    """Accept a parameter that HTTP clients repeat in a header."""
    return TextResult(text=request.region)


@tool("conformance", read_only=True)
async def json_schema_2020_12_tool(request: SchemaRequest) -> TextResult:
    """Accept arguments with a rich schema."""
    return TextResult(text="fits")


DECLARED: Sequence[Tool] = (
    test_simple_text,
    test_error_handling,
    test_tool_with_progress,
    test_trigger_tool_change,
    test_trigger_prompt_change,
    test_custom_headers,
    json_schema_2020_12_tool,
)
