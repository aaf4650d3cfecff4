"""Tools that store, list and search conversation turns."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.memory.passages import MAX_WHOLE_CHARACTERS, find_passage
from scrubjay.features.memory.recall import Order, RecallOptions
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.turns.connection_sessions import ConnectionSessions
from scrubjay.tooling.arguments import Label, provenance_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

# Names as Neo's clients know them.
MAX_PART = 1_000_000
TYPE = "agent-interaction"
Distance = Annotated[
    float | None,
    Field(description="1 minus the cosine similarity to the query; null without an embedding."),
]
Relevance = Annotated[float | None, Field(description="1 / (1 + distance); null if distance is null.")]


class AddMemoryRequest(Request):
    model_config = examples(
        {"prompt": "Why does the login fail?", "thought": "The token has expired.", "response": "Log in again."}
    )

    prompt: str = Field(max_length=MAX_PART, description="The user's prompt.")
    thought: str = Field(max_length=MAX_PART, description="The agent's reasoning before the answer.")
    response: str = Field(max_length=MAX_PART, description="The agent's answer.")
    sessionId: Label | None = Field(  # noqa: N815 - the documented name
        default=None,
        description="Session of the turn. Default: the current session of this connection, as session_start and "
        "session_history show it; a new one if the protocol does not identify clients.",
    )


class AddMemoryResult(Result):
    id: str
    sessionId: str = Field(description="Pass it with the next turn of this session.")  # noqa: N815 - as above
    timestamp: datetime
    message: str


class TurnView(Result):
    """One turn."""

    id: str
    sessionId: str  # noqa: N815 - the documented name
    timestamp: datetime
    prompt: str
    thought: str
    response: str
    type: Literal["agent-interaction"]


class SessionMemoriesRequest(Request):
    model_config = examples({"sessionId": "session-1"})

    sessionId: str = Field(max_length=500, description="Session id.")  # noqa: N815 - the documented name
    limit: int = Field(default=100, ge=1, le=2_000, description="Maximum number of turns.")
    offset: int = Field(default=0, ge=0, description="Number of turns to skip.")


class SessionMemoriesResult(Result):
    sessionId: str  # noqa: N815 - the documented name
    count: int = Field(description="Number of returned turns.")
    total: int = Field(description="Number of turns in the session.")
    memories: list[TurnView] = Field(description="Oldest first.")


class QueryTurnsRequest(Request):
    model_config = examples({"query": "why did the login fail?"})

    query: str = Field(min_length=1, max_length=10_000, description="Query in natural language.")
    nResults: Annotated[int, Field(ge=1, le=100)] = Field(  # noqa: N815 - the documented name
        default=10, description="Maximum number of turns."
    )
    sessionId: Label | None = Field(default=None, description="Only turns of this session.")  # noqa: N815 - as above


class FoundTurn(TurnView):
    distance: Distance
    relevanceScore: Relevance  # noqa: N815 - the documented name


class QueryTurnsResult(Result):
    query: str
    count: int
    results: list[FoundTurn] = Field(description="Best match first, by keyword and vector score.")


@tool("turns")
async def add_memory(
    request: AddMemoryRequest,
    memory: MemoryService,
    projects: ProjectService,
    sessions: ConnectionSessions,
    context: CallContext,
) -> AddMemoryResult:
    """Store one conversation turn: prompt, thought and response.

    Call it before you answer, so that the turn is kept if the conversation ends.
    """
    project_id = await project_id_of(None, projects, context, make=True)
    session_id = request.sessionId or await sessions.enter(project_id, context.client) or new_id("ses")
    draft = Draft(
        content=f"User Prompt: {request.prompt}\nAgent Thought: {request.thought}\nAgent Response: {request.response}",
        session_id=session_id,
        kind=MemoryKind.TURN,
        details={"prompt": request.prompt, "thought": request.thought, "response": request.response},
        provenance=provenance_of(context, "add_memory"),
    )
    (outcome,) = await memory.remember([draft], project_id)
    return AddMemoryResult(
        id=outcome.memory.id,
        sessionId=session_id,
        timestamp=outcome.memory.recorded_at,
        message="Memory successfully added",
    )


@tool("turns", read_only=True, reads=("memory",))
async def get_session_memories(
    request: SessionMemoriesRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> SessionMemoriesResult:
    """List the turns of one session, oldest first, in pages."""
    if not request.sessionId:
        return SessionMemoriesResult(sessionId="", count=0, total=0, memories=[])
    page = await memory.page(
        Visibility(await project_id_of(None, projects, context), request.sessionId),
        MemoryFilter(kinds=(MemoryKind.TURN,), from_session=request.sessionId),
        newest_first=False,
        limit=request.limit,
        offset=request.offset,
    )
    turns = [_turn(one) for one in page.memories]
    return SessionMemoriesResult(sessionId=request.sessionId, count=len(turns), total=page.total, memories=turns)


@tool("turns", read_only=True, reads=("memory",))
async def query_raw_memories(
    request: QueryTurnsRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> QueryTurnsResult:
    """Search turns of one session or of all sessions, best match first."""
    found = await memory.recall(
        request.query,
        Visibility(await project_id_of(None, projects, context), request.sessionId),
        MemoryFilter(kinds=(MemoryKind.TURN,), from_session=request.sessionId),
        RecallOptions(limit=request.nResults, threshold=0.0, order=Order.SCORE),
    )
    results = [
        FoundTurn(**_quoted(_turn(hit.memory), found.terms), distance=distance, relevanceScore=relevance)
        for hit in found.hits
        for distance, relevance in [distance_of(hit.cosine)]
    ]
    return QueryTurnsResult(query=request.query, count=len(results), results=results)


def _quoted(turn: TurnView, terms: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a turn; of a long part only the passage that matches these terms."""
    fields = turn.model_dump()
    for name in ("prompt", "thought", "response"):
        if len(fields[name]) > MAX_WHOLE_CHARACTERS:
            fields[name] = find_passage(fields[name], terms, [1.0] * len(terms)).text
    return fields


def distance_of(cosine: float | None) -> tuple[float | None, float | None]:
    """Return the distance for a cosine similarity, and Neo's relevance score."""
    if cosine is None:
        return None, None
    distance = 1 - cosine
    return round(distance, 6), round(1 / (1 + distance), 6)


def _turn(memory: Memory) -> TurnView:
    return TurnView(
        id=memory.id,
        sessionId=memory.session_id or "",
        timestamp=memory.occurred_at or memory.recorded_at,
        prompt=memory.details.get("prompt", ""),
        thought=memory.details.get("thought", ""),
        response=memory.details.get("response", ""),
        type=TYPE,
    )
