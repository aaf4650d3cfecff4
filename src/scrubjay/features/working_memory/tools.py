"""Tools for working memory and its consolidation into memories."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.projects.arguments import ProjectReference
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.working_memory.consolidation import Consolidation, Consolidator, Move, SkippedItem, SkipReason
from scrubjay.features.working_memory.models import ConsolidationMark, WorkingItem, WorkingScope
from scrubjay.features.working_memory.service import ItemMatch, NewItem, WorkingMemory
from scrubjay.tooling.arguments import Label, Share
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

MAX_TTL_SECONDS = 86_400
MAX_CONTENT = 100_000
# Tool family whose read scope allows reading memories.
MEMORIES = "memory"


class WorkingScopeRequest(Request):
    """Arguments that select a working memory."""

    session_id: Label | None = Field(
        default=None, description="Session id; default: this client's own session, if the protocol identifies clients."
    )
    project: ProjectReference = None


class ItemView(Result):
    """An item of working memory."""

    id: str
    content: str
    context: dict[str, Any]
    importance: float
    tokens: int = Field(description="Approximate size of the content in tokens of 4 characters.")
    session_id: str
    project: str | None = Field(description="Id of its project.")
    source: str
    tool_name: str | None
    created_at: datetime
    expires_at: datetime
    accessed_at: datetime
    access_count: int = Field(description="Number of reads by working_get and hits of working_search.")
    consolidation_candidate: bool = Field(description="True if it will become a memory before it expires.")
    marked_by: ConsolidationMark = Field(description="Why: its importance, or a caller's request.")
    memory_id: str | None = Field(
        description="Id of the memory it became. The item stays readable until it expires, for a key with memory:read."
    )


class EvictedItem(ItemView):
    kept: bool = Field(description="True if it became a memory or will become one; false if it was dropped.")


class PutRequest(WorkingScopeRequest):
    model_config = examples(
        {"content": "The failing test is test_login; the token expires too early.", "importance": 0.7},
        {"content": "Build number 4711", "importance": 0.1, "ttl_seconds": 60, "session_id": "fix-login"},
    )

    content: str = Field(min_length=1, max_length=MAX_CONTENT, description="Content to hold in working memory.")
    context: dict[str, Any] = Field(default_factory=dict[str, Any], description="Additional JSON data.")
    importance: Share = Field(
        default=0.5,
        description="Importance, 0 to 1. From 0.3 (configurable) on it becomes a memory before it expires.",
    )
    ttl_seconds: Annotated[float, Field(gt=0, le=MAX_TTL_SECONDS)] | None = Field(
        default=None, description="Seconds until it expires; default 300 (configurable)."
    )
    source: Label = Field(default="unknown", description="Where it comes from, such as user, file or test run.")
    tool_name: Label | None = Field(default=None, description="Tool that produced the content.")
    consolidation_candidate: bool | None = Field(
        default=None, description="Whether it becomes a memory; default: decided by importance."
    )


class PutResult(Result):
    item: ItemView
    evicted: list[EvictedItem] = Field(description="Items evicted because the session was full.")
    masked: list[str] = Field(description="Kinds of secrets that were masked in the content.")


class ItemRequest(WorkingScopeRequest):
    model_config = examples({"id": "wrk_01jd8n5rt3f7c6s0m2k4q9xvbz"})

    id: Label = Field(description="Id of the item.")


class ItemResult(Result):
    item: ItemView


class RecentRequest(WorkingScopeRequest):
    limit: int = Field(default=10, ge=1, le=1_000, description="Maximum number of items.")


class RecentResult(Result):
    items: list[ItemView] = Field(description="Newest first.")


class WorkingSearchRequest(WorkingScopeRequest):
    model_config = examples({"query": "failing test"})

    query: str = Field(min_length=1, max_length=1_000, description="Words or a substring to search for.")
    limit: int = Field(default=10, ge=1, le=1_000, description="Maximum number of items.")


class FoundItem(ItemView):
    score: float = Field(
        description="Share of the query's words that match, 0 to 1, weighted by rarity. 1: all words match, "
        "or the query is a substring."
    )
    matched: list[str] = Field(description="Matching words as indexed terms.")


class WorkingSearchResult(Result):
    items: list[FoundItem] = Field(
        description="Best match first, newer items first on a tie; empty if nothing matches."
    )


class MarkRequest(ItemRequest):
    model_config = examples({"id": "wrk_01jd8n5rt3f7c6s0m2k4q9xvbz"})

    consolidation_candidate: bool = Field(
        default=True, description="True: it becomes a memory regardless of its score. False: it never does."
    )


class ClearRequest(WorkingScopeRequest):
    model_config = examples({"what": "session"})

    what: Literal["session", "expired"] = Field(
        description="session: all items, including those that would become memories. expired: only expired items, "
        "after consolidating those that should become memories."
    )


class ClearResult(Result):
    cleared: int = Field(description="Number of deleted items.")
    never_consolidated: int = Field(description="Number of deleted items that would have become memories.")


class StatsRequest(WorkingScopeRequest):
    pass


class StatsResult(Result):
    session_id: str
    project: str | None = Field(description="Id of the project.")
    items: int
    capacity: int = Field(
        description="Maximum number of items per session; beyond it the item that expires first is evicted."
    )
    tokens: int = Field(description="Approximate size of all contents in tokens.")
    waiting: int = Field(description="Items that will become memories.")
    consolidated: int = Field(description="Items that became memories.")
    expired_waiting: int = Field(description="Expired items that are kept only until they become memories.")
    soonest_expiry: datetime | None
    ttl_seconds: float = Field(description="Default seconds until an item expires.")
    threshold: float = Field(description="Importance from which an item becomes a memory.")


class ConsolidateRequest(WorkingScopeRequest):
    model_config = examples({}, {"force": True, "dry_run": True})

    force: bool = Field(default=False, description="Also consolidate marked items that are very young or score low.")
    dry_run: bool = Field(default=False, description="Only report what would be consolidated.")


class ConsolidatedView(Result):
    """Items that were consolidated into one memory."""

    memory_id: str | None = Field(description="Id of the memory; null in a dry run.")
    content: str = Field(description="Content of the memory, taken from the first item.")
    items: list[str] = Field(description="Ids of the items; several if they are duplicates.")
    score: float = Field(description="Best score of the items.")
    known: bool = Field(
        description="True if an existing memory of this session has the same content; the items were added to its "
        "sources."
    )


class SkippedItemView(Result):
    """An item that stays in working memory."""

    id: str
    score: float = Field(
        description="0.4 importance + 0.3 reads (full at 10) + 0.2 distinct words + 0.1 age (full at 5 minutes)."
    )
    reason: SkipReason
    about: str = Field(description="Description of the reason.")


class ConsolidateResult(Result):
    moved: list[ConsolidatedView] = Field(description="Items that became memories, or would in a dry run.")
    merged: int = Field(description="Number of items merged into another item's memory as duplicates.")
    skipped: list[SkippedItemView] = Field(description="Marked items that did not become memories, with the reason.")
    dry_run: bool


@tool("working", log_payload=False, withholds=("memory",))
async def working_put(
    request: PutRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> PutResult:
    """Store an item in this session's working memory; it expires after five minutes by default.

    Use it for the current step, an intermediate result or an open question. Items of sufficient importance become
    memories automatically before they expire. Use remember for content that must be kept.
    """
    new = NewItem(
        content=request.content,
        context=request.context,
        importance=request.importance,
        source=request.source,
        tool_name=request.tool_name,
        client=context.client,
        ttl_seconds=request.ttl_seconds,
        candidate=request.consolidation_candidate,
    )
    put = await working.put(await _scope(request, projects, context, make=True), new)
    return PutResult(
        item=_view(put.item),
        evicted=[
            EvictedItem(**_fields(item), kept=item.is_waiting or item.memory_id is not None)
            for item in _readable(put.evicted, context)
        ],
        masked=list(put.masked),
    )


@tool("working", read_only=True, core=False, log_payload=False, withholds=("memory",))
async def working_get(
    request: ItemRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> ItemResult:
    """Read one item of this session's working memory; the read raises its consolidation score."""
    item = await working.get(await _scope(request, projects, context), request.id)
    return ItemResult(item=_own_view(item, context))


@tool("working", read_only=True, log_payload=False, withholds=("memory",))
async def working_recent(
    request: RecentRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> RecentResult:
    """List the newest unexpired items of this session's working memory."""
    items = await working.recent(await _scope(request, projects, context), request.limit)
    return RecentResult(items=[_view(item) for item in _readable(items, context)])


@tool("working", read_only=True, log_payload=False, withholds=("memory",))
async def working_search(
    request: WorkingSearchRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> WorkingSearchResult:
    """Search this session's working memory by words, best match first. For memories use recall."""
    found = await working.search(await _scope(request, projects, context), request.query, request.limit)
    return WorkingSearchResult(items=[_match_view(match) for match in found if _may_read(match.item, context)])


@tool("working", idempotent=True, core=False, log_payload=False, withholds=("memory",))
async def working_mark(
    request: MarkRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> ItemResult:
    """Mark an item of working memory to become a memory before it expires, or never."""
    scope = await _scope(request, projects, context)
    item = await working.mark(scope, request.id, candidate=request.consolidation_candidate)
    return ItemResult(item=_own_view(item, context))


@tool("working", destructive=True, core=False, log_payload=False, withholds=("memory",))
async def working_delete(
    request: ItemRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> ItemResult:
    """Delete one item of working memory. A memory it has become remains; use forget to delete that."""
    item = await working.delete(await _scope(request, projects, context), request.id)
    return ItemResult(item=_own_view(item, context))


@tool("working", destructive=True, core=False)
async def working_clear(
    request: ClearRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> ClearResult:
    """Delete this session's working memory, or only its expired items. Memories remain."""
    scope = await _scope(request, projects, context)
    if request.what == "expired":
        return ClearResult(cleared=await working.clear_expired(scope), never_consolidated=0)
    cleared = await working.clear(scope)
    return ClearResult(cleared=len(cleared), never_consolidated=sum(item.is_waiting for item in cleared))


@tool("working", read_only=True, core=False)
async def working_stats(
    request: StatsRequest,
    working: WorkingMemory,
    consolidator: Consolidator,
    projects: ProjectService,
    context: CallContext,
) -> StatsResult:
    """Show size and limits of this session's working memory, and how many items will become memories."""
    scope = await _scope(request, projects, context)
    usage = await working.usage(scope)
    return StatsResult(
        session_id=scope.session_id,
        project=scope.project_id,
        items=usage.items,
        capacity=working.capacity,
        tokens=usage.tokens,
        waiting=usage.waiting,
        consolidated=usage.consolidated,
        expired_waiting=usage.expired_waiting,
        soonest_expiry=usage.soonest_expiry,
        ttl_seconds=working.ttl_seconds,
        threshold=consolidator.threshold,
    )


@tool("working", core=False)
async def consolidate(
    request: ConsolidateRequest, consolidator: Consolidator, projects: ProjectService, context: CallContext
) -> ConsolidateResult:
    """Turn the marked items of this session's working memory into memories now.

    The server also does this every 30 seconds and before items expire. Duplicate items become one memory that lists
    all of them as sources.
    """
    scope = await _scope(request, projects, context)
    done = await consolidator.consolidate(scope, force=request.force, dry_run=request.dry_run)
    return _consolidate_result(done, request.dry_run)


async def _scope(
    request: WorkingScopeRequest, projects: ProjectService, context: CallContext, *, make: bool = False
) -> WorkingScope:
    session_id = request.session_id or context.client
    if session_id is None:
        raise InvalidRequest(
            "the session of this call is unknown",
            hint="pass session_id, or send a Scrubjay-Client header",
        )
    if request.project is not None:
        return WorkingScope((await projects.find(request.project, context.working_directory, make=make)).id, session_id)
    project = await projects.active(context.client)
    return WorkingScope(project.id if project else None, session_id)


def _may_read(item: WorkingItem, context: CallContext) -> bool:
    """Return True unless the item became a memory and the caller may not read memories."""
    return item.memory_id is None or context.caller.may_read(MEMORIES)


def _readable(items: Iterable[WorkingItem], context: CallContext) -> list[WorkingItem]:
    return [item for item in items if _may_read(item, context)]


def _own_view(item: WorkingItem, context: CallContext) -> ItemView:
    """Return the item; without its contents if it became a memory that the caller may not read."""
    fields = _fields(item)
    return ItemView(**fields if _may_read(item, context) else {**fields, "content": "", "context": {}})


def _view(item: WorkingItem) -> ItemView:
    return ItemView(**_fields(item))


def _match_view(match: ItemMatch) -> FoundItem:
    return FoundItem(**_fields(match.item), score=match.score, matched=list(match.words))


def _consolidate_result(done: Consolidation, dry_run: bool) -> ConsolidateResult:
    return ConsolidateResult(
        moved=[_consolidated_view(move) for move in done.moves],
        merged=sum(len(move.items) - (not move.known) for move in done.moves),
        skipped=[_skipped_view(one) for one in done.skipped],
        dry_run=dry_run,
    )


def _consolidated_view(move: Move) -> ConsolidatedView:
    ids = [item.id for item in move.items]
    return ConsolidatedView(
        memory_id=move.memory_id, content=move.items[0].content, items=ids, score=move.score, known=move.known
    )


def _skipped_view(one: SkippedItem) -> SkippedItemView:
    return SkippedItemView(id=one.item.id, score=one.score, reason=one.reason, about=one.explanation)


def _fields(item: WorkingItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "content": item.content,
        "context": dict(item.context),
        "importance": item.importance,
        "tokens": item.tokens,
        "session_id": item.scope.session_id,
        "project": item.scope.project_id,
        "source": item.source,
        "tool_name": item.tool_name,
        "created_at": item.created_at,
        "expires_at": item.expires_at,
        "accessed_at": item.accessed_at,
        "access_count": item.access_count,
        "consolidation_candidate": item.mark is not ConsolidationMark.NONE,
        "marked_by": item.mark,
        "memory_id": item.memory_id,
    }
