"""The catalogue: every tool, declared once; a module per family."""

from recollect.tools.catalogue import call_tool, describe_tool, search_tools
from recollect.tools.embeddings import configure_embeddings, embed_memories, test_embeddings
from recollect.tools.jobs import cancel_job, get_job, list_jobs
from recollect.tools.memory import forget, recall, remember, remember_many
from recollect.tools.projects import get_project, list_projects, set_project
from recollect.tools.server import compact_index, health_check, rebuild_derived

ALL = (
    remember,
    recall,
    remember_many,
    forget,
    set_project,
    get_project,
    list_projects,
    search_tools,
    describe_tool,
    call_tool,
    get_job,
    list_jobs,
    cancel_job,
    health_check,
    rebuild_derived,
    compact_index,
    configure_embeddings,
    test_embeddings,
    embed_memories,
)
