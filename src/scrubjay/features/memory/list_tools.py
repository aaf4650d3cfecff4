"""Memories one after another, for whoever wants to see what is kept rather than to ask."""

from typing import Annotated

from pydantic import Field

from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import Kind, MemoryFilter
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.views import MemoryView, memory_fields
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool


class ListMemoriesRequest(Request):
    model_config = examples({"limit": 20}, {"kinds": ["preference"], "offset": 50})

    limit: int = Field(default=50, ge=1, le=200, description="How many at most.")
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = Field(default=0, description="How many are passed over.")
    kinds: list[Kind] = Field(
        default_factory=list[Kind], description="Only these kinds of memories, such as preference, turn or summary."
    )
    category: Label | None = Field(default=None, description="Only this category.")
    tags: list[Label] = Field(default_factory=list[str], max_length=100, description="Only with all of these tags.")
    scope: Scope | None = Field(default=None, description="Only memories of this scope.")
    session_id: Label | None = Field(
        default=None, description="The session that asks: its private memories are listed too."
    )
    from_session: Label | None = Field(default=None, description="Only what was remembered in this session.")
    project: ProjectReference = None


class ListMemoriesResult(Result):
    memories: list[MemoryView] = Field(description="What happened or was remembered last comes first.")
    total: int = Field(description="How many there are.")


@tool("memory", read_only=True, core=False)
async def list_memories(
    request: ListMemoriesRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> ListMemoriesResult:
    """List what is remembered here, the newest first, a page at a time. To find something, use recall."""
    page = await memory.page(
        Visibility(await project_id_of(request.project, projects, context), request.session_id),
        MemoryFilter(
            scope=request.scope,
            category=request.category,
            tags=tuple(dict.fromkeys(request.tags)),
            from_session=request.from_session,
            kinds=tuple(dict.fromkeys(request.kinds)),
        ),
        newest_first=True,
        limit=request.limit,
        offset=request.offset,
    )
    return ListMemoriesResult(memories=[MemoryView.of(memory_fields(one)) for one in page.memories], total=page.total)
