"""Other MCP servers, whose tools become ours: checked, started when called, restarted, reloaded. Knows none of our own."""
