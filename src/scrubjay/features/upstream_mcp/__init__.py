"""Other MCP servers whose tools become ours: checked, started when called, restarted. Knows none of our own tools."""
