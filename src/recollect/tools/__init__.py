"""The catalogue: every tool, declared once; a module per family, loaded when one of its tools is first asked for."""

from recollect.toolkit.catalogue import Catalogue

# A family, the module that declares its tools (a large family has several), and the tools, in the order of the list.
ALL = Catalogue(
    __name__,
    "memory memory remember recall remember_many forget memory_history correct",
    "memory grounding review_stale",
    "turns turns add_memory get_session_memories query_raw_memories",
    "summaries summaries summarize_sessions get_all_summaries query_summaries delete_all_summaries keep_summaries",
    "facts facts store_fact search_vibes mimo_search_memory extract_facts",
    "asking asking ask_mimo explain_routing",
    "code repositories ensure_repo_index build_repo_index search_repo ask_index cancel",
    "code bundles get_repo_bundle open_repo_bundle",
    "code indexing index",
    "code code get_symbols semantic_code_search find_callers find_callees",
    "code watching watch_repo keep_repo_index",
    "code code_graph impact trace repo_map",
    "code diff_impact diff_impact",
    "code patterns search_pattern search_structure",
    "code several search_repos repo_links",
    "code modules summarize_codebase",
    "projects projects set_project get_project list_projects",
    "sessions sessions session_start session_history get_session_recap end_session export_session",
    "tools catalogue search_tools describe_tool call_tool",
    "tools batching batch_execute",
    "jobs jobs get_job list_jobs cancel_job",
    "memory forgetting protect_memory unprotect_memory memory_health forget_faded",
    "server server health_check",
    "database database healthcheck start_database stop_database",
    "server server rebuild_derived compact_index",
    "skills skills skills_status mimo_reload_skills validate_skill",
    "server operations cortex_status audit_log",
    "embeddings embeddings configure_embeddings test_embeddings embed_memories",
    "transfer transfer export_database import_database",
    "working working working_put working_get working_recent working_search working_mark working_delete working_clear",
    "working working working_stats consolidate",
)
