"""Facts as Mimo's clients keep and find them, and facts that turns state."""

from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.facts.service import FactExtractor
from scrubjay.features.memory.models import Kind, MemoryFilter, WriteOutcome
from scrubjay.features.memory.recall import Order, Wish
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.summaries.models import Method
from scrubjay.tooling.arguments import Label, Share, provenance_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.jobs.service import JobRun

MAX_CONTENT = 100_000
# So many candidates are compared by meaning for each that is wanted.
COMPARED_FOR_EACH = 3


class StoreFactRequest(Request):
    model_config = examples({"content": "The staging database runs PostgreSQL 17.", "category": "fact"})

    content: str = Field(min_length=1, max_length=MAX_CONTENT, description="What to keep.")
    category: Literal["fact", "action", "observation", "plan", "episode", "procedure", "entity_anchor"] = Field(
        description="What sort of thing it is."
    )
    importance: Share = Field(default=0.5, description="How much it matters.")
    about: list[Label] = Field(
        default_factory=list[str],
        max_length=20,
        description="The project's code that it is about: a path, path::symbol, or a symbol's qualified name.",
    )


class StoreFactResult(Result):
    stored: Literal[True]
    id: str


class SearchVibesRequest(Request):
    model_config = examples({"query": "which database does staging use?"})

    query: str = Field(min_length=1, max_length=10_000, description="What to look for, in plain words.")
    limit: Annotated[int, Field(ge=1, le=100)] = Field(default=10, description="How many memories at most.")
    threshold: Share = Field(
        default=0.3, description="Leave out what is less similar in meaning; recall finds by words as well."
    )


class Vibe(Result):
    """A memory and how similar it is."""

    id: str
    content: str
    category: str | None
    importance: float
    metadata: dict[str, Any]
    similarity: float = Field(description="The cosine of its meaning and the query's.")


class SearchVibesResult(Result):
    results: list[Vibe] = Field(description="The most similar first.")
    degraded: str | None = Field(description="Why meanings could not be compared; null when they were.")


class SearchMemoryRequest(SearchVibesRequest):
    model_config = examples({"query": "which database does staging use?", "store": "episodic"})

    store: Literal["auto", "working", "episodic", "semantic", "procedural"] = Field(
        default="auto", description="Where to look. What has no store of its own here is looked for among memories."
    )


class SearchMemoryResult(SearchVibesResult):
    store: Literal["episodic"] = Field(description="Where it was looked for.")


class ExtractFactsRequest(Request):
    model_config = examples({"sessionId": "session-1"})

    sessionId: Label = Field(description="The session whose turns to read.")  # noqa: N815 - as turns name it


class ExtractedFact(Result):
    """A fact that turns state. Its words are where it is kept, and nowhere else: recall finds them."""

    id: str
    fact_type: Kind
    turns: list[str] = Field(description="The ids of the turns that state it.")
    superseded: list[str] = Field(description="The ids of memories about its subject that are not true any more.")
    conflicts: list[str] = Field(
        description="The ids of memories about its subject that say something else, where nobody can tell what is true."
    )


class ExtractFactsResult(Result):
    sessionId: str  # noqa: N815 - as turns name it
    turns: int = Field(description="How many turns were read; those that had been read before were not.")
    facts: list[ExtractedFact] = Field(description="What was not known, and is kept now.")
    noted: list[str] = Field(description="The ids of known facts that these turns state again.")
    dropped: int = Field(
        description="How many were left out: no words of a turn bear them out, or they may not be kept."
    )
    method: Method = Field(
        description="llm: a language model found them, and each is borne out by a turn's own words; extractive: they "
        "are sentences that somebody said."
    )
    problem: str | None = Field(description="Why the language model was not heard, if there is one.")


@tool("facts", core=False)
async def store_fact(
    request: StoreFactRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> StoreFactResult:
    """Keep a fact, an action, an observation or a plan."""
    draft = Draft(
        content=request.content,
        category=request.category,
        importance=request.importance,
        provenance=provenance_of(context, "store_fact"),
        about=tuple(request.about),
    )
    (outcome,) = await memory.remember([draft], await project_id_of(None, projects, context, make=True))
    return StoreFactResult(stored=True, id=outcome.memory.id)


@tool("facts", read_only=True, core=False)
async def search_vibes(
    request: SearchVibesRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> SearchVibesResult:
    """Find what means something similar, by meaning alone; recall also looks for words and says more about each."""
    return await _similar(request, memory, projects, context)


@tool("facts", read_only=True, core=False)
async def mimo_search_memory(
    request: SearchMemoryRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> SearchMemoryResult:
    """Find what means something similar: what a chat completion without a language model asks its client to call.

    The same as search_vibes. Give what it answers back to the conversation as the message of the tool.
    """
    found = await _similar(request, memory, projects, context)
    return SearchMemoryResult(results=found.results, degraded=found.degraded, store="episodic")


@tool("facts", runs_as_job=True, idempotent=True, core=False)
async def extract_facts(
    request: ExtractFactsRequest,
    extractor: FactExtractor,
    projects: ProjectService,
    context: CallContext,
    run: JobRun,
) -> ExtractFactsResult:
    """Keep the lasting facts that a session's turns state: preferences, decisions, and what is so.

    Only what somebody says in so many words ("I prefer ...", "we decided ...", "the deadline is ..."), never what could
    be concluded. Each fact is a memory whose provenance names its turns. A turn is read once, and a fact that is known
    is not kept again. summarize_sessions does this for every session that it summarises.
    """
    done = await extractor.extract_session(
        request.sessionId,
        Visibility(await project_id_of(None, projects, context), request.sessionId),
        {**provenance_of(context, "extract_facts"), "job": run.job_id},
        lambda read, turns: run.report(read, turns, f"{read} of {turns} turns are read"),
    )
    return ExtractFactsResult(
        sessionId=request.sessionId,
        turns=done.turns,
        facts=[_extracted(outcome) for outcome in done.stored],
        noted=done.noted,
        dropped=done.dropped,
        method=done.method,
        problem=done.problem.message if done.problem else None,
    )


def _extracted(outcome: WriteOutcome) -> ExtractedFact:
    memory = outcome.memory
    return ExtractedFact(
        id=memory.id,
        fact_type=memory.kind,
        turns=list(memory.provenance["from"]),
        superseded=list(outcome.superseded),
        conflicts=list(outcome.conflicts),
    )


async def _similar(
    request: SearchVibesRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> SearchVibesResult:
    found = await memory.recall(
        request.query,
        Visibility(await project_id_of(None, projects, context)),
        MemoryFilter(),
        Wish(limit=min(COMPARED_FOR_EACH * request.limit, 100), threshold=0.0, order=Order.SCORE),
    )
    similar = [hit for hit in found.hits if hit.cosine is not None and hit.cosine >= request.threshold]
    similar.sort(key=lambda hit: -(hit.cosine or 0))
    return SearchVibesResult(
        results=[
            Vibe(
                id=hit.memory.id,
                content=hit.memory.content,
                category=hit.memory.category,
                importance=hit.memory.importance,
                metadata=dict(hit.memory.metadata),
                similarity=round(hit.cosine or 0, 6),
            )
            for hit in similar[: request.limit]
        ],
        degraded=found.degraded,
    )
