"""Reference for MCP: the smallest server that the SDK can make, with one trivial tool."""

from mcp.server import MCPServer

server = MCPServer("bare")


@server.tool()
async def echo(text: str) -> str:
    """Return the text."""
    return text


if __name__ == "__main__":
    server.run("stdio")
