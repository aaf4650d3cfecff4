"""Names of Neo's tools."""

from typing import Final

TOOLS: Final = (
    "healthcheck",
    "start_database",
    "stop_database",
    "add_memory",
    "get_session_memories",
    "query_raw_memories",
    "get_all_summaries",
    "query_summaries",
    "delete_all_summaries",
    "summarize_sessions",
    "export_database",
    "import_database",
)
"""In the order in which Neo lists them."""

FLAT_JOBS: Final = frozenset({"summarize_sessions", "export_database", "import_database"})
"""Neo knows no jobs: these answer when they are done."""
