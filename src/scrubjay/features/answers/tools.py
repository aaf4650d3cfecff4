"""One question to all stores, answered with citations, and how a question is routed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.answers.routing import Decision, QueryType, StoreName, Strategy, analyze, decide
from scrubjay.features.answers.service import Answer, Asker, Consultation, Role, Status
from scrubjay.features.answers.synthesis import Method
from scrubjay.features.knowledge.mentions import Relevant
from scrubjay.features.memory.models import Kind
from scrubjay.features.memory.recall import Hit
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.working_memory.models import Desk
from scrubjay.features.working_memory.service import Match
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

DEFAULT_TIMEOUT_MS = 5_000
MAX_TIMEOUT_MS = 600_000


class AskRequest(Request):
    model_config = examples(
        {"query": "What do you know about user preferences?"},
        {"query": "What did I note just now?", "context_id": "fix-login", "timeout_ms": 2000},
    )

    query: str = Field(min_length=1, max_length=10_000, description="The question, in plain words.")
    context_id: Label | None = Field(
        default=None,
        description="The session or conversation that asks: its private memories and what it has in mind are asked "
        "too. By default this client's own, where the protocol can tell it.",
    )
    timeout_ms: int = Field(
        default=DEFAULT_TIMEOUT_MS,
        ge=1,
        le=MAX_TIMEOUT_MS,
        description="How long all of it may take, in milliseconds. What has not answered by then is left out, and the "
        "answer says so.",
    )
    project: ProjectReference = None


class RouterDecision(Result):
    """Which stores a question belongs to, and why."""

    primary_store: StoreName
    secondary_stores: list[StoreName]
    confidence: float = Field(description="How sure it is, 0 to 1.")
    reasoning: str = Field(description="What it was decided by, in words.")
    requires_synthesis: bool = Field(description="Whether no one store can be trusted to have the whole answer.")
    scores: dict[str, float] = Field(description="The share of all signs in the question that speak for each store.")
    decided_by: str = Field(description="rules, or the language model that was asked because they were not sure.")


class FoundMemory(Result):
    """A memory that fits."""

    id: str
    content: str
    category: str | None
    importance: float
    metadata: dict[str, Any]
    similarity: float | None = Field(description="How similar its meaning is, -1 to 1; null when that is not known.")
    score: float = Field(description="How well it fits the question, 0 to 1.")
    confirmed: bool = Field(description="Whether it says what was asked about; if not it is only related.")
    kind: Kind
    recorded_at: datetime


class FoundInMind(Result):
    """An item of working memory that fits."""

    id: str
    content: str
    importance: float
    score: float = Field(description="How much of what the question's words tell it has, 0 to 1.")
    created_at: datetime
    expires_at: datetime
    memory_id: str | None = Field(description="The memory that it became.")


class FoundRelation(Result):
    """A relation of something that the question names."""

    id: str = Field(description="The id of the triple.")
    subject: str
    predicate: str
    object: str
    text: str = Field(description="The same in words.")
    confidence: float
    source: str = Field(description="Who says so; inference:… when it follows from others.")
    rests_on: list[str] = Field(description="Of what was inferred: the ids of the triples that it follows from.")
    score: float = Field(description="1 when it says what was asked about, less when it only is about the same thing.")


class StoreResults(Result):
    """What each store found. Null is not an empty list: that store was not asked or could not answer; see stores."""

    working: list[FoundInMind] | None
    episodic: list[FoundMemory] | None = Field(description="Memories, best first.")
    semantic: list[FoundRelation] | None = Field(description="Relations, those that were asked for first.")
    procedural: None = Field(description="Always null as long as this server has no store of procedures.")


class CitationView(Result):
    """What a number such as [1] in the synthesis stands for."""

    number: int
    id: str = Field(description="The id of the memory, of the item of working memory, or of the triple.")
    store: StoreName
    excerpt: str = Field(description="Its words, shortened when there are many.")
    at: datetime = Field(description="Since when it is true.")
    score: float


class StoreStatus(Result):
    """How it went with one store."""

    store: StoreName
    role: Role | None = Field(
        description="Why it was asked: the question belongs to it, it is always asked (joined), or it answers in place "
        "of one that cannot (fallback). Null when it was not to be asked."
    )
    status: Status = Field(description="answered also when it found nothing.")
    found: int = Field(description="How much it found.")
    milliseconds: float
    reason: str | None = Field(description="Why it did not answer, or not as well as it should.")
    hint: str | None


class AskResult(Result):
    query_id: str
    router_decision: RouterDecision
    results: StoreResults
    synthesis: str | None = Field(
        description="The answer, in which [1] stands for the citation of that number. Null when nothing that is "
        "remembered says what was asked about; notes say more."
    )
    citations: list[CitationView] = Field(description="What the synthesis comes from.")
    method: Method = Field(
        description="extractive: the memories' own sentences, without a language model; llm: written by a language "
        "model, its citations checked; none: there is no answer."
    )
    model: str | None = Field(description="The language model that was asked for the answer and gave one.")
    notes: list[str] = Field(description="What the answer lacks, what was removed from it, what contradicts it.")
    stores: list[StoreStatus]
    context_id: str | None = Field(description="As it was given.")
    latency_ms: float


class ExplainRoutingRequest(Request):
    model_config = examples({"query": "How is the gateway related to the session service?"})

    query: str = Field(min_length=1, max_length=10_000, description="The question, in plain words.")


class ExplainRoutingResult(Result):
    query: str
    selected_type: QueryType = Field(description="What sort of thing it wants to know.")
    confidence: float
    type_scores: dict[str, float]
    matched_indicators: dict[str, list[str]] = Field(description="The words that speak for each type.")
    strategy: Strategy = Field(description="What such a question should be searched by.")
    recommended_stores: list[str]
    router_decision: RouterDecision = Field(description="Which stores ask_mimo asks, as far as rules decide it.")
    matched_keywords: dict[str, list[str]] = Field(description="The words that speak for each store.")
    is_sure: bool = Field(description="Whether the rules decide; if not, ask_mimo asks the language model, if any.")


@tool("asking", read_only=True, quotes=True)
async def ask_mimo(request: AskRequest, asker: Asker, projects: ProjectService, context: CallContext) -> AskResult:
    """Ask everything that is remembered one question, and get one answer that cites where it comes from.

    The question is routed to the stores that can answer it: what this session has in mind (working), what happened and
    was said (episodic), how things are related (semantic). Use recall to search memories yourself. Nothing is made up:
    where nothing that is known fits, there is no answer.
    """
    project_id = await project_id_of(request.project, projects, context)
    session_id = request.context_id or context.client
    answer = await asker.ask(
        request.query,
        Visibility(project_id, request.context_id),
        Desk(project_id, session_id) if session_id is not None else None,
        timeout=request.timeout_ms / 1000,
        witness=context.witness,
    )
    return _result(answer, request.context_id)


@tool("asking", read_only=True, core=False)
async def explain_routing(request: ExplainRoutingRequest) -> ExplainRoutingResult:
    """Tell where ask_mimo would look for an answer to a question, and which of its words say so. Asks nothing."""
    analysis, decision = analyze(request.query), decide(request.query)
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


def _result(answer: Answer, context_id: str | None) -> AskResult:
    synthesis = answer.synthesis
    return AskResult(
        query_id=str(uuid4()),
        router_decision=_decision(answer.decision),
        results=StoreResults(
            working=None if answer.working is None else [_in_mind(match) for match in answer.working],
            episodic=None if answer.episodic is None else [_memory(hit) for hit in answer.episodic.hits],
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
        stores=[_status(one) for one in answer.consultations],
        context_id=context_id,
        latency_ms=round(answer.seconds * 1000, 2),
    )


def _decision(decision: Decision) -> RouterDecision:
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


def _memory(hit: Hit) -> FoundMemory:
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
        kind=memory.kind,
        recorded_at=memory.recorded_at,
    )


def _relation(one: Relevant) -> FoundRelation:
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


def _in_mind(match: Match) -> FoundInMind:
    item = match.item
    return FoundInMind(
        id=item.id,
        content=item.content,
        importance=item.importance,
        score=match.score,
        created_at=item.created_at,
        expires_at=item.expires_at,
        memory_id=item.memory_id,
    )


def _status(one: Consultation) -> StoreStatus:
    return StoreStatus(
        store=one.store,
        role=one.role,
        status=one.status,
        found=one.found,
        milliseconds=round(one.seconds * 1000, 2),
        reason=one.reason,
        hint=one.hint,
    )
