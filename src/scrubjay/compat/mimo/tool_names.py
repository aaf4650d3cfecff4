"""The names of Mimo's tools."""

from typing import Final

TOOLS: Final = (
    "ask_mimo",
    "store_fact",
    "search_vibes",
    "mimo_reload_skills",
    "file",
    "terminal",
    "fetch",
    "think",
    "web_parse",
    "search",
    "sonar",
    "knowledge",
)
"""In the order of Mimo's own list."""

# Mimo's sandbox refuses these by name, and everything else that changes something.
NOT_IN_SANDBOX: Final = frozenset({"store_fact", "recall_procedure", "mimo_store_memory"})
