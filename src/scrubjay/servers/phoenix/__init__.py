"""The Synapse channel: questions and tool calls with live progress, over a WebSocket in Phoenix's wire format."""
