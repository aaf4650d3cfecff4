"""Names of Mira's tools."""

from typing import Final

TOOLS: Final = (
    "session_start",
    "set_project",
    "get_project",
    "list_projects",
    "remember",
    "recall",
    "forget",
    "get_symbols",
    "semantic_code_search",
    "find_callers",
    "find_callees",
    "index",
    "summarize_codebase",
    "task",
    "goal",
    "session_history",
    "get_session_recap",
    "reply_to_mira",
)
"""In the order in which Mira lists them."""
