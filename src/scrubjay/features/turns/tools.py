"""Turns of conversations with an agent: what was asked, what it thought, what it answered."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter
from scrubjay.features.memory.recall import Order, Wish
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label, provenance_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

# Names as Neo's clients know them.
MAX_PART = 30_000
TYPE = "agent-interaction"
Distance = Annotated[
    float | None,
    Field(description="1 less the cosine of its meaning and the query's; null when the two cannot be compared."),
]
Relevance = Annotated[float | None, Field(description="1 / (1 + distance); null without a distance.")]


class AddMemoryRequest(Request):
    model_config = examples(
        {"prompt": "Why does the login fail?", "thought": "The token has expired.", "response": "Log in again."}
    )

    prompt: str = Field(max_length=MAX_PART, description="What the user asked.")
    thought: str = Field(max_length=MAX_PART, description="What the agent thought before it answered.")
    response: str = Field(max_length=MAX_PART, description="What the agent answered.")
    sessionId: Label | None = Field(  # noqa: N815 - the documented name
        default=None, description="The session that it belongs to; a new one is made when none is given."
    )


class AddMemoryResult(Result):
    id: str
    sessionId: str = Field(description="Give it with the next turn of this session.")  # noqa: N815 - as above
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

    sessionId: str = Field(max_length=500, description="The session.")  # noqa: N815 - the documented name
    limit: int = Field(default=100, ge=1, le=2_000, description="How many turns at most.")
    offset: int = Field(default=0, ge=0, description="How many of the first turns to skip.")


class SessionMemoriesResult(Result):
    sessionId: str  # noqa: N815 - the documented name
    count: int = Field(description="How many turns are here.")
    total: int = Field(description="How many the session has.")
    memories: list[TurnView] = Field(description="The earliest first.")


class QueryTurnsRequest(Request):
    model_config = examples({"query": "why did the login fail?"})

    query: str = Field(min_length=1, max_length=10_000, description="What to look for, in plain words.")
    nResults: Annotated[int, Field(ge=1, le=100)] = Field(  # noqa: N815 - the documented name
        default=10, description="How many turns at most."
    )
    sessionId: Label | None = Field(default=None, description="Only turns of this session.")  # noqa: N815 - as above


class FoundTurn(TurnView):
    distance: Distance
    relevanceScore: Relevance  # noqa: N815 - the documented name


class QueryTurnsResult(Result):
    query: str
    count: int
    results: list[FoundTurn] = Field(description="Best first, by words and meaning together.")


@tool("turns")
async def add_memory(
    request: AddMemoryRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> AddMemoryResult:
    """Keep one turn of a conversation with an agent: the prompt, the thought and the response.

    Call it before you answer, so that nothing is lost when the conversation ends.
    """
    session_id = request.sessionId or new_id("ses")
    draft = Draft(
        content=f"User Prompt: {request.prompt}\nAgent Thought: {request.thought}\nAgent Response: {request.response}",
        session_id=session_id,
        kind=Kind.TURN,
        details={"prompt": request.prompt, "thought": request.thought, "response": request.response},
        provenance=provenance_of(context, "add_memory"),
    )
    (outcome,) = await memory.remember([draft], await project_id_of(None, projects, context, make=True))
    return AddMemoryResult(
        id=outcome.memory.id,
        sessionId=session_id,
        timestamp=outcome.memory.recorded_at,
        message="Memory successfully added",
    )


@tool("turns", read_only=True)
async def get_session_memories(
    request: SessionMemoriesRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> SessionMemoriesResult:
    """Show the turns of one session, the earliest first, a page at a time."""
    if not request.sessionId:
        return SessionMemoriesResult(sessionId="", count=0, total=0, memories=[])
    page = await memory.page(
        Visibility(await project_id_of(None, projects, context), request.sessionId),
        MemoryFilter(kinds=(Kind.TURN,), from_session=request.sessionId),
        newest_first=False,
        limit=request.limit,
        offset=request.offset,
    )
    turns = [_turn(one) for one in page.memories]
    return SessionMemoriesResult(sessionId=request.sessionId, count=len(turns), total=page.total, memories=turns)


@tool("turns", read_only=True)
async def query_raw_memories(
    request: QueryTurnsRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> QueryTurnsResult:
    """Find the turns that fit a question best, in one session or in all."""
    found = await memory.recall(
        request.query,
        Visibility(await project_id_of(None, projects, context), request.sessionId),
        MemoryFilter(kinds=(Kind.TURN,), from_session=request.sessionId),
        Wish(limit=request.nResults, threshold=0.0, order=Order.SCORE),
    )
    results = [
        FoundTurn(**_turn(hit.memory).model_dump(), distance=distance, relevanceScore=relevance)
        for hit in found.hits
        for distance, relevance in [distance_of(hit.cosine)]
    ]
    return QueryTurnsResult(query=request.query, count=len(results), results=results)


def distance_of(cosine: float | None) -> tuple[float | None, float | None]:
    """How far a meaning is from the question's, and the relevance that Neo makes of it."""
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
