"""The catalogue: every tool, declared once; a module per family."""

from recollect.tools.asking import ask_mimo, explain_routing
from recollect.tools.bundles import get_repo_bundle, open_repo_bundle
from recollect.tools.catalogue import call_tool, describe_tool, search_tools
from recollect.tools.code import find_callees, find_callers, get_symbols, index, semantic_code_search
from recollect.tools.code_graph import impact, repo_map, trace
from recollect.tools.database import healthcheck, start_database, stop_database
from recollect.tools.embeddings import configure_embeddings, embed_memories, test_embeddings
from recollect.tools.facts import extract_facts, search_vibes, store_fact
from recollect.tools.forgetting import forget_faded, memory_health, protect_memory, unprotect_memory
from recollect.tools.jobs import cancel_job, get_job, list_jobs
from recollect.tools.memory import correct, forget, memory_history, recall, remember, remember_many
from recollect.tools.modules import summarize_codebase
from recollect.tools.projects import get_project, list_projects, set_project
from recollect.tools.repo_resources import index_bundle, index_log, index_manifest, index_status, repo_status
from recollect.tools.repositories import ask_index, build_repo_index, cancel, ensure_repo_index, search_repo
from recollect.tools.server import compact_index, health_check, rebuild_derived
from recollect.tools.sessions import end_session, export_session, get_session_recap, session_history, session_start
from recollect.tools.summaries import (
    delete_all_summaries,
    get_all_summaries,
    keep_summaries,
    query_summaries,
    summarize_sessions,
)
from recollect.tools.transfer import export_database, import_database
from recollect.tools.turns import add_memory, get_session_memories, query_raw_memories
from recollect.tools.working import (
    consolidate,
    working_clear,
    working_delete,
    working_get,
    working_mark,
    working_put,
    working_recent,
    working_search,
    working_stats,
)

ALL = (
    remember,
    recall,
    remember_many,
    forget,
    memory_history,
    correct,
    add_memory,
    get_session_memories,
    query_raw_memories,
    summarize_sessions,
    get_all_summaries,
    query_summaries,
    delete_all_summaries,
    keep_summaries,
    store_fact,
    search_vibes,
    extract_facts,
    ask_mimo,
    explain_routing,
    ensure_repo_index,
    build_repo_index,
    search_repo,
    ask_index,
    cancel,
    get_repo_bundle,
    open_repo_bundle,
    index,
    get_symbols,
    semantic_code_search,
    find_callers,
    find_callees,
    impact,
    trace,
    repo_map,
    summarize_codebase,
    set_project,
    get_project,
    list_projects,
    session_start,
    session_history,
    get_session_recap,
    end_session,
    export_session,
    search_tools,
    describe_tool,
    call_tool,
    get_job,
    list_jobs,
    cancel_job,
    protect_memory,
    unprotect_memory,
    memory_health,
    forget_faded,
    health_check,
    healthcheck,
    start_database,
    stop_database,
    rebuild_derived,
    compact_index,
    configure_embeddings,
    test_embeddings,
    embed_memories,
    export_database,
    import_database,
    working_put,
    working_get,
    working_recent,
    working_search,
    working_mark,
    working_delete,
    working_clear,
    working_stats,
    consolidate,
)

RESOURCES = (repo_status, index_status, index_manifest, index_log, index_bundle)
