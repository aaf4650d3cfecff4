"""Tools that ask all stores one question and explain how a question is routed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

from pydantic import Field

from scrubjay.core.callers import READ_ONLY, Caller
from scrubjay.core.scopes import Visibility
from scrubjay.features.answers.router import QuestionRouter
from scrubjay.features.answers.routing import QueryType, RoutingDecision, StoreName, Strategy, analyze
from scrubjay.features.answers.service import AnswerService, CombinedAnswer, Role, Status, StoreOutcome
from scrubjay.features.answers.synthesis import AnswerMethod
from scrubjay.features.knowledge.mentions import RelevantTriple
from scrubjay.features.memory.link_views import StaleView, stale_view
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.memory.recall import Hit
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.working_memory.models import WorkingScope
from scrubjay.features.working_memory.service import ItemMatch
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_empty

# Tool families whose read scopes open a store. Episodic memory is declared by the tool, as it is always queried.
_FAMILIES = {StoreName.WORKING: "working", StoreName.SEMANTIC: "knowledge"}
DEFAULT_TIMEOUT_MS = 5_000
MAX_TIMEOUT_MS = 600_000


class AskRequest(Request):
    model_config = examples(
        {"query": "What do you know about user preferences?"},
        {"query": "What did I note just now?", "context_id": "fix-login", "timeout_ms": 2000},
    )

    query: str = Field(min_length=1, max_length=10_000, description="The question in natural language.")
    context_id: Label | None = Field(
        default=None,
        description="Session or conversation whose private memories and working memory are searched too. "
        "Defaults to the client's own session, if the protocol identifies it.",
    )
    timeout_ms: int = Field(
        default=DEFAULT_TIMEOUT_MS,
        ge=1,
        le=MAX_TIMEOUT_MS,
        description="Time limit in milliseconds. A store that does not answer in time is left out, and the answer "
        "says so.",
    )
    project: ProjectReference = None


class RouterDecision(Result):
    """The stores a question is routed to, and why."""

    primary_store: StoreName
    secondary_stores: list[StoreName]
    confidence: float = Field(description="Confidence of the routing, 0 to 1.")
    reasoning: str = Field(description="The reason for the routing.")
    requires_synthesis: bool = Field(description="True if the answer may need more than one store.")
    scores: dict[str, float] = Field(description="Share of the question's indicators for each store, 0 to 1.")
    decided_by: str = Field(description="`rules`, or the language model asked because the rules were not sure.")


class FoundMemory(Result):
    """A memory that matches the question."""

    id: str
    content: str
    category: str | None
    importance: float
    metadata: dict[str, Any]
    similarity: float | None = Field(description="Cosine similarity of the embeddings, -1 to 1; null if unknown.")
    score: float = Field(description="How well it matches the question, 0 to 1.")
    confirmed: bool = Field(description="True if it answers the question; otherwise it is only related.")
    stale: StaleView | None = Field(
        default=None,
        exclude_if=is_empty,
        description="Present if the code that it is about has changed or is gone: verify it before you rely on it.",
    )
    kind: MemoryKind
    recorded_at: datetime


class FoundWorkingItem(Result):
    """An item of working memory that matches the question."""

    id: str
    content: str
    importance: float
    score: float = Field(description="Share of the question's informative terms that it contains, 0 to 1.")
    created_at: datetime
    expires_at: datetime
    memory_id: str | None = Field(description="Id of the memory it was consolidated into.")


class FoundRelation(Result):
    """A relation of an entity that the question names."""

    id: str = Field(description="Id of the triple.")
    subject: str
    predicate: str
    object: str
    text: str = Field(description="The relation as a sentence.")
    confidence: float
    source: str = Field(description="Where the triple comes from; `inference:…` if it was inferred.")
    rests_on: list[str] = Field(description="Ids of the triples that an inferred one follows from.")
    score: float = Field(description="1 if it answers the question, less if it is about the same entity.")


class StoreResults(Result):
    """Results by store. Null means that the store was not queried or did not answer; see `stores`."""

    working: list[FoundWorkingItem] | None
    episodic: list[FoundMemory] | None = Field(description="Memories, best first.")
    semantic: list[FoundRelation] | None = Field(description="Relations, best first.")
    procedural: None = Field(description="Always null: this server has no procedural memory yet.")


class CitationView(Result):
    """The source behind a number such as [1] in the synthesis."""

    number: int
    id: str = Field(description="Id of the memory, working-memory item or triple.")
    store: StoreName
    excerpt: str = Field(description="The quoted text, shortened if it is long.")
    at: datetime = Field(description="When it became true.")
    score: float


class StoreStatus(Result):
    """Outcome of one store."""

    store: StoreName
    role: Role | None = Field(
        description="Why it was queried: `primary` or `secondary` by routing, `joined` if it is always queried, "
        "`fallback` in place of a store that cannot answer. Null if it was not queried."
    )
    status: Status = Field(description="`answered` also if there were no results.")
    found: int = Field(description="Number of results.")
    milliseconds: float
    reason: str | None = Field(description="Why it did not answer, or why its search was degraded.")
    hint: str | None


class AskResult(Result):
    query_id: str
    router_decision: RouterDecision
    results: StoreResults
    synthesis: str | None = Field(
        description="The answer; [1] refers to the citation with that number. Null if nothing stored answers the "
        "question; `notes` gives the reason."
    )
    citations: list[CitationView] = Field(description="The sources of the synthesis.")
    method: AnswerMethod = Field(
        description="`extractive`: sentences of the sources, without a language model; `llm`: written by a language "
        "model, with checked citations; `none`: no answer."
    )
    model: str | None = Field(description="The language model that wrote the answer.")
    notes: list[str] = Field(description="Caveats: missing stores, removed citations, contradictions.")
    stores: list[StoreStatus]
    context_id: str | None = Field(description="The context_id of the request.")
    latency_ms: float


class ExplainRoutingRequest(Request):
    model_config = examples({"query": "How is the gateway related to the session service?"})

    query: str = Field(min_length=1, max_length=10_000, description="The question in natural language.")
    project: ProjectReference = None


class ExplainRoutingResult(Result):
    query: str
    selected_type: QueryType = Field(description="The kind of information it asks for.")
    confidence: float
    type_scores: dict[str, float]
    matched_indicators: dict[str, list[str]] = Field(description="Words of the question that indicate each type.")
    strategy: Strategy = Field(description="How to search for an answer.")
    recommended_stores: list[str]
    router_decision: RouterDecision = Field(description="The stores that ask_mimo would query, by rules only.")
    matched_keywords: dict[str, list[str]] = Field(description="Words of the question that indicate each store.")
    is_sure: bool = Field(
        description="True if the rules are sure; otherwise ask_mimo asks the language model, if one is configured."
    )


@tool("asking", read_only=True, log_result=False, reads=("memory",), withholds=("working", "knowledge", "code"))
async def ask_mimo(
    request: AskRequest, asker: AnswerService, projects: ProjectService, context: CallContext
) -> AskResult:
    """Answer a question from everything that is stored, with citations.

    Routes the question to the stores that can answer it: working memory of this session, episodic memory (events,
    statements, facts) and semantic memory (relations). Returns no answer if nothing stored answers the question. Use
    `recall` to search memories directly. Working memory needs the scope `working:read`, relations `knowledge:read`.
    """
    project_id = await project_id_of(request.project, projects, context)
    session_id = request.context_id or context.client
    answer = await asker.ask(
        request.query,
        Visibility(project_id, request.context_id),
        WorkingScope(project_id, session_id) if session_id is not None else None,
        timeout=request.timeout_ms / 1000,
        withheld={
            store: f"{family}{READ_ONLY}" for store, family in _FAMILIES.items() if not context.caller.may_read(family)
        },
        code_reader=context.caller,
        on_step=context.on_step,
    )
    return _result(answer, request.context_id, context.caller)


@tool("asking", read_only=True, core=False, withholds=("knowledge",))
async def explain_routing(
    request: ExplainRoutingRequest, router: QuestionRouter, projects: ProjectService, context: CallContext
) -> ExplainRoutingResult:
    """Show which stores ask_mimo would query for a question, and which words and known entities decide it.

    Reads nothing but names of entities in the knowledge graph, with the scope `knowledge:read`.
    """
    project_id = await project_id_of(request.project, projects, context)
    can_read_graph = context.caller.may_read(_FAMILIES[StoreName.SEMANTIC])
    analysis = analyze(request.query)
    decision = await router.route(request.query, project_id, can_read_graph=can_read_graph)
    return ExplainRoutingResult(
        query=request.query,
        selected_type=analysis.type,
        confidence=analysis.confidence,
        type_scores=_by_name(analysis.type_scores),
        matched_indicators={kind.value: [*words] for kind, words in analysis.matched.items()},
        strategy=analysis.strategy,
        recommended_stores=[*analysis.recommended_stores],
        router_decision=_decision(decision),
        matched_keywords={store.value: [*words] for store, words in decision.keywords.items()},
        is_sure=decision.is_sure,
    )


def _result(answer: CombinedAnswer, context_id: str | None, caller: Caller) -> AskResult:
    synthesis = answer.synthesis
    return AskResult(
        query_id=str(uuid4()),
        router_decision=_decision(answer.decision),
        results=StoreResults(
            working=None if answer.working is None else [_working_item(match) for match in answer.working],
            episodic=None if answer.episodic is None else [_memory(hit, caller) for hit in answer.episodic.hits],
            semantic=None if answer.semantic is None else [_relation(one) for one in answer.semantic],
            procedural=None,
        ),
        synthesis=synthesis.text,
        citations=[
            CitationView(
                number=citation.number,
                id=citation.source.id,
                store=StoreName(citation.source.store),
                excerpt=citation.excerpt,
                at=citation.source.at,
                score=citation.source.score,
            )
            for citation in synthesis.citations
        ],
        method=synthesis.method,
        model=synthesis.model,
        notes=[*synthesis.notes],
        stores=[_status(one) for one in answer.outcomes],
        context_id=context_id,
        latency_ms=round(answer.seconds * 1000, 2),
    )


def _decision(decision: RoutingDecision) -> RouterDecision:
    return RouterDecision(
        primary_store=decision.primary,
        secondary_stores=[*decision.secondary],
        confidence=decision.confidence,
        reasoning=decision.reasoning,
        requires_synthesis=decision.requires_synthesis,
        scores=_by_name(decision.scores),
        decided_by=decision.decided_by,
    )


def _by_name(scores: Mapping[StoreName, float] | Mapping[QueryType, float]) -> dict[str, float]:
    return {name.value: round(score, 4) for name, score in scores.items()}


def _memory(hit: Hit, caller: Caller) -> FoundMemory:
    memory = hit.memory
    return FoundMemory(
        id=memory.id,
        content=memory.content,
        category=memory.category,
        importance=memory.importance,
        metadata=dict(memory.metadata),
        similarity=None if hit.cosine is None else round(hit.cosine, 6),
        score=hit.score,
        confirmed=hit.confirmed,
        stale=stale_view(hit.review, caller) if hit.review else None,
        kind=memory.kind,
        recorded_at=memory.recorded_at,
    )


def _relation(one: RelevantTriple) -> FoundRelation:
    triple = one.triple
    return FoundRelation(
        id=triple.id,
        subject=triple.subject.name,
        predicate=triple.predicate,
        object=triple.object.name,
        text=one.text,
        confidence=triple.confidence,
        source=triple.source,
        rests_on=[*triple.rests_on],
        score=one.score,
    )


def _working_item(match: ItemMatch) -> FoundWorkingItem:
    item = match.item
    return FoundWorkingItem(
        id=item.id,
        content=item.content,
        importance=item.importance,
        score=match.score,
        created_at=item.created_at,
        expires_at=item.expires_at,
        memory_id=item.memory_id,
    )


def _status(one: StoreOutcome) -> StoreStatus:
    return StoreStatus(
        store=one.store,
        role=one.role,
        status=one.status,
        found=one.found,
        milliseconds=round(one.seconds * 1000, 2),
        reason=one.reason,
        hint=one.hint,
    )
