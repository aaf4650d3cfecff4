"""Tool to list memories page by page."""

from typing import Annotated

from pydantic import Field

from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import MemoryFilter, MemoryKind
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.views import MemoryView, memory_fields
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool


class ListMemoriesRequest(Request):
    model_config = examples({"limit": 20}, {"kinds": ["preference"], "offset": 50})

    limit: int = Field(default=50, ge=1, le=200, description="Maximum number of memories.")
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = Field(default=0, description="Number of memories to skip.")
    kinds: list[MemoryKind] = Field(
        default_factory=list[MemoryKind],
        description="Only these kinds of memories, such as preference, turn or summary.",
    )
    category: Label | None = Field(default=None, description="Only this category.")
    tags: list[Label] = Field(default_factory=list[str], max_length=100, description="Only with all of these tags.")
    scope: Scope | None = Field(default=None, description="Only memories of this scope.")
    session_id: Label | None = Field(default=None, description="Current session: its private memories are listed too.")
    from_session: Label | None = Field(default=None, description="Only memories stored in this session.")
    project: ProjectReference = None


class ListMemoriesResult(Result):
    memories: list[MemoryView] = Field(description="Memories of this page, newest first.")
    total: int = Field(description="Number of matching memories on all pages.")
    degraded: str | None = Field(description="Why memories of this page are left out; null if none are.")


@tool("memory", read_only=True, core=False)
async def list_memories(
    request: ListMemoriesRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> ListMemoriesResult:
    """List memories page by page, newest first. To find memories on a topic, use recall."""
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
    return ListMemoriesResult(
        memories=[MemoryView.of(memory_fields(one)) for one in page.memories],
        total=page.total,
        degraded=None,
    )
