"""A test skill: a real MCP server on the SDK with well-behaved and misbehaving tools."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import CallToolResult, ResourceLink, TextContent, ToolAnnotations

server = MCPServer("child", version="1")


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=True, title="Adding"))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def environment() -> dict[str, str]:
    """Return the program's whole environment."""
    return dict(os.environ)


@server.tool()
def request_of(ctx: Context[Any, Any]) -> dict[str, Any]:
    """Return the metadata of the call."""
    return {name: value for name, value in (ctx.request_context.meta or {}).items() if isinstance(value, str)}


@server.tool()
def fail(text: str) -> str:
    """Fail with a message."""
    raise ValueError(text)


@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=b"not really", format="png")


@server.tool()
def link() -> Annotated[CallToolResult, dict[str, Any]]:
    """A link to a resource, with data and a note."""
    return CallToolResult(
        content=[ResourceLink(type="resource_link", uri="file:///x", name="x"), TextContent(text="see x")],
        structured_content={"x": [1, None, {"y": "z"}]},
        _meta={"a/b": 1},
    )


@server.tool()
async def slow(steps: int, ctx: Context[Any, Any], note: str = "") -> str:
    """Report each step; write a note when cancelled."""
    try:
        for step in range(steps):
            await ctx.report_progress(step + 1, steps, f"step {step + 1}")
            await anyio.sleep(0.05)
    except anyio.get_cancelled_exc_class():
        Path(note).write_text("stopped")  # noqa: ASYNC240
        raise
    return "done"


@server.tool()
async def wait_for(path: str) -> str:
    """Wait until a file exists."""
    while not await anyio.Path(path).exists():  # noqa: ASYNC110  # another process creates it
        await anyio.sleep(0.01)
    return "seen"


@server.tool()
async def hang() -> str:
    """Block forever."""
    while True:
        time.sleep(60)  # noqa: ASYNC251  # blocks the event loop on purpose


@server.tool()
def die(words: str) -> str:
    """Write to standard error and exit during the call."""
    sys.stderr.write(words + "\n")
    sys.stderr.flush()
    os._exit(3)


@server.tool()
def flood(megabytes: int) -> str:
    """Write megabytes to standard error."""
    line = "complaint " * 100 + "\n"
    for _ in range(megabytes * 1024 * 1024 // len(line)):
        sys.stderr.write(line)
    sys.stderr.flush()
    return "complained"


@server.tool()
def garbage() -> str:
    """Print lines that are not messages."""
    os.write(1, b'hello there\n{"half": \n\xff\xfe\n[1, 2]\n')
    return "printed"


@server.tool()
def offspring(detached: bool) -> int:
    """Start a program that runs for an hour; return its process id."""
    return subprocess.Popen(["sleep", "3600"], stdout=subprocess.DEVNULL, start_new_session=detached).pid


@server.tool()
async def learn(name: str, ctx: Context[Any, Any]) -> str:
    """Add a tool."""

    def learned() -> str:
        return name

    server.add_tool(learned, name=name, description="Learned.")
    await ctx.session.send_tool_list_changed()
    await ctx.notify_tools_changed()
    return "learned"


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
