"""Offer the tools of other MCP servers ("skills") under prefixed names.

Each configuration is validated before anything runs. A server starts with its first call, restarts after a crash (at
most 3 times in 5 seconds) and ends with this process. Answers are forwarded unchanged; the feature does not judge
them, and it knows none of our own tools.
"""
