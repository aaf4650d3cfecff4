"""Names of do-memory's tools."""

from typing import Final

TOOLS: Final = (
    "query_memory",
    "execute_agent_code",
    "analyze_patterns",
    "health_check",
    "get_metrics",
    "advanced_pattern_analysis",
    "quality_metrics",
    "configure_embeddings",
    "query_semantic_memory",
    "test_embeddings",
    "search_patterns",
    "recommend_patterns",
    "bulk_episodes",
    "create_episode",
    "add_episode_step",
    "complete_episode",
    "get_episode",
    "delete_episode",
    "get_episode_timeline",
    "update_episode",
)
"""In the order in which do-memory lists them."""
