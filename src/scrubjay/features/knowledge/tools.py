"""Tools of the knowledge graph: `knowledge`, and the older Mimo names `consult_graph` and `teach_mimo`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, JsonValue, model_validator

from scrubjay.features.knowledge.auto_inference import BackgroundInference
from scrubjay.features.knowledge.entity_resolution import Ambiguous, EntityCandidate, Resolved, Unknown
from scrubjay.features.knowledge.inference import INFERENCE_DEPTH, INFERENCE_MIN_CONFIDENCE, Proof
from scrubjay.features.knowledge.mentions import as_sentence
from scrubjay.features.knowledge.models import (
    GLOBAL_GRAPH,
    Direction,
    Entity,
    GraphScope,
    Inference,
    Triple,
    WriteOutcome,
)
from scrubjay.features.knowledge.rules import BACKGROUND_PREDICATES
from scrubjay.features.knowledge.service import (
    CLOSURE_MIN_CONFIDENCE,
    PATH_DEPTH,
    SEARCH_MIN_CONFIDENCE,
    KnowledgeService,
)
from scrubjay.features.knowledge.suggestions import FactSuggester
from scrubjay.features.knowledge.traversal import GraphPath
from scrubjay.features.knowledge.triple_writer import Fact, TeachResult
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label, Share
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent, is_empty

MAX_TEXT, MAX_NAME, MAX_BATCH, MAX_LISTED = 20_000, 200, 1_000, 10_000
MAX_METADATA = 10_000
# Ten years.
MAX_TTL_SECONDS = 315_360_000
NO_MATCH = "No matching entities"

Operation = Literal[
    "query", "teach", "path", "match", "search", "prove", "infer", "suggest", "alias", "forget", "status"
]
READING = ("query", "path", "match", "search", "prove", "suggest", "status")
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Predicate = Annotated[str, Field(min_length=1, max_length=100)]
Depth = Annotated[int, Field(ge=1, le=20)]
Metadata = dict[str, JsonValue]

_REQUIRED: dict[str, tuple[str, ...]] = {
    "path": ("subject", "object"),
    "match": ("patterns",),
    "search": ("query",),
    "prove": ("subject", "predicate", "object"),
    "alias": ("entity", "alias"),
}
SourceField = Field(default="user_input", min_length=1, max_length=500, description="Origin of the statement.")
GraphField = Field(
    default=GLOBAL_GRAPH,
    min_length=1,
    max_length=200,
    description="Name of the graph. Graphs share no entities or triples.",
)


class FactRequest(Request):
    """One triple of a batch to store."""

    subject: Name = Field(description="Name or entity id of the subject.")
    predicate: Predicate = Field(description="Relation from subject to object, such as depends_on.")
    object: Name = Field(description="Name or entity id of the object.")
    subject_type: Label | None = Field(default=None, description="Entity type of the subject.")
    object_type: Label | None = Field(default=None, description="Entity type of the object.")
    confidence: Share = Field(default=1.0, description="Confidence, 0 to 1.")


class PatternRequest(Request):
    """A triple pattern; an omitted field matches any value."""

    subject: Name | None = Field(default=None, description="Name or entity id.")
    predicate: Predicate | None = Field(default=None, description="Relation.")
    object: Name | None = Field(default=None, description="Name or entity id.")


class ConsultGraphRequest(Request):
    model_config = examples(
        {"query": "billing service"}, {"entity": "billing service", "predicate": "depends_on", "depth": 5}
    )

    query: Annotated[str, Field(min_length=1, max_length=2_000)] | None = Field(
        default=None, description="Name or id of an entity; returns its relationships."
    )
    entity: Name | None = Field(
        default=None, description="Start entity; with predicate, returns every entity reachable by that predicate."
    )
    predicate: Predicate | None = Field(default=None, description="Relation, such as depends_on.")
    depth: Depth = Field(default=3, description="Maximum number of steps.")
    direction: Direction = Field(default="forward", description="backward follows triples from object to subject.")
    min_confidence: Share | None = Field(
        default=None,
        description="Minimum confidence; for reachable entities that of the whole path, "
        f"default {CLOSURE_MIN_CONFIDENCE}.",
    )
    limit: int = Field(default=1_000, ge=1, le=MAX_LISTED, description="Maximum number of items to return.")
    graph_id: str = GraphField
    project: ProjectReference = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_query(self)
        return self


class TeachMimoRequest(Request):
    model_config = examples(
        {"subject": "billing service", "predicate": "depends_on", "object": "PostgreSQL"},
        {"text": "Ann reports to Bob. The billing service depends on PostgreSQL and Redis."},
    )

    subject: Name | None = Field(default=None, description="Name or entity id of the subject.")
    predicate: Predicate | None = Field(
        default=None, description="Relation from subject to object, such as depends_on."
    )
    object: Name | None = Field(default=None, description="Name or entity id of the object.")
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)] | None = Field(
        default=None,
        description="Sentences such as 'A depends on B and C.' instead of a triple; free text needs a language model.",
    )
    source: str = SourceField
    subject_type: Label | None = Field(default=None, description="Entity type of the subject, such as person.")
    object_type: Label | None = Field(default=None, description="Entity type of the object.")
    confidence: Share = Field(default=1.0, description="Confidence, 0 to 1.")
    ttl: Annotated[int, Field(ge=1, le=MAX_TTL_SECONDS)] | None = Field(
        default=None, description="Lifetime in seconds; default: no expiry."
    )
    context: Annotated[str, Field(max_length=2_000)] | None = Field(
        default=None, description="Where the statement was made, or what it is about."
    )
    metadata: Metadata = Field(default={}, description="Additional data to store with the triple.")
    graph_id: str = GraphField
    project: ProjectReference = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_teach(self, (self.text,))
        return self


class KnowledgeRequest(Request):
    model_config = examples(
        {"operation": "teach", "subject": "billing service", "predicate": "depends_on", "object": "PostgreSQL"},
        {"operation": "query", "entity": "billing service", "predicate": "depends_on", "depth": 5},
        {"operation": "prove", "subject": "Ann", "predicate": "reports_to", "object": "Carol"},
    )

    operation: Operation = Field(
        default="query",
        description="query: relationships of an entity, or reachable entities. teach: store triples. path: shortest "
        "path. match: triples that match patterns. search: triples by text. prove: derivation of a statement. infer: "
        "derived triples. suggest: reliable facts about mentioned entities. alias: add a name. forget: delete. "
        "status: state of the graph.",
    )
    query: Annotated[str, Field(min_length=1, max_length=2_000)] | None = Field(
        default=None, description="For query: name or id of an entity. For search: part of a name or predicate."
    )
    entity: Name | None = Field(
        default=None, description="For query with predicate, alias and forget: name or id of an entity."
    )
    predicate: Predicate | None = Field(
        default=None, description="Relation, such as depends_on; for path the default is any."
    )
    depth: Depth | None = Field(
        default=None, description=f"Maximum number of steps; default 3, for path and prove {PATH_DEPTH}."
    )
    subject: Name | None = Field(default=None, description="For teach, path and prove: name or entity id.")
    object: Name | None = Field(default=None, description="For teach, path and prove: name or entity id.")
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)] | None = Field(
        default=None,
        description="For teach: sentences such as 'A depends on B and C.'; free text needs a language model. For "
        "suggest: the current text.",
    )
    source: str = SourceField
    triples: Annotated[list[FactRequest], Field(min_length=1, max_length=MAX_BATCH)] | None = Field(
        default=None, description="For teach: a batch of triples. Known triples stay unchanged."
    )
    subject_type: Label | None = Field(
        default=None, description="For teach: entity type of the subject, such as person."
    )
    object_type: Label | None = Field(default=None, description="For teach: entity type of the object.")
    confidence: Share = Field(default=1.0, description="For teach: confidence, 0 to 1.")
    ttl: Annotated[int, Field(ge=1, le=MAX_TTL_SECONDS)] | None = Field(
        default=None, description="For teach: lifetime in seconds; default: no expiry."
    )
    context: Annotated[str, Field(max_length=2_000)] | None = Field(
        default=None, description="For teach: where the statement was made, or what it is about."
    )
    metadata: Metadata = Field(default={}, description="For teach: additional data to store with the triple.")
    direction: Direction = Field(
        default="forward", description="For query: backward follows triples from object to subject."
    )
    min_confidence: Share | None = Field(
        default=None,
        description=f"Minimum confidence, for paths of the whole path. Default: {CLOSURE_MIN_CONFIDENCE} for reachable "
        f"entities, {SEARCH_MIN_CONFIDENCE} for search, {INFERENCE_MIN_CONFIDENCE} for infer, else 0.",
    )
    patterns: Annotated[list[PatternRequest], Field(min_length=1, max_length=20)] | None = Field(
        default=None, description="For match: every returned subject matches all patterns."
    )
    persist: bool = Field(
        default=False,
        description="For infer: replace the stored inferred triples of this graph by the result.",
    )
    alias: Name | None = Field(default=None, description="For alias: the additional name.")
    triple_id: Label | None = Field(default=None, description="For forget: id of the triple.")
    limit: int = Field(default=1_000, ge=1, le=MAX_LISTED, description="Maximum number of items to return.")
    graph_id: str = GraphField
    project: ProjectReference = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        missing = [name for name in _REQUIRED.get(self.operation, ()) if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.operation} needs {' and '.join(missing)}")
        if self.operation == "query":
            _check_query(self)
        if self.operation == "teach":
            _check_teach(self, (self.text, self.triples))
        if self.operation == "forget" and (self.triple_id is None) == (self.entity is None):
            raise ValueError("forget needs triple_id or entity")
        return self


class EntityView(Result):
    """An entity of the graph."""

    id: str
    type: str
    name: str
    similarity: float | None = Field(
        default=None, exclude_if=is_absent, description="Similarity of its name to the given name."
    )


class TripleView(Result):
    """A stored triple."""

    id: str
    subject_id: str
    subject_type: str
    subject: str = Field(description="Name of the subject.")
    predicate: str
    object_id: str
    object_type: str
    object: str = Field(description="Name of the object.")
    confidence: float
    source: str = Field(description="Origin of the triple; inference:… for an inferred one.")
    rests_on: list[str] = Field(
        default=[], exclude_if=is_empty, description="For an inferred triple: ids of the triples it follows from."
    )
    ttl: int | None = Field(default=None, exclude_if=is_absent)
    expires_at: datetime | None = Field(default=None, exclude_if=is_absent)
    context: str | None = Field(default=None, exclude_if=is_absent)
    metadata: Metadata = Field(default={}, exclude_if=is_empty)
    graph_id: str
    scope: Literal["global", "project"]
    created_at: datetime
    updated_at: datetime


class ReachedView(Result):
    """A reachable entity."""

    id: str
    type: str
    depth: int = Field(description="Number of steps from the start.")
    path: list[str] = Field(description="Ids of the entities on the path, both ends included.")
    confidence: float = Field(description="Product of the confidences on the path.")
    triples: list[str] = Field(description="Ids of the triples on the path.")


class RelationshipsView(Result):
    """Triples of an entity, highest confidence first."""

    outgoing: list[TripleView]
    incoming: list[TripleView]
    outgoing_total: int
    incoming_total: int


class StepView(Result):
    """A stored triple in a path or proof: `from_id predicate to_id` is the stored statement."""

    triple_id: str
    from_id: str = Field(
        description="Subject of the stored triple; by an inverse rule, a proof leads from to_id to it."
    )
    predicate: str = Field(description="The stored predicate.")
    to_id: str = Field(description="Object of the stored triple.")
    confidence: float
    rule: Literal["stated", "inverse", "symmetric"] = Field(description="How the triple is applied.")


class InferenceView(Result):
    """A derived triple."""

    subject_id: str
    predicate: str
    object_id: str
    confidence: float
    source: str
    rests_on: list[str]


class AmbiguousFactView(Result):
    """A triple that was not stored because a name is ambiguous."""

    subject: str
    predicate: str
    object: str
    name: str = Field(description="The ambiguous name.")
    candidates: list[str]


class GraphStatus(Result):
    """State of a graph."""

    graph_id: str
    entities: int
    triples: int
    inferred: int
    up_to_date: bool = Field(description="Whether inference is complete for the current triples.")
    inferring: bool = Field(description="Whether inference is running in this process.")
    inferred_at: datetime | None
    problem: str | None = Field(description="Why inference is incomplete.")


class KnowledgeResult(Result):
    """Result of an operation; only the fields of that operation are present."""

    operation: Operation
    status: Literal["learned", "already_known", "forgotten", "named"] | None = Field(default=None, exclude_if=is_absent)
    results: list[ReachedView] | None = Field(default=None, exclude_if=is_absent, description="Fewest steps first.")
    count: int | None = Field(default=None, exclude_if=is_absent, description="Number of returned items.")
    total: int | None = Field(default=None, exclude_if=is_absent, description="Number of all matching items.")
    complete: bool | None = Field(
        default=None,
        exclude_if=is_absent,
        description="False when the search stopped at a limit.",
    )
    entity: str | None = Field(default=None, exclude_if=is_absent, description="Id of the resolved entity.")
    entity_name: str | None = Field(default=None, exclude_if=is_absent)
    resolved_by: Literal["id", "name", "meaning"] | None = Field(default=None, exclude_if=is_absent)
    aliases: list[str] | None = Field(default=None, exclude_if=is_absent)
    relationships: RelationshipsView | None = Field(default=None, exclude_if=is_absent)
    ambiguous: Literal[True] | None = Field(default=None, exclude_if=is_absent)
    candidates: list[str] | None = Field(
        default=None, exclude_if=is_absent, description="Ids of the entities that match an ambiguous name."
    )
    similar: list[EntityView] | None = Field(
        default=None, exclude_if=is_absent, description="Entities with similar names."
    )
    message: str | None = Field(default=None, exclude_if=is_absent)
    triple_id: str | None = Field(default=None, exclude_if=is_absent)
    triples_created: int | None = Field(default=None, exclude_if=is_absent)
    triples_known: int | None = Field(
        default=None, exclude_if=is_absent, description="Number of triples that were already known; they are unchanged."
    )
    triples: list[TripleView] | None = Field(default=None, exclude_if=is_absent)
    entities_created: list[str] | None = Field(default=None, exclude_if=is_absent)
    possible_duplicates: dict[str, list[EntityView]] | None = Field(
        default=None,
        exclude_if=is_empty,
        description="For each new entity, known ones with similar names; merge duplicates with alias and forget.",
    )
    ambiguous_facts: list[AmbiguousFactView] | None = Field(default=None, exclude_if=is_empty)
    method: Literal["given", "rules", "llm"] | None = Field(
        default=None,
        exclude_if=is_absent,
        description="How triples were extracted: given, by rules, or by a language model.",
    )
    model: str | None = Field(default=None, exclude_if=is_absent)
    not_understood: list[str] | None = Field(
        default=None, exclude_if=is_empty, description="Sentences that yielded no triple."
    )
    notes: list[str] | None = Field(default=None, exclude_if=is_empty)
    masked: list[str] | None = Field(
        default=None, exclude_if=is_empty, description="Kinds of secrets that were found and masked."
    )
    found: bool | None = Field(default=None, exclude_if=is_absent, description="For path: whether a path exists.")
    path: list[str] | None = Field(
        default=None, exclude_if=is_absent, description="Ids of the entities, both ends included."
    )
    subjects: list[str] | None = Field(
        default=None, exclude_if=is_absent, description="For match: ids of the matching subjects."
    )
    proved: bool | None = Field(default=None, exclude_if=is_absent)
    proof: Literal["direct", "inverse", "symmetric", "transitive"] | None = Field(default=None, exclude_if=is_absent)
    confidence: float | None = Field(default=None, exclude_if=is_absent)
    steps: list[StepView] | None = Field(
        default=None, exclude_if=is_absent, description="Stored triples, in the order of the path or proof."
    )
    inferences: list[InferenceView] | None = Field(default=None, exclude_if=is_absent)
    persisted: bool | None = Field(default=None, exclude_if=is_absent)
    suggestions: list[str] | None = Field(
        default=None, exclude_if=is_absent, description="The suggested triples as sentences."
    )
    forgotten: list[str] | None = Field(default=None, exclude_if=is_absent, description="Ids of the deleted triples.")
    entities_forgotten: list[str] | None = Field(default=None, exclude_if=is_absent)
    graph: GraphStatus | None = Field(default=None, exclude_if=is_absent)

    def bare(self) -> Any:
        """Return the fields without `operation`."""
        return {name: value for name, value in self.model_dump(mode="json").items() if name != "operation"}


@tool("knowledge", core=False, destructive=True, reading_operations=READING)
async def knowledge(
    request: KnowledgeRequest,
    graph: KnowledgeService,
    inference: BackgroundInference,
    suggestions: FactSuggester,
    projects: ProjectService,
    context: CallContext,
) -> KnowledgeResult:
    """Store and query relationships in a knowledge graph: entities, triples, rules, proofs and shortest paths.

    teach stores "A depends on B"; query returns the relationships of an entity or all entities it reaches; prove cites
    the triples that a statement follows from. A graph belongs to the active project or is global; queries read both.
    Queries never create entities. Deleting a triple also deletes the triples inferred from it.
    """
    is_write = request.operation == "teach"
    scope = GraphScope(await project_id_of(request.project, projects, context, make=is_write), request.graph_id)
    match request.operation:
        case "query":
            consult = ConsultGraphRequest(
                query=request.query,
                entity=request.entity,
                predicate=request.predicate,
                depth=request.depth or 3,
                direction=request.direction,
                min_confidence=request.min_confidence,
                limit=request.limit,
            )
            return await _query(consult, scope, graph, suggestions, context)
        case "teach":
            return await _teach(request, scope, graph, suggestions, context, request.triples)
        case "path":
            return await _path(request, scope, graph)
        case "match":
            return await _match(request, scope, graph)
        case "search":
            found, total = await graph.search(
                scope, request.query or "", request.limit, _or(request.min_confidence, SEARCH_MIN_CONFIDENCE)
            )
            suggestions.record(context.client, scope, shown=found)
            triples = [_triple(one) for one in found]
            return KnowledgeResult(operation="search", triples=triples, count=len(triples), total=total)
        case "prove":
            return await _prove(request, scope, graph)
        case "infer":
            return await _infer(request, scope, graph, inference)
        case "suggest":
            suggested = await suggestions.suggest(context.client, scope, request.text)
            return KnowledgeResult(
                operation="suggest",
                suggestions=[as_sentence(one) for one in suggested],
                triples=[_triple(one) for one in suggested],
                count=len(suggested),
            )
        case "alias":
            entity = await graph.entity(scope, request.entity or "", by_meaning=False)
            aliases = await graph.add_alias(scope, entity, request.alias or "")
            return KnowledgeResult(
                operation="alias", status="named", entity=entity.id, entity_name=entity.name, aliases=[*aliases]
            )
        case "forget":
            if request.triple_id is not None:
                deleted = await graph.forget_triple(scope, request.triple_id)
            else:
                entity = await graph.entity(scope, request.entity or "", by_meaning=False)
                deleted = await graph.forget_entity(scope, entity)
            return KnowledgeResult(
                operation="forget",
                status="forgotten",
                forgotten=[*deleted.triples],
                entities_forgotten=[*deleted.entities],
                count=len(deleted.triples),
            )
        case "status":
            return KnowledgeResult(operation="status", graph=await _status(scope, graph, inference))


@tool("knowledge", core=False, read_only=True)
async def consult_graph(
    request: ConsultGraphRequest,
    graph: KnowledgeService,
    suggestions: FactSuggester,
    projects: ProjectService,
    context: CallContext,
) -> KnowledgeResult:
    """Return the relationships of an entity, or all reachable entities. Same as knowledge with operation query."""
    scope = GraphScope(await project_id_of(request.project, projects, context), request.graph_id)
    return await _query(request, scope, graph, suggestions, context)


@tool("knowledge", core=False)
async def teach_mimo(
    request: TeachMimoRequest,
    graph: KnowledgeService,
    suggestions: FactSuggester,
    projects: ProjectService,
    context: CallContext,
) -> KnowledgeResult:
    """Store relationships, given as a triple or as sentences. Same as knowledge with operation teach."""
    scope = GraphScope(await project_id_of(request.project, projects, context, make=True), request.graph_id)
    return await _teach(request, scope, graph, suggestions, context)


# -- operations ------------------------------------------------------------------------------------


async def _query(
    request: ConsultGraphRequest,
    scope: GraphScope,
    graph: KnowledgeService,
    suggestions: FactSuggester,
    context: CallContext,
) -> KnowledgeResult:
    answer = KnowledgeResult(operation="query")
    reaching = request.entity is not None and request.predicate is not None
    match await graph.resolve(scope, (request.entity if reaching else request.query or request.entity) or ""):
        case Ambiguous(candidates):
            answer.ambiguous = True
            answer.candidates = [one.entity.id for one in candidates]
            answer.similar = [_candidate(one) for one in candidates]
            return answer
        case Unknown(similar, degraded):
            answer.results, answer.count, answer.message = [], 0, NO_MATCH
            answer.similar = [_candidate(one) for one in similar]
            answer.notes = [degraded] if degraded else None
            return answer
        case Resolved(entity, by):
            answer.entity, answer.entity_name, answer.resolved_by = entity.id, entity.name, by
            suggestions.record(context.client, scope, [entity])
    if reaching:
        closure = await graph.closure(
            scope,
            entity,
            request.predicate or "",
            depth=request.depth,
            min_confidence=_or(request.min_confidence, CLOSURE_MIN_CONFIDENCE),
            direction=request.direction,
            limit=request.limit,
        )
        answer.results = [_reached(path) for path in closure.paths]
        answer.count, answer.total, answer.complete = len(answer.results), closure.total, closure.complete
        return answer
    known = await graph.relationships(scope, entity, request.limit, request.min_confidence or 0.0)
    suggestions.record(context.client, scope, shown=[*known.outgoing, *known.incoming])
    answer.aliases = [*await graph.aliases(scope, entity)]
    answer.relationships = RelationshipsView(
        outgoing=[_triple(one) for one in known.outgoing],
        incoming=[_triple(one) for one in known.incoming],
        outgoing_total=known.outgoing_total,
        incoming_total=known.incoming_total,
    )
    return answer


async def _teach(
    request: KnowledgeRequest | TeachMimoRequest,
    scope: GraphScope,
    graph: KnowledgeService,
    suggestions: FactSuggester,
    context: CallContext,
    batch: Sequence[FactRequest] | None = None,
) -> KnowledgeResult:
    answer = KnowledgeResult(operation="teach")
    if batch is not None:
        result = await graph.writer.teach_many(scope, [_fact(one, request) for one in batch], context.client)
    elif request.text is not None:
        result = await graph.writer.teach_text(scope, request.text, _fact(None, request), context.client)
        answer.method, answer.model = result.method, result.model
    else:
        result = await graph.writer.teach(scope, _fact(None, request), context.client)
        answer.triple_id = result.stored[0].triple.id
    graph.notify_changed()
    _report_stored(result, answer)
    triples = [one.triple for one in result.stored]
    suggestions.record(context.client, scope, [end for one in triples for end in (one.subject, one.object)], triples)
    return answer


def _report_stored(result: TeachResult, answer: KnowledgeResult) -> None:
    answer.triples_created = result.count(WriteOutcome.ADDED)
    answer.triples_known = result.count(WriteOutcome.KNOWN)
    is_new = any(one.outcome is not WriteOutcome.KNOWN for one in result.stored)
    answer.status = "learned" if is_new else "already_known"
    answer.triples = [_triple(one.triple) for one in result.stored]
    answer.entities_created = [entity.id for entity in result.new_entities]
    answer.possible_duplicates = {new: [_candidate(one) for one in likely] for new, likely in result.similar.items()}
    answer.ambiguous_facts = [
        AmbiguousFactView(
            subject=one.fact.subject,
            predicate=one.fact.predicate,
            object=one.fact.object,
            name=one.name,
            candidates=[candidate.entity.id for candidate in one.candidates],
        )
        for one in result.ambiguous
    ]
    answer.not_understood, answer.notes, answer.masked = [*result.not_understood], [*result.notes], [*result.masked]


async def _path(request: KnowledgeRequest, scope: GraphScope, graph: KnowledgeService) -> KnowledgeResult:
    start = await graph.entity(scope, request.subject or "")
    end = await graph.entity(scope, request.object or "")
    depth, min_confidence = request.depth or PATH_DEPTH, request.min_confidence or 0.0
    path = await graph.path(scope, start, end, request.predicate, depth=depth, min_confidence=min_confidence)
    answer = KnowledgeResult(operation="path", found=path.path is not None, complete=path.complete)
    if path.path is None:
        answer.message = "no_path" if path.complete else "the search stopped at its limit before it was complete"
        return answer
    answer.path, answer.confidence, answer.steps = path.path.path, _rounded(path.path.confidence), _steps(path.path)
    answer.count = path.path.depth
    return answer


async def _match(request: KnowledgeRequest, scope: GraphScope, graph: KnowledgeService) -> KnowledgeResult:
    patterns = [await graph.pattern(scope, one.subject, one.predicate, one.object) for one in request.patterns or []]
    matched = await graph.match(scope, patterns, request.limit)
    return KnowledgeResult(
        operation="match",
        subjects=[*matched.subjects[: request.limit]],
        triples=[_triple(one) for one in matched.triples],
        count=len(matched.triples),
        total=matched.total,
        complete=matched.complete,
    )


async def _prove(request: KnowledgeRequest, scope: GraphScope, graph: KnowledgeService) -> KnowledgeResult:
    subject = await graph.entity(scope, request.subject or "")
    object_ = await graph.entity(scope, request.object or "")
    depth, min_confidence = request.depth or PATH_DEPTH, request.min_confidence or 0.0
    proof = await graph.prove(
        scope, subject, request.predicate or "", object_, depth=depth, min_confidence=min_confidence
    )
    if not isinstance(proof, Proof):
        return KnowledgeResult(operation="prove", proved=False, complete=proof.complete, message="unprovable")
    cited = [step.triple_id for step in proof.steps]
    return KnowledgeResult(
        operation="prove",
        proved=True,
        proof=proof.kind,
        confidence=_rounded(proof.confidence),
        path=[*proof.path],
        steps=_steps(proof),
        triples=[_triple(one) for one in await graph.triples(scope, cited)],
    )


async def _infer(
    request: KnowledgeRequest, scope: GraphScope, graph: KnowledgeService, inference: BackgroundInference
) -> KnowledgeResult:
    answer = KnowledgeResult(operation="infer", persisted=False)
    if request.persist:
        inferred = await inference.infer_graph(scope)
        answer.persisted = inferred is not None
        answer.message = None if inferred else "the graph changed during inference; inference will run again shortly"
        answer.graph = await _status(scope, graph, inference)
    else:
        predicates = [request.predicate] if request.predicate is not None else BACKGROUND_PREDICATES
        depth, min_confidence = request.depth or INFERENCE_DEPTH, _or(request.min_confidence, INFERENCE_MIN_CONFIDENCE)
        inferred = await graph.infer(scope, predicates, depth=depth, min_confidence=min_confidence)
    if inferred is not None:
        answer.inferences = [_inference(one) for one in inferred.inferences[: request.limit]]
        answer.count, answer.total = len(answer.inferences), len(inferred.inferences)
        answer.notes = [inferred.problem] if inferred.problem else None
    return answer


async def _status(scope: GraphScope, graph: KnowledgeService, inference: BackgroundInference) -> GraphStatus:
    state = await graph.state(scope)
    return GraphStatus(
        graph_id=scope.graph_id,
        entities=state.entities,
        triples=state.triples,
        inferred=state.inferred,
        up_to_date=state.up_to_date,
        inferring=inference.running,
        inferred_at=state.inferred_at,
        problem=state.problem,
    )


# -- translation -----------------------------------------------------------------------------------


def _check_query(request: KnowledgeRequest | ConsultGraphRequest) -> None:
    if request.query is None and (request.entity is None or request.predicate is None):
        raise ValueError("query needs query, or entity and predicate")


def _check_teach(request: KnowledgeRequest | TeachMimoRequest, others: Sequence[object]) -> None:
    given = [request.subject, request.predicate, request.object]
    forms = [all(given), *(one is not None for one in others)]
    if sum(map(bool, forms)) != 1 or (any(given) and not all(given)):
        alternatives = "text or triples" if len(others) > 1 else "text"
        raise ValueError(f"teach needs subject, predicate and object, or else {alternatives}")
    if len(BaseModel.model_dump_json(request, include={"metadata"})) > MAX_METADATA:
        raise ValueError(f"metadata exceeds {MAX_METADATA} characters as JSON")


def _fact(one: FactRequest | None, request: KnowledgeRequest | TeachMimoRequest) -> Fact:
    """Build the fact to store; source, ttl, context and metadata come from the request."""
    named = one or request
    return Fact(
        subject=named.subject or "",
        predicate=named.predicate or "",
        object=named.object or "",
        subject_type=named.subject_type,
        object_type=named.object_type,
        confidence=named.confidence,
        source=request.source,
        ttl=request.ttl,
        context=request.context,
        metadata=request.metadata,
    )


def _or(given: float | None, default: float) -> float:
    return default if given is None else given


def _rounded(confidence: float) -> float:
    return round(confidence, 6)


def _candidate(one: EntityCandidate) -> EntityView:
    entity: Entity = one.entity
    return EntityView(id=entity.id, type=entity.type, name=entity.name, similarity=one.similarity)


def _triple(one: Triple) -> TripleView:
    return TripleView(
        id=one.id,
        subject_id=one.subject.id,
        subject_type=one.subject.type,
        subject=one.subject.name,
        predicate=one.predicate,
        object_id=one.object.id,
        object_type=one.object.type,
        object=one.object.name,
        confidence=one.confidence,
        source=one.source,
        rests_on=[*one.rests_on],
        ttl=one.ttl,
        expires_at=one.expires_at,
        context=one.context,
        metadata=dict(one.metadata),
        graph_id=one.graph_id,
        scope="global" if one.project_id is None else "project",
        created_at=one.created_at,
        updated_at=one.updated_at,
    )


def _reached(path: GraphPath) -> ReachedView:
    return ReachedView(
        id=path.entity_id,
        type=path.entity_id.partition(":")[0],
        depth=path.depth,
        path=path.path,
        confidence=_rounded(path.confidence),
        triples=[step.triple_id for step in path.steps],
    )


def _steps(found: GraphPath | Proof) -> list[StepView]:
    return [
        StepView(
            triple_id=step.triple_id,
            from_id=step.subject,
            predicate=step.predicate,
            to_id=step.object,
            confidence=step.confidence,
            rule=step.rule,
        )
        for step in found.steps
    ]


def _inference(one: Inference) -> InferenceView:
    return InferenceView(
        subject_id=one.subject,
        predicate=one.predicate,
        object_id=one.object,
        confidence=one.confidence,
        source=one.source,
        rests_on=[*one.rests_on],
    )
