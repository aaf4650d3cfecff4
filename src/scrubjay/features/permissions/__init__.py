"""Permission rules for agents: which tool calls are allowed, denied or need a question."""
