"""What exists only for clients of do-memory-mcp."""
