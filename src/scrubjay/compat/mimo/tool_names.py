"""Names of Mimo's tools."""

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
"""In the order in which Mimo lists them."""

# Mimo's sandbox refuses these by name, in addition to every tool that writes.
NOT_IN_SANDBOX: Final = frozenset({"store_fact", "recall_procedure", "mimo_store_memory"})
