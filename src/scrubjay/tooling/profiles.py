"""What the systems before us call their tools: so that one of them can be replaced in its place."""

from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.core.errors import InvalidRequest
from scrubjay.tooling.registry import Registry

# Each system's tools in the order of its own list.
_LISTS: Final = {
    "mimo": (
        "ask_mimo store_fact search_vibes mimo_reload_skills file terminal fetch think web_parse search sonar knowledge"
    ),
    "do-memory": (
        "query_memory execute_agent_code analyze_patterns health_check get_metrics advanced_pattern_analysis "
        "quality_metrics configure_embeddings query_semantic_memory test_embeddings search_patterns recommend_patterns "
        "bulk_episodes create_episode add_episode_step complete_episode get_episode delete_episode "
        "get_episode_timeline update_episode"
    ),
    "mira": (
        "session_start set_project get_project list_projects remember recall forget get_symbols semantic_code_search "
        "find_callers find_callees index summarize_codebase task goal session_history get_session_recap reply_to_mira"
    ),
    "mimir": "ensure_repo_index search_repo ask_index get_repo_bundle cancel",
    "neo": (
        "healthcheck start_database stop_database add_memory get_session_memories query_raw_memories get_all_summaries "
        "query_summaries delete_all_summaries summarize_sessions export_database import_database"
    ),
}
# Methods of do-memory's own, each with the tool that answers it.
METHODS: Final[Mapping[str, str]] = {
    "health": "health_check",
    "health/check": "health_check",
    "embedding/config": "configure_embeddings",
}
# What Mimo's sandbox refuses by name; all else that changes something is refused there as well.
NOT_IN_SANDBOX: Final = frozenset({"store_fact", "recall_procedure", "mimo_store_memory"})
PROFILES: Final[Mapping[str, Sequence[str]]] = {name: told.split() for name, told in _LISTS.items()}


def tools_of(profile: str, registry: Registry) -> str:
    """A system's tools as a toolset, as far as there are such tools here."""
    if profile not in PROFILES:
        raise InvalidRequest(f"there is no profile called {profile!r}", hint=f"there are {', '.join(PROFILES)}")
    return ",".join(f"={name}" for name in PROFILES[profile] if name in registry)
