"""Tools to list memories page by page, and to read one of them."""

from typing import Annotated

from pydantic import Field

from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import MemoryFilter, MemoryKind
from scrubjay.features.memory.passages import part_of
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.views import MemoryView, memory_fields, shown_fields
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


class ReadMemoryRequest(Request):
    model_config = examples({"id": "mem_0123456789"}, {"id": "mem_0123456789", "start": 4000, "length": 2000})

    id: Label = Field(description="Id of the memory.")
    start: Annotated[int, Field(ge=0, le=1_000_000_000)] = Field(default=0, description="Number of characters to skip.")
    length: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = Field(
        default=None, description="Maximum characters of content. Default: all."
    )
    session_id: Label | None = Field(default=None, description="Session, for one of its private memories.")
    project: ProjectReference = None


class ReadMemoryResult(Result):
    memory: MemoryView = Field(description="The memory. If only a part was read, passage is the place of content.")


@tool("memory", read_only=True, core=False)
async def read_memory(
    request: ReadMemoryRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> ReadMemoryResult:
    """Read one memory by its id: its whole text, however long, or a part of it."""
    visibility = Visibility(await project_id_of(request.project, projects, context), request.session_id)
    found = await memory.get(request.id, visibility)
    if request.start == 0 and request.length is None:
        return ReadMemoryResult(memory=MemoryView.of(memory_fields(found)))
    length = len(found.content) if request.length is None else request.length
    return ReadMemoryResult(memory=MemoryView.of(shown_fields(found, part_of(found.content, request.start, length))))


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
        memories=[MemoryView.of(shown_fields(one)) for one in page.memories],
        total=page.total,
        degraded=None,
    )
