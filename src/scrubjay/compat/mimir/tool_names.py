"""Names of Mimir's tools."""

from typing import Final

TOOLS: Final = (
    "ensure_repo_index",
    "search_repo",
    "ask_index",
    "get_repo_bundle",
    "cancel",
)
"""In the order in which Mimir lists them."""
