"""How a typed function becomes a tool. Knows no protocol and no domain service."""
