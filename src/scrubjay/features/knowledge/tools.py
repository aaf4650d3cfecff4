"""How things are related: the tool `knowledge` as Mimo's clients know it, and its older names."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, JsonValue, model_validator

from scrubjay.features.knowledge.auto_inference import BackgroundInference
from scrubjay.features.knowledge.entity_resolution import Ambiguous, Candidate, Resolved, Unknown
from scrubjay.features.knowledge.inference import INFERRED_DEPTH, INFERRED_LEAST, Proof
from scrubjay.features.knowledge.mentions import sentence_of
from scrubjay.features.knowledge.models import GLOBAL_GRAPH, Direction, Entity, GraphScope, Inference, Keeping, Triple
from scrubjay.features.knowledge.rules import IN_BACKGROUND
from scrubjay.features.knowledge.service import CLOSURE_LEAST, PATH_DEPTH, SEARCH_LEAST, KnowledgeService
from scrubjay.features.knowledge.suggestions import Suggestions
from scrubjay.features.knowledge.teaching import Fact, Taught
from scrubjay.features.knowledge.traversal import Trail
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label, Share
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent as _absent
from scrubjay.tooling.optional_fields import is_nothing

MAX_TEXT, MAX_NAME, MAX_BATCH, MOST_LISTED = 20_000, 200, 1_000, 10_000
MAX_METADATA = 10_000
# Ten years.
LONGEST_TTL = 315_360_000
NO_MATCH = "No matching entities"

Operation = Literal[
    "query", "teach", "path", "match", "search", "prove", "infer", "suggest", "alias", "forget", "status"
]
READING = ("query", "path", "match", "search", "prove", "suggest", "status")
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Predicate = Annotated[str, Field(min_length=1, max_length=100)]
Depth = Annotated[int, Field(ge=1, le=20)]
Metadata = dict[str, JsonValue]

_NEEDS: dict[str, tuple[str, ...]] = {
    "path": ("subject", "object"),
    "match": ("patterns",),
    "search": ("query",),
    "prove": ("subject", "predicate", "object"),
    "alias": ("entity", "alias"),
}
SourceField = Field(default="user_input", min_length=1, max_length=500, description="Who or what says so.")
GraphField = Field(
    default=GLOBAL_GRAPH,
    min_length=1,
    max_length=200,
    description="Which graph; each is apart from all others.",
)


class FactRequest(Request):
    """One of many triples to teach."""

    subject: Name = Field(description="What it is said of: a name, or an id of an entity.")
    predicate: Predicate = Field(description="How it is related, such as depends_on.")
    object: Name = Field(description="What it is related to: a name, or an id.")
    subject_type: Label | None = Field(default=None, description="What sort of thing the subject is.")
    object_type: Label | None = Field(default=None, description="What sort of thing the object is.")
    confidence: Share = Field(default=1.0, description="How sure it is, 0 to 1.")


class PatternRequest(Request):
    """What triples must have; what is left out may be anything."""

    subject: Name | None = Field(default=None, description="A name or an id.")
    predicate: Predicate | None = Field(default=None, description="How they are related.")
    object: Name | None = Field(default=None, description="A name or an id.")


class ConsultGraphRequest(Request):
    model_config = examples(
        {"query": "billing service"}, {"entity": "billing service", "predicate": "depends_on", "depth": 5}
    )

    query: Annotated[str, Field(min_length=1, max_length=2_000)] | None = Field(
        default=None, description="The name or id of an entity: answers how it is related to others."
    )
    entity: Name | None = Field(
        default=None, description="Where to begin; with predicate, answers all that can be reached by it."
    )
    predicate: Predicate | None = Field(default=None, description="Such as depends_on.")
    depth: Depth = Field(default=3, description="How many steps at most.")
    direction: Direction = Field(default="forward", description="backward goes from objects to subjects.")
    min_confidence: Share | None = Field(
        default=None, description=f"How sure a whole way must be; {CLOSURE_LEAST} for what can be reached."
    )
    limit: int = Field(default=1_000, ge=1, le=MOST_LISTED, description="How many to return at most.")
    graph_id: str = GraphField
    project: ProjectReference = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _refuse_vague_query(self)
        return self


class TeachMimoRequest(Request):
    model_config = examples(
        {"subject": "billing service", "predicate": "depends_on", "object": "PostgreSQL"},
        {"text": "Ann reports to Bob. The billing service depends on PostgreSQL and Redis."},
    )

    subject: Name | None = Field(default=None, description="What it is said of: a name, or an id of an entity.")
    predicate: Predicate | None = Field(default=None, description="How it is related, such as depends_on.")
    object: Name | None = Field(default=None, description="What it is related to: a name, or an id.")
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)] | None = Field(
        default=None,
        description="Instead: sentences such as 'A depends on B and C.'; freer texts need a language model.",
    )
    source: str = SourceField
    subject_type: Label | None = Field(default=None, description="What sort of thing the subject is, such as person.")
    object_type: Label | None = Field(default=None, description="What sort of thing the object is.")
    confidence: Share = Field(default=1.0, description="How sure it is, 0 to 1.")
    ttl: Annotated[int, Field(ge=1, le=LONGEST_TTL)] | None = Field(
        default=None, description="After so many seconds it is not known any more; by default never."
    )
    context: Annotated[str, Field(max_length=2_000)] | None = Field(
        default=None, description="Where it was said, or what it is about."
    )
    metadata: Metadata = Field(default={}, description="Anything to keep with it.")
    graph_id: str = GraphField
    project: ProjectReference = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _refuse_vague_teaching(self, (self.text,))
        return self


class KnowledgeRequest(Request):
    model_config = examples(
        {"operation": "teach", "subject": "billing service", "predicate": "depends_on", "object": "PostgreSQL"},
        {"operation": "query", "entity": "billing service", "predicate": "depends_on", "depth": 5},
        {"operation": "prove", "subject": "Ann", "predicate": "reports_to", "object": "Carol"},
    )

    operation: Operation = Field(
        default="query",
        description="query: how something is related, or all that can be reached. teach: keep relations. path: the "
        "shortest way. match: what fits patterns. search: triples by a text. prove: why something is so. infer: what "
        "follows. suggest: sure facts of what is spoken of. alias: one more name. forget. status.",
    )
    query: Annotated[str, Field(min_length=1, max_length=2_000)] | None = Field(
        default=None, description="For query: the name or id of an entity. For search: a part of a name or predicate."
    )
    entity: Name | None = Field(
        default=None, description="For query with predicate, alias and forget: a name or an id of an entity."
    )
    predicate: Predicate | None = Field(default=None, description="Such as depends_on; for path by default any.")
    depth: Depth | None = Field(
        default=None, description=f"How many steps at most: 3, for path and prove {PATH_DEPTH}, unless you say another."
    )
    subject: Name | None = Field(default=None, description="For teach, path and prove: a name or an id.")
    object: Name | None = Field(default=None, description="For teach, path and prove: a name or an id.")
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)] | None = Field(
        default=None,
        description="For teach: sentences such as 'A depends on B and C.'; freer texts need a language model. For "
        "suggest: what is being said.",
    )
    source: str = SourceField
    triples: Annotated[list[FactRequest], Field(min_length=1, max_length=MAX_BATCH)] | None = Field(
        default=None, description="For teach: many at once. What is known already stays as it is."
    )
    subject_type: Label | None = Field(default=None, description="For teach: what sort of thing, such as person.")
    object_type: Label | None = Field(default=None, description="For teach: what sort of thing.")
    confidence: Share = Field(default=1.0, description="For teach: how sure it is, 0 to 1.")
    ttl: Annotated[int, Field(ge=1, le=LONGEST_TTL)] | None = Field(
        default=None, description="For teach: after so many seconds it is not known any more; by default never."
    )
    context: Annotated[str, Field(max_length=2_000)] | None = Field(
        default=None, description="For teach: where it was said, or what it is about."
    )
    metadata: Metadata = Field(default={}, description="For teach: anything to keep with it.")
    direction: Direction = Field(default="forward", description="For query: backward goes from objects to subjects.")
    min_confidence: Share | None = Field(
        default=None,
        description=f"How sure it must be, a whole way too: {CLOSURE_LEAST} for what can be reached, {SEARCH_LEAST} "
        f"for search, {INFERRED_LEAST} for infer, else 0.",
    )
    patterns: Annotated[list[PatternRequest], Field(min_length=1, max_length=20)] | None = Field(
        default=None, description="For match: each subject in the answer fits all of them."
    )
    persist: bool = Field(
        default=False, description="For infer: renew all that is inferred of this graph now, instead of only telling."
    )
    alias: Name | None = Field(default=None, description="For alias: the other name.")
    triple_id: Label | None = Field(default=None, description="For forget: which triple.")
    limit: int = Field(default=1_000, ge=1, le=MOST_LISTED, description="How many to return at most.")
    graph_id: str = GraphField
    project: ProjectReference = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        missing = [name for name in _NEEDS.get(self.operation, ()) if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.operation} needs {' and '.join(missing)}")
        if self.operation == "query":
            _refuse_vague_query(self)
        if self.operation == "teach":
            _refuse_vague_teaching(self, (self.text, self.triples))
        if self.operation == "forget" and (self.triple_id is None) == (self.entity is None):
            raise ValueError("forget needs triple_id or entity")
        return self


class EntityView(Result):
    """Something that is related to others."""

    id: str
    type: str
    name: str
    similarity: float | None = Field(
        default=None, exclude_if=_absent, description="How similar the meaning of its name is."
    )


class TripleView(Result):
    """A relation."""

    id: str
    subject_id: str
    subject_type: str
    subject: str = Field(description="Its name.")
    predicate: str
    object_id: str
    object_type: str
    object: str = Field(description="Its name.")
    confidence: float
    source: str = Field(description="Who says so; inference:… when it follows from others.")
    rests_on: list[str] = Field(
        default=[], exclude_if=is_nothing, description="Of what was inferred: the ids of the triples it follows from."
    )
    ttl: int | None = Field(default=None, exclude_if=_absent)
    expires_at: datetime | None = Field(default=None, exclude_if=_absent)
    context: str | None = Field(default=None, exclude_if=_absent)
    metadata: Metadata = Field(default={}, exclude_if=is_nothing)
    graph_id: str
    scope: Literal["global", "project"]
    created_at: datetime
    updated_at: datetime


class ReachedView(Result):
    """Something that can be reached."""

    id: str
    type: str
    depth: int = Field(description="In how many steps.")
    path: list[str] = Field(description="The ids of all entities on the way, both ends too.")
    confidence: float = Field(description="The product of the confidences on the way.")
    triples: list[str] = Field(description="The ids of the triples on the way.")


class RelationshipsView(Result):
    """What is known of an entity, the surest first."""

    outgoing: list[TripleView]
    incoming: list[TripleView]
    outgoing_total: int
    incoming_total: int


class StepView(Result):
    """A stored triple in an argument."""

    triple_id: str
    from_id: str
    predicate: str = Field(description="As it is stored.")
    to_id: str
    confidence: float
    rule: Literal["stated", "inverse", "symmetric"] = Field(description="How it is read.")


class InferenceView(Result):
    """What follows."""

    subject_id: str
    predicate: str
    object_id: str
    confidence: float
    source: str
    rests_on: list[str]


class DoubtfulView(Result):
    """What was not learned, because a name means several entities."""

    subject: str
    predicate: str
    object: str
    name: str = Field(description="The name that means several.")
    candidates: list[str]


class GraphStatus(Result):
    """How far a graph is."""

    graph_id: str
    entities: int
    triples: int
    inferred: int
    up_to_date: bool = Field(description="Whether all that follows was inferred from what is known now.")
    inferring: bool = Field(description="Whether this process is at it.")
    inferred_at: datetime | None
    problem: str | None = Field(description="Why not all that follows was inferred.")


class KnowledgeResult(Result):
    """What was found or done; of the fields below, those that belong to the operation."""

    operation: Operation
    status: Literal["learned", "already_known", "forgotten", "named"] | None = Field(default=None, exclude_if=_absent)
    results: list[ReachedView] | None = Field(default=None, exclude_if=_absent, description="Fewest steps first.")
    count: int | None = Field(default=None, exclude_if=_absent, description="How many are returned.")
    total: int | None = Field(default=None, exclude_if=_absent, description="How many there are.")
    complete: bool | None = Field(
        default=None, exclude_if=_absent, description="False when the search gave up at its limits before all was seen."
    )
    entity: str | None = Field(default=None, exclude_if=_absent, description="The id of the entity that is meant.")
    entity_name: str | None = Field(default=None, exclude_if=_absent)
    resolved_by: Literal["id", "name", "meaning"] | None = Field(default=None, exclude_if=_absent)
    aliases: list[str] | None = Field(default=None, exclude_if=_absent)
    relationships: RelationshipsView | None = Field(default=None, exclude_if=_absent)
    ambiguous: Literal[True] | None = Field(default=None, exclude_if=_absent)
    candidates: list[str] | None = Field(
        default=None, exclude_if=_absent, description="Ids of entities that may be meant."
    )
    similar: list[EntityView] | None = Field(
        default=None, exclude_if=_absent, description="Entities that are called something like it."
    )
    message: str | None = Field(default=None, exclude_if=_absent)
    triple_id: str | None = Field(default=None, exclude_if=_absent)
    triples_created: int | None = Field(default=None, exclude_if=_absent)
    triples_known: int | None = Field(
        default=None, exclude_if=_absent, description="How many were known already, and are as they were."
    )
    triples: list[TripleView] | None = Field(default=None, exclude_if=_absent)
    entities_created: list[str] | None = Field(default=None, exclude_if=_absent)
    perhaps_same: dict[str, list[EntityView]] | None = Field(
        default=None,
        exclude_if=is_nothing,
        description="For new entities, known ones with similar names; alias and forget put doubles right.",
    )
    doubtful: list[DoubtfulView] | None = Field(default=None, exclude_if=is_nothing)
    method: Literal["given", "rules", "llm"] | None = Field(
        default=None, exclude_if=_absent, description="How a text was read: by rules, or by a language model."
    )
    model: str | None = Field(default=None, exclude_if=_absent)
    not_understood: list[str] | None = Field(
        default=None, exclude_if=is_nothing, description="Sentences of which nothing was learned."
    )
    notes: list[str] | None = Field(default=None, exclude_if=is_nothing)
    masked: list[str] | None = Field(
        default=None, exclude_if=is_nothing, description="The kinds of secrets that were found and masked."
    )
    found: bool | None = Field(default=None, exclude_if=_absent, description="For path: whether there is a way.")
    path: list[str] | None = Field(default=None, exclude_if=_absent, description="Ids of entities, both ends too.")
    subjects: list[str] | None = Field(default=None, exclude_if=_absent, description="For match.")
    proved: bool | None = Field(default=None, exclude_if=_absent)
    proof: Literal["direct", "inverse", "symmetric", "transitive"] | None = Field(default=None, exclude_if=_absent)
    confidence: float | None = Field(default=None, exclude_if=_absent)
    steps: list[StepView] | None = Field(
        default=None, exclude_if=_absent, description="The stored triples, in the order of the way or argument."
    )
    inferences: list[InferenceView] | None = Field(default=None, exclude_if=_absent)
    persisted: bool | None = Field(default=None, exclude_if=_absent)
    suggestions: list[str] | None = Field(default=None, exclude_if=_absent, description="In words; see triples.")
    forgotten: list[str] | None = Field(default=None, exclude_if=_absent, description="The ids of erased triples.")
    entities_forgotten: list[str] | None = Field(default=None, exclude_if=_absent)
    graph: GraphStatus | None = Field(default=None, exclude_if=_absent)

    def bare(self) -> Any:
        """What the operation is for, without its frame."""
        return {name: value for name, value in self.model_dump(mode="json").items() if name != "operation"}


@tool("knowledge", core=False, destructive=True, reading_operations=READING)
async def knowledge(
    request: KnowledgeRequest,
    graph: KnowledgeService,
    inference: BackgroundInference,
    suggestions: Suggestions,
    projects: ProjectService,
    context: CallContext,
) -> KnowledgeResult:
    """Keep and ask how things are related: a graph of entities, with rules, proofs and the shortest ways.

    teach keeps "A depends on B"; query answers how something is related or what all depends on what; prove cites the
    triples that something follows from. A graph belongs to the active project, or to none; both are asked. To ask
    never makes an entity, and what is forgotten takes with it what was inferred from it.
    """
    making = request.operation == "teach"
    scope = GraphScope(await project_id_of(request.project, projects, context, make=making), request.graph_id)
    match request.operation:
        case "query":
            asked = ConsultGraphRequest(
                query=request.query,
                entity=request.entity,
                predicate=request.predicate,
                depth=request.depth or 3,
                direction=request.direction,
                min_confidence=request.min_confidence,
                limit=request.limit,
            )
            return await _query(asked, scope, graph, suggestions, context)
        case "teach":
            return await _teach(request, scope, graph, suggestions, context, request.triples)
        case "path":
            return await _path(request, scope, graph)
        case "match":
            return await _match(request, scope, graph)
        case "search":
            found, total = await graph.search(
                scope, request.query or "", request.limit, _or(request.min_confidence, SEARCH_LEAST)
            )
            suggestions.note(context.client, scope, told=found)
            triples = [_triple(one) for one in found]
            return KnowledgeResult(operation="search", triples=triples, count=len(triples), total=total)
        case "prove":
            return await _prove(request, scope, graph)
        case "infer":
            return await _infer(request, scope, graph, inference)
        case "suggest":
            told = await suggestions.suggest(context.client, scope, request.text)
            return KnowledgeResult(
                operation="suggest",
                suggestions=[sentence_of(one) for one in told],
                triples=[_triple(one) for one in told],
                count=len(told),
            )
        case "alias":
            entity = await graph.entity(scope, request.entity or "", by_meaning=False)
            aliases = await graph.alias(scope, entity, request.alias or "")
            return KnowledgeResult(
                operation="alias", status="named", entity=entity.id, entity_name=entity.name, aliases=[*aliases]
            )
        case "forget":
            if request.triple_id is not None:
                gone = await graph.forget_triple(scope, request.triple_id)
            else:
                entity = await graph.entity(scope, request.entity or "", by_meaning=False)
                gone = await graph.forget_entity(scope, entity)
            return KnowledgeResult(
                operation="forget",
                status="forgotten",
                forgotten=[*gone.triples],
                entities_forgotten=[*gone.entities],
                count=len(gone.triples),
            )
        case "status":
            return KnowledgeResult(operation="status", graph=await _status(scope, graph, inference))


@tool("knowledge", core=False, read_only=True)
async def consult_graph(
    request: ConsultGraphRequest,
    graph: KnowledgeService,
    suggestions: Suggestions,
    projects: ProjectService,
    context: CallContext,
) -> KnowledgeResult:
    """Ask how something is related to others, or all that can be reached: knowledge with the operation query."""
    scope = GraphScope(await project_id_of(request.project, projects, context), request.graph_id)
    return await _query(request, scope, graph, suggestions, context)


@tool("knowledge", core=False)
async def teach_mimo(
    request: TeachMimoRequest,
    graph: KnowledgeService,
    suggestions: Suggestions,
    projects: ProjectService,
    context: CallContext,
) -> KnowledgeResult:
    """Keep how things are related, as a triple or in plain sentences: knowledge with the operation teach."""
    scope = GraphScope(await project_id_of(request.project, projects, context, make=True), request.graph_id)
    return await _teach(request, scope, graph, suggestions, context)


# -- each operation --------------------------------------------------------------------------------


async def _query(
    request: ConsultGraphRequest,
    scope: GraphScope,
    graph: KnowledgeService,
    suggestions: Suggestions,
    context: CallContext,
) -> KnowledgeResult:
    done = KnowledgeResult(operation="query")
    reaching = request.entity is not None and request.predicate is not None
    match await graph.resolve(scope, (request.entity if reaching else request.query or request.entity) or ""):
        case Ambiguous(candidates):
            done.ambiguous = True
            done.candidates = [one.entity.id for one in candidates]
            done.similar = [_candidate(one) for one in candidates]
            return done
        case Unknown(similar, degraded):
            done.results, done.count, done.message = [], 0, NO_MATCH
            done.similar = [_candidate(one) for one in similar]
            done.notes = [degraded] if degraded else None
            return done
        case Resolved(entity, by):
            done.entity, done.entity_name, done.resolved_by = entity.id, entity.name, by
            suggestions.note(context.client, scope, [entity])
    if reaching:
        closure = await graph.closure(
            scope,
            entity,
            request.predicate or "",
            depth=request.depth,
            least=_or(request.min_confidence, CLOSURE_LEAST),
            direction=request.direction,
            limit=request.limit,
        )
        done.results = [_reached(trail) for trail in closure.trails]
        done.count, done.total, done.complete = len(done.results), closure.total, closure.complete
        return done
    known = await graph.relationships(scope, entity, request.limit, request.min_confidence or 0.0)
    suggestions.note(context.client, scope, told=[*known.outgoing, *known.incoming])
    done.aliases = [*await graph.aliases(scope, entity)]
    done.relationships = RelationshipsView(
        outgoing=[_triple(one) for one in known.outgoing],
        incoming=[_triple(one) for one in known.incoming],
        outgoing_total=known.outgoing_total,
        incoming_total=known.incoming_total,
    )
    return done


async def _teach(
    request: KnowledgeRequest | TeachMimoRequest,
    scope: GraphScope,
    graph: KnowledgeService,
    suggestions: Suggestions,
    context: CallContext,
    many: Sequence[FactRequest] | None = None,
) -> KnowledgeResult:
    done = KnowledgeResult(operation="teach")
    if many is not None:
        taught = await graph.teacher.teach_many(scope, [_fact(one, request) for one in many], context.client)
    elif request.text is not None:
        taught = await graph.teacher.teach_text(scope, request.text, _fact(None, request), context.client)
        done.method, done.model = taught.method, taught.model
    else:
        taught = await graph.teacher.teach(scope, _fact(None, request), context.client)
        done.triple_id = taught.kept[0].triple.id
    graph.changed()
    _tell_of(taught, done)
    triples = [one.triple for one in taught.kept]
    suggestions.note(context.client, scope, [end for one in triples for end in (one.subject, one.object)], triples)
    return done


def _tell_of(taught: Taught, done: KnowledgeResult) -> None:
    done.triples_created = taught.count(Keeping.ADDED)
    done.triples_known = taught.count(Keeping.KNOWN)
    is_news = any(one.keeping is not Keeping.KNOWN for one in taught.kept)
    done.status = "learned" if is_news else "already_known"
    done.triples = [_triple(one.triple) for one in taught.kept]
    done.entities_created = [entity.id for entity in taught.new_entities]
    done.perhaps_same = {new: [_candidate(one) for one in likely] for new, likely in taught.similar.items()}
    done.doubtful = [
        DoubtfulView(
            subject=one.fact.subject,
            predicate=one.fact.predicate,
            object=one.fact.object,
            name=one.name,
            candidates=[candidate.entity.id for candidate in one.candidates],
        )
        for one in taught.doubtful
    ]
    done.not_understood, done.notes, done.masked = [*taught.not_understood], [*taught.notes], [*taught.masked]


async def _path(request: KnowledgeRequest, scope: GraphScope, graph: KnowledgeService) -> KnowledgeResult:
    start = await graph.entity(scope, request.subject or "")
    end = await graph.entity(scope, request.object or "")
    depth, least = request.depth or PATH_DEPTH, request.min_confidence or 0.0
    way = await graph.path(scope, start, end, request.predicate, depth=depth, least=least)
    done = KnowledgeResult(operation="path", found=way.trail is not None, complete=way.complete)
    if way.trail is None:
        done.message = "no_path" if way.complete else "gave up before all was seen"
        return done
    done.path, done.confidence, done.steps = way.trail.path, _rounded(way.trail.confidence), _steps(way.trail)
    done.count = way.trail.depth
    return done


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
    depth, least = request.depth or PATH_DEPTH, request.min_confidence or 0.0
    proof = await graph.prove(scope, subject, request.predicate or "", object_, depth=depth, least=least)
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
    done = KnowledgeResult(operation="infer", persisted=False)
    if request.persist:
        inferred = await inference.renew(scope)
        done.persisted = inferred is not None
        done.message = None if inferred else "the graph changed meanwhile; it will be inferred shortly"
        done.graph = await _status(scope, graph, inference)
    else:
        predicates = [request.predicate] if request.predicate is not None else IN_BACKGROUND
        depth, least = request.depth or INFERRED_DEPTH, _or(request.min_confidence, INFERRED_LEAST)
        inferred = await graph.infer(scope, predicates, depth=depth, least=least)
    if inferred is not None:
        done.inferences = [_inference(one) for one in inferred.inferences[: request.limit]]
        done.count, done.total = len(done.inferences), len(inferred.inferences)
        done.notes = [inferred.problem] if inferred.problem else None
    return done


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


def _refuse_vague_query(request: KnowledgeRequest | ConsultGraphRequest) -> None:
    if request.query is None and (request.entity is None or request.predicate is None):
        raise ValueError("query needs query, or entity and predicate")


def _refuse_vague_teaching(request: KnowledgeRequest | TeachMimoRequest, others: Sequence[object]) -> None:
    given = [request.subject, request.predicate, request.object]
    ways = [all(given), *(one is not None for one in others)]
    if sum(map(bool, ways)) != 1 or (any(given) and not all(given)):
        told = "text or triples" if len(others) > 1 else "text"
        raise ValueError(f"teach needs subject, predicate and object, or else {told}")
    if len(BaseModel.model_dump_json(request, include={"metadata"})) > MAX_METADATA:
        raise ValueError(f"metadata may have {MAX_METADATA} characters as JSON")


def _fact(one: FactRequest | None, request: KnowledgeRequest | TeachMimoRequest) -> Fact:
    """What is to be taught; what stands beside the names is the same for many."""
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


def _or(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given


def _rounded(confidence: float) -> float:
    return round(confidence, 6)


def _candidate(one: Candidate) -> EntityView:
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


def _reached(trail: Trail) -> ReachedView:
    return ReachedView(
        id=trail.entity_id,
        type=trail.entity_id.partition(":")[0],
        depth=trail.depth,
        path=trail.path,
        confidence=_rounded(trail.confidence),
        triples=[step.triple_id for step in trail.steps],
    )


def _steps(found: Trail | Proof) -> list[StepView]:
    return [
        StepView(
            triple_id=step.triple_id,
            from_id=step.source,
            predicate=step.predicate,
            to_id=step.target,
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
