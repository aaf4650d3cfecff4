"""Tool names and MCP methods that exist only for clients of do-memory-mcp."""
