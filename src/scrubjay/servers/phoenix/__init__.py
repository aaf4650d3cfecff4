"""The live channel: questions with their thoughts, and calls of tools, over a WebSocket that speaks Phoenix."""
