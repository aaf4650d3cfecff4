"""Tools to store and search facts, with the names of Mimo, and to extract facts from turns."""

from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.facts.service import FactExtractor
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import MemoryFilter, MemoryKind
from scrubjay.features.memory.recall import Order, RecallOptions
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.writes import WriteOutcome
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.summaries.models import GenerationMethod
from scrubjay.tooling.arguments import Label, Share, provenance_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.jobs.service import JobRun

MAX_CONTENT = 100_000
# Candidates compared by embedding for each requested result.
CANDIDATE_FACTOR = 3


class StoreFactRequest(Request):
    model_config = examples({"content": "The staging database runs PostgreSQL 17.", "category": "fact"})

    content: str = Field(min_length=1, max_length=MAX_CONTENT, description="Text of the fact.")
    category: Literal["fact", "action", "observation", "plan", "episode", "procedure", "entity_anchor"] = Field(
        description="Category."
    )
    importance: Share = Field(default=0.5, description="Importance.")
    about: list[Label] = Field(
        default_factory=list[str],
        max_length=20,
        description="Code of the project that it is about: a path, path::symbol, or a symbol's qualified name.",
    )


class StoreFactResult(Result):
    stored: Literal[True]
    id: str


class SearchVibesRequest(Request):
    model_config = examples({"query": "which database does staging use?"})

    query: str = Field(min_length=1, max_length=10_000, description="Query in natural language.")
    limit: Annotated[int, Field(ge=1, le=100)] = Field(default=10, description="Maximum number of memories.")
    threshold: Share = Field(default=0.3, description="Minimum cosine similarity.")


class Vibe(Result):
    """A memory with its similarity to the query."""

    id: str
    content: str
    category: str | None
    importance: float
    metadata: dict[str, Any]
    similarity: float = Field(description="Cosine similarity to the query.")


class SearchVibesResult(Result):
    results: list[Vibe] = Field(description="Most similar first.")
    degraded: str | None = Field(description="Why embeddings could not be compared; null if nothing failed.")


class SearchMemoryRequest(SearchVibesRequest):
    model_config = examples({"query": "which database does staging use?", "store": "episodic"})

    store: Literal["auto", "working", "episodic", "semantic", "procedural"] = Field(
        default="auto", description="Store to search. All values search the memories; Scrubjay has a single store."
    )


class SearchMemoryResult(SearchVibesResult):
    store: Literal["episodic"] = Field(description="Store that was searched.")


class ExtractFactsRequest(Request):
    model_config = examples({"sessionId": "session-1"})

    sessionId: Label = Field(description="Session whose turns are read.")  # noqa: N815 - as turns name it


class ExtractedFact(Result):
    """An extracted fact. The result omits its content, which recall returns."""

    id: str
    fact_type: MemoryKind
    turns: list[str] = Field(description="Ids of the turns that state it.")
    superseded: list[str] = Field(description="Ids of memories about its subject that it supersedes.")
    conflicts: list[str] = Field(
        description="Ids of memories about its subject with different content, when it is unclear which one is true."
    )


class ExtractFactsResult(Result):
    sessionId: str  # noqa: N815 - as turns name it
    turns: int = Field(description="Number of turns read. Turns that were read before are skipped.")
    facts: list[ExtractedFact] = Field(description="New facts, now stored as memories.")
    restated: list[str] = Field(description="Ids of stored facts that these turns state again.")
    dropped: int = Field(
        description="Number of facts not stored: no turn supports them, or the secrets policy refused them."
    )
    method: GenerationMethod = Field(
        description="llm: found by a language model and checked against the words of the turns. extractive: sentences "
        "of the turns, found by rules."
    )
    problem: str | None = Field(description="Why the language model failed; null if it did not, or if none is set.")


@tool("facts", core=False)
async def store_fact(
    request: StoreFactRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> StoreFactResult:
    """Store a fact, an action, an observation or a plan."""
    draft = Draft(
        content=request.content,
        category=request.category,
        importance=request.importance,
        provenance=provenance_of(context, "store_fact"),
        about=tuple(request.about),
        code_reader=context.caller,
    )
    (outcome,) = await memory.remember([draft], await project_id_of(None, projects, context, make=True))
    return StoreFactResult(stored=True, id=outcome.memory.id)


@tool("facts", read_only=True, core=False, reads=("memory",))
async def search_vibes(
    request: SearchVibesRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> SearchVibesResult:
    """Find memories by embedding similarity alone. recall also searches by words and usually finds more."""
    return await _similar(request, memory, projects, context)


@tool("facts", read_only=True, core=False, reads=("memory",))
async def mimo_search_memory(
    request: SearchMemoryRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> SearchMemoryResult:
    """Find memories by embedding similarity, like search_vibes.

    A chat completion without a language model asks its client to call this tool. Return the result to the conversation
    as the tool message.
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
    """Store the lasting facts that a session's turns state: preferences, decisions, circumstances.

    Extracts only explicit statements ("I prefer ...", "we decided ...", "the deadline is ..."), never conclusions. Each
    fact is a memory whose provenance lists its turns. A turn is read once, and a stored fact is not stored again.
    summarize_sessions does this for every session that it summarises.
    """
    done = await extractor.extract_session(
        request.sessionId,
        Visibility(await project_id_of(None, projects, context), request.sessionId),
        {**provenance_of(context, "extract_facts"), "job": run.job_id},
        lambda read, turns: run.report(read, turns, f"read {read} of {turns} turns"),
    )
    return ExtractFactsResult(
        sessionId=request.sessionId,
        turns=done.turns,
        facts=[_extracted(outcome) for outcome in done.stored],
        restated=done.restated,
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
        RecallOptions(limit=min(CANDIDATE_FACTOR * request.limit, 100), threshold=0.0, order=Order.SCORE),
    )
    similar = [hit for hit in found.hits if hit.cosine is not None and hit.cosine >= request.threshold]
    similar.sort(key=lambda hit: -(hit.cosine or 0))
    return SearchVibesResult(
        results=[
            Vibe(
                id=hit.memory.id,
                content=hit.text,
                category=hit.memory.category,
                importance=hit.memory.importance,
                metadata=dict(hit.memory.metadata),
                similarity=round(hit.cosine or 0, 6),
            )
            for hit in similar[: request.limit]
        ],
        degraded=found.degraded,
    )
