"""Working memory, and how it becomes memories."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.memory.tools import MAX_CONTENT
from scrubjay.features.projects.arguments import ProjectReference
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.working_memory.consolidation import Consolidation, Consolidator, KeptBack, Move, Reason
from scrubjay.features.working_memory.models import Desk, Mark, WorkingItem
from scrubjay.features.working_memory.service import Match, NewItem, WorkingMemory
from scrubjay.tooling.arguments import Label, Share
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

MAX_TTL_SECONDS = 86_400


class DeskRequest(Request):
    """What every call says about whose working memory it means."""

    session_id: Label | None = Field(
        default=None, description="The session; by default one of this client's own, where the protocol can tell it."
    )
    project: ProjectReference = None


class ItemView(Result):
    """One thing in working memory."""

    id: str
    content: str
    context: dict[str, Any]
    importance: float
    tokens: int = Field(description="About how many tokens the content takes, at 4 characters a token.")
    session_id: str
    project: str | None = Field(description="The id of its project.")
    source: str
    tool_name: str | None
    created_at: datetime
    expires_at: datetime
    accessed_at: datetime
    access_count: int = Field(description="How often it was read by working_get or found by working_search.")
    consolidation_candidate: bool = Field(description="Whether it is to become a memory before it expires.")
    marked_by: Mark = Field(description="Why: because of its importance, or because a caller said so.")
    memory_id: str | None = Field(description="The memory that it became; it stays readable here until it expires.")


class EvictedItem(ItemView):
    kept: bool = Field(description="Whether it has become a memory, or waits for it; if not it is gone.")


class PutRequest(DeskRequest):
    model_config = examples(
        {"content": "The failing test is test_login; the token expires too early.", "importance": 0.7},
        {"content": "Build number 4711", "importance": 0.1, "ttl_seconds": 60, "session_id": "fix-login"},
    )

    content: str = Field(min_length=1, max_length=MAX_CONTENT, description="What to have in mind.")
    context: dict[str, Any] = Field(default_factory=dict[str, Any], description="Anything that belongs to it.")
    importance: Share = Field(
        default=0.5,
        description="How much it matters. From 0.3 (or what the settings say) on it is to become a memory.",
    )
    ttl_seconds: Annotated[float, Field(gt=0, le=MAX_TTL_SECONDS)] | None = Field(
        default=None, description="How long to have it in mind; by default 300 seconds, or what the settings say."
    )
    source: Label = Field(default="unknown", description="Where it comes from, such as user, file or test run.")
    tool_name: Label | None = Field(default=None, description="The tool that it is the result of.")
    consolidation_candidate: bool | None = Field(
        default=None, description="Whether it is to become a memory; by default its importance decides."
    )


class PutResult(Result):
    item: ItemView
    evicted: list[EvictedItem] = Field(description="What had to give way because the session was full.")
    masked: list[str] = Field(description="The kinds of secrets that were found in the content and masked.")


class ItemRequest(DeskRequest):
    model_config = examples({"id": "wrk_01jd8n5rt3f7c6s0m2k4q9xvbz"})

    id: Label = Field(description="The item's id.")


class ItemResult(Result):
    item: ItemView


class RecentRequest(DeskRequest):
    limit: int = Field(default=10, ge=1, le=1_000, description="How many items to return at most.")


class RecentResult(Result):
    items: list[ItemView] = Field(description="The one put last first.")


class SearchRequest(DeskRequest):
    model_config = examples({"query": "failing test"})

    query: str = Field(min_length=1, max_length=1_000, description="Words, or a part of a text, to look for.")
    limit: int = Field(default=10, ge=1, le=1_000, description="How many items to return at most.")


class FoundItem(ItemView):
    score: float = Field(
        description="How much of what the query's words tell it has, 0 to 1; rare words tell more. 1 is all of them, "
        "or the query as it stands."
    )
    matched: list[str] = Field(description="The words that it has, as the index knows them.")


class SearchResult(Result):
    items: list[FoundItem] = Field(description="Best first, the later of two equal ones before; empty when none fits.")


class MarkRequest(ItemRequest):
    model_config = examples({"id": "wrk_01jd8n5rt3f7c6s0m2k4q9xvbz"})

    consolidation_candidate: bool = Field(
        default=True, description="True: it becomes a memory, whatever its score. False: it never does."
    )


class ClearRequest(DeskRequest):
    model_config = examples({"what": "session"})

    what: Literal["session", "expired"] = Field(
        description="session: every item of the session, also those that wait to become memories. expired: only what "
        "has expired, after what is to become a memory has become one."
    )


class ClearResult(Result):
    cleared: int = Field(description="How many items were erased.")
    never_consolidated: int = Field(description="How many of them were to become memories and now never will.")


class StatsRequest(DeskRequest):
    pass


class StatsResult(Result):
    session_id: str
    project: str | None = Field(description="The id of the project.")
    items: int
    capacity: int = Field(description="How many items a session can have; more make the soonest to expire give way.")
    tokens: int = Field(description="About how many tokens all contents take together.")
    waiting: int = Field(description="Items that are to become memories and have not.")
    consolidated: int = Field(description="Items that became memories.")
    expired_waiting: int = Field(description="Items that have expired and are only kept until they are memories.")
    soonest_expiry: datetime | None
    ttl_seconds: float = Field(description="How long an item is kept unless it says otherwise.")
    threshold: float = Field(description="From which importance on an item is to become a memory.")


class ConsolidateRequest(DeskRequest):
    model_config = examples({}, {"force": True, "dry_run": True})

    force: bool = Field(default=False, description="Move what is marked also when it is very young or scores low.")
    dry_run: bool = Field(default=False, description="Only say what would be moved.")


class MovedView(Result):
    """Items that became one memory."""

    memory_id: str | None = Field(description="The memory; null in a dry run.")
    content: str = Field(description="Its text, which is that of the first item.")
    items: list[str] = Field(description="The ids of the items; more than one when several say the same.")
    score: float = Field(description="The best score of the items.")
    known: bool = Field(
        description="Whether the memory was there before, made of what this session had in mind earlier: it says the "
        "same, and now tells of these items too."
    )


class KeptBackView(Result):
    """An item that stays in working memory."""

    id: str
    score: float = Field(
        description="0.4 importance + 0.3 reads (10 are enough) + 0.2 different words + 0.1 age (5 minutes are enough)."
    )
    reason: Reason
    about: str = Field(description="The reason in words.")


class ConsolidateResult(Result):
    moved: list[MovedView] = Field(description="What became a memory, or in a dry run would.")
    merged: int = Field(
        description="How many items are in a memory with another one's text, because they say the same."
    )
    kept_back: list[KeptBackView] = Field(description="What is to become a memory and did not, with the reason.")
    dry_run: bool


@tool("working", fleeting=True)
async def working_put(
    request: PutRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> PutResult:
    """Have something in mind for the rest of this session: it expires after five minutes.

    Use it for what matters now: the current step, an intermediate result, an open question. What is important enough
    becomes a memory by itself before it expires. For what should surely be kept use remember.
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
    put = await working.put(await _desk(request, projects, context, make=True), new)
    return PutResult(
        item=_view(put.item),
        evicted=[EvictedItem(**_fields(item), kept=item.waits or item.memory_id is not None) for item in put.evicted],
        masked=list(put.masked),
    )


@tool("working", read_only=True, core=False, fleeting=True)
async def working_get(
    request: ItemRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> ItemResult:
    """Read one item of this session's working memory, which counts as a use of it."""
    return ItemResult(item=_view(await working.get(await _desk(request, projects, context), request.id)))


@tool("working", read_only=True, fleeting=True)
async def working_recent(
    request: RecentRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> RecentResult:
    """List what was put into this session's working memory last, and has not expired."""
    items = await working.recent(await _desk(request, projects, context), request.limit)
    return RecentResult(items=[_view(item) for item in items])


@tool("working", read_only=True, fleeting=True)
async def working_search(
    request: SearchRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> SearchResult:
    """Find items of this session's working memory by their words, best first. For memories use recall."""
    found = await working.search(await _desk(request, projects, context), request.query, request.limit)
    return SearchResult(items=[_found(match) for match in found])


@tool("working", idempotent=True, core=False, fleeting=True)
async def working_mark(
    request: MarkRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> ItemResult:
    """Say that an item of working memory is to become a memory before it expires, or never."""
    desk = await _desk(request, projects, context)
    return ItemResult(item=_view(await working.mark(desk, request.id, candidate=request.consolidation_candidate)))


@tool("working", destructive=True, core=False, fleeting=True)
async def working_delete(
    request: ItemRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> ItemResult:
    """Erase one item of working memory. A memory that it has become stays: forget erases it."""
    return ItemResult(item=_view(await working.delete(await _desk(request, projects, context), request.id)))


@tool("working", destructive=True, core=False)
async def working_clear(
    request: ClearRequest, working: WorkingMemory, projects: ProjectService, context: CallContext
) -> ClearResult:
    """Erase this session's working memory, or only what has expired in it. Memories stay."""
    desk = await _desk(request, projects, context)
    if request.what == "expired":
        return ClearResult(cleared=await working.clear_expired(desk), never_consolidated=0)
    cleared = await working.clear(desk)
    return ClearResult(cleared=len(cleared), never_consolidated=sum(item.waits for item in cleared))


@tool("working", read_only=True, core=False)
async def working_stats(
    request: StatsRequest,
    working: WorkingMemory,
    consolidator: Consolidator,
    projects: ProjectService,
    context: CallContext,
) -> StatsResult:
    """Tell how much is in this session's working memory, and how much of it waits to become memories."""
    desk = await _desk(request, projects, context)
    tally = await working.tally(desk)
    return StatsResult(
        session_id=desk.session_id,
        project=desk.project_id,
        items=tally.items,
        capacity=working.capacity,
        tokens=tally.tokens,
        waiting=tally.waiting,
        consolidated=tally.consolidated,
        expired_waiting=tally.expired_waiting,
        soonest_expiry=tally.soonest_expiry,
        ttl_seconds=working.ttl_seconds,
        threshold=consolidator.threshold,
    )


@tool("working", core=False)
async def consolidate(
    request: ConsolidateRequest, consolidator: Consolidator, projects: ProjectService, context: CallContext
) -> ConsolidateResult:
    """Let what is marked in this session's working memory become memories now.

    This happens by itself every half minute and before anything expires. Items that say the same become one memory,
    which names all of them as its sources.
    """
    desk = await _desk(request, projects, context)
    done = await consolidator.consolidate(desk, force=request.force, dry_run=request.dry_run)
    return _consolidated(done, request.dry_run)


async def _desk(request: DeskRequest, projects: ProjectService, context: CallContext, *, make: bool = False) -> Desk:
    session_id = request.session_id or context.client
    if session_id is None:
        raise InvalidRequest(
            "nobody can tell which session this call belongs to",
            hint="give a session_id, or send a Scrubjay-Client header",
        )
    if request.project is not None:
        return Desk((await projects.find(request.project, context.working_directory, make=make)).id, session_id)
    project = await projects.active(context.client)
    return Desk(project.id if project else None, session_id)


def _view(item: WorkingItem) -> ItemView:
    return ItemView(**_fields(item))


def _found(match: Match) -> FoundItem:
    return FoundItem(**_fields(match.item), score=match.score, matched=list(match.words))


def _consolidated(done: Consolidation, dry_run: bool) -> ConsolidateResult:
    return ConsolidateResult(
        moved=[_moved(move) for move in done.moves],
        merged=sum(len(move.items) - (not move.known) for move in done.moves),
        kept_back=[_kept_back(one) for one in done.kept_back],
        dry_run=dry_run,
    )


def _moved(move: Move) -> MovedView:
    ids = [item.id for item in move.items]
    return MovedView(
        memory_id=move.memory_id, content=move.items[0].content, items=ids, score=move.score, known=move.known
    )


def _kept_back(one: KeptBack) -> KeptBackView:
    return KeptBackView(id=one.item.id, score=one.score, reason=one.reason, about=one.about)


def _fields(item: WorkingItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "content": item.content,
        "context": dict(item.context),
        "importance": item.importance,
        "tokens": item.tokens,
        "session_id": item.desk.session_id,
        "project": item.desk.project_id,
        "source": item.source,
        "tool_name": item.tool_name,
        "created_at": item.created_at,
        "expires_at": item.expires_at,
        "accessed_at": item.accessed_at,
        "access_count": item.access_count,
        "consolidation_candidate": item.mark is not Mark.NONE,
        "marked_by": item.mark,
        "memory_id": item.memory_id,
    }
