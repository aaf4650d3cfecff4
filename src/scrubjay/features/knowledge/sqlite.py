"""The knowledge graph in SQLite."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace as with_changes
from datetime import datetime
from typing import Any, TypeVar

from scrubjay.core.ids import new_id
from scrubjay.core.policies import StorageQuota
from scrubjay.db.sqlite.columns import (
    json_text,
    json_value,
    microseconds,
    moment,
    optional_microseconds,
    optional_moment,
)
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.knowledge.models import (
    Direction,
    Entity,
    GraphEdge,
    GraphGeneration,
    GraphScope,
    GraphState,
    IndexedEntity,
    Inference,
    Relationships,
    StoredTriple,
    Triple,
    TripleMatches,
    TriplePattern,
    WriteOutcome,
)
from scrubjay.features.knowledge.store import DeletedTriples, GraphReader
from scrubjay.features.projects.rows import require_project

T = TypeVar("T")

_SQL = load_queries(__file__)
# A word in this many names is ignored when searching similar names: it does not distinguish them.
MAX_NAMES_PER_WORD = 2_000
# Subjects of one pattern that are checked against the next.
MAX_SUBJECTS = 20_000
# Expired triples deleted in one transaction; small, so that other writers do not wait long.
DELETE_BATCH_SIZE = 1_000


class SqliteKnowledge:
    """Implements `KnowledgeStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    # -- entities ----------------------------------------------------------------------------------

    async def entities_by_key(
        self, scope: GraphScope, keys: Collection[str], now: datetime
    ) -> Mapping[str, Sequence[Entity]]:
        values = _values(scope, now) | {"keys": json_text([*keys])}

        def work(connection: Connection) -> Mapping[str, Sequence[Entity]]:
            found: dict[str, dict[str, Entity]] = defaultdict(dict)
            for key, entity_id, name in connection.execute(_SQL["entities_by_key"], values):
                found[key].setdefault(entity_id, _entity(entity_id, name))
            return {key: [*entities.values()] for key, entities in found.items()}

        return await self._readers.read(work)

    async def entity(self, scope: GraphScope, entity_id: str, now: datetime) -> Entity | None:
        values = _values(scope, now) | {"id": entity_id}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["entity"], values))
        return _entity(*rows[0]) if rows else None

    async def similar_entities(
        self, scope: GraphScope, words: Collection[str], limit: int, now: datetime
    ) -> Sequence[Entity]:
        values = _values(scope, now)

        def work(connection: Connection) -> Sequence[Entity]:
            shared: Counter[int] = Counter()
            for word in words:
                parameters = {"word": word, "graph": scope.graph_id, "limit": MAX_NAMES_PER_WORD}
                rows = connection.execute(_SQL["entity_seqs_with_word"], parameters)
                if len(rows) < MAX_NAMES_PER_WORD:
                    shared.update(seq for (seq,) in rows)
            best = json_text([seq for seq, _ in shared.most_common(4 * limit)])
            rows = connection.execute(_SQL["entities_by_seq"], values | {"seqs": best})
            few = connection.execute(_SQL["some_entities"], values | {"limit": limit + 1})
            rows += few if len(few) <= limit else []
            ranked = sorted(rows, key=lambda row: (-shared[row[0]], len(row[2]), row[0]))
            return [*{entity_id: _entity(entity_id, name) for _, entity_id, name in ranked}.values()][:limit]

        return await self._readers.read(work)

    async def add_alias(
        self, scope: GraphScope, entity_id: str, alias: str, keys: Sequence[str], words: Sequence[str], now: datetime
    ) -> bool:
        values = _values(scope, now) | {"id": entity_id}

        def work(connection: Connection) -> bool:
            rows: list[tuple[int]] = connection.execute(_SQL["entity_seqs"], values)
            for (seq,) in rows:
                _add_names(connection, seq, scope.graph_id, keys, words, alias)
            return bool(rows)

        return await self._writer.write(work)

    async def aliases(self, scope: GraphScope, entity_id: str) -> Sequence[str]:
        values = {"graph": scope.graph_id, "project": scope.project_id, "id": entity_id}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["aliases"], values))
        return [alias for (alias,) in rows]

    # -- triples -----------------------------------------------------------------------------------

    async def store_triples(
        self,
        triples: Sequence[Triple],
        entities: Sequence[IndexedEntity],
        *,
        replace: bool,
        allowance: StorageQuota | None = None,
    ) -> Sequence[StoredTriple]:
        indexed = {one.entity.id: one for one in entities}

        def work(connection: Connection) -> Sequence[StoredTriple]:
            for project_id in {triple.project_id for triple in triples}:
                require_project(connection, project_id)
            stored = [_store_triple(connection, triple, indexed, replace=replace) for triple in triples]
            for graph_id, project_id in {
                (one.triple.graph_id, one.triple.project_id) for one in stored if one.outcome is not WriteOutcome.KNOWN
            }:
                connection.execute(_SQL["increment_generation"], {"graph": graph_id, "project_id": project_id})
            if allowance is not None:
                own: int = connection.value(_SQL["count_of_client"], {"client": allowance.client})
                allowance.check_count(own, "triples")
            return stored

        return await self._writer.write(work)

    async def triple(self, scope: GraphScope, triple_id: str, now: datetime) -> Triple | None:
        found = await self.triples(scope, [triple_id], now)
        return found[0] if found else None

    async def triples(self, scope: GraphScope, triple_ids: Collection[str], now: datetime) -> Sequence[Triple]:
        values = _values(scope, now) | {"ids": json_text([*triple_ids])}

        def work(connection: Connection) -> Sequence[Triple]:
            stored = [_triple_from(row) for row in connection.execute(_SQL["triples_by_ids"], values)]
            inferred = _inferred_from(connection, connection.execute(_SQL["inferred_by_ids"], values))
            found = {one.id: one for one in (*stored, *inferred)}
            return [found[triple_id] for triple_id in triple_ids if triple_id in found]

        return await self._readers.read(work)

    async def relationships(
        self, scope: GraphScope, entity_id: str, limit: int, now: datetime, *, min_confidence: float = 0.0
    ) -> Relationships:
        values = _values(scope, now) | {"id": entity_id, "limit": limit, "min_confidence": min_confidence}

        def triples_of(connection: Connection, stored_query: str, inferred_query: str) -> Sequence[Triple]:
            stored = [_triple_from(row) for row in connection.execute(stored_query, values)]
            inferred = _inferred_from(connection, connection.execute(inferred_query, values))
            return [*stored, *inferred][:limit]

        def work(connection: Connection) -> Relationships:
            return Relationships(
                triples_of(connection, _SQL["outgoing"], _SQL["inferred_outgoing"]),
                triples_of(connection, _SQL["incoming"], _SQL["inferred_incoming"]),
                connection.value(_SQL["count_outgoing"], values),
                connection.value(_SQL["count_incoming"], values),
            )

        return await self._readers.read(work)

    async def search(
        self, scope: GraphScope, text: str, min_confidence: float, limit: int, now: datetime
    ) -> tuple[Sequence[Triple], int]:
        values = _values(scope, now) | {
            "key": text,
            "predicate": text.replace("-", "_"),
            "min_confidence": min_confidence,
        }

        def work(connection: Connection) -> tuple[Sequence[Triple], int]:
            rows = connection.execute(_SQL["search"], values | {"limit": limit})
            return [_triple_from(row) for row in rows], connection.value(_SQL["count_search"], values)

        return await self._readers.read(work)

    async def match(
        self, scope: GraphScope, patterns: Sequence[TriplePattern], limit: int, now: datetime
    ) -> TripleMatches:
        values = _values(scope, now)

        def work(connection: Connection) -> TripleMatches:
            subjects: list[str] | None = None
            complete = True
            for pattern in sorted(patterns, key=_selectivity):
                parameters = values | {
                    "subject": pattern.subject,
                    "predicate": pattern.predicate,
                    "object": pattern.object,
                    "limit": MAX_SUBJECTS + 1,
                }
                if subjects is None:
                    rows = connection.execute(_query_for(pattern), parameters)
                    complete = len(rows) <= MAX_SUBJECTS
                else:
                    rows = connection.execute(_SQL["filter_subjects"], parameters | {"among": json_text(subjects)})
                subjects = [subject for (subject,) in rows[:MAX_SUBJECTS]]
            subject_values = values | {"ids": json_text(subjects or [])}
            rows = connection.execute(_SQL["triples_of_subjects"], subject_values | {"limit": limit})
            total: int = connection.value(_SQL["count_triples_of_subjects"], subject_values)
            return TripleMatches(subjects or [], [_triple_from(row) for row in rows], total, complete)

        return await self._readers.read(work)

    async def read_graph(self, scope: GraphScope, work: Callable[[GraphReader], T], now: datetime) -> T:
        return await self._readers.read(lambda connection: work(_SqliteGraphReader(connection, scope, now)))

    # -- forgetting --------------------------------------------------------------------------------

    async def forget_triple(self, scope: GraphScope, triple_id: str) -> DeletedTriples:
        return await self._forget(scope, _SQL["triple_for_deletion"], triple_id)

    async def forget_entity(self, scope: GraphScope, entity_id: str) -> DeletedTriples:
        return await self._forget(scope, _SQL["triples_of_entity"], entity_id)

    async def _forget(self, scope: GraphScope, query: str, id_: str) -> DeletedTriples:
        values = {"graph": scope.graph_id, "project": scope.project_id, "id": id_}

        def work(connection: Connection) -> DeletedTriples:
            rows = connection.execute(query, values)
            deleted = _delete(connection, [(seq, scope.graph_id, *others) for seq, _, *others in rows])
            return DeletedTriples([triple_id for _, triple_id, *_ in rows], deleted)

        return await self._writer.erase(work)

    async def forget_expired(self, now: datetime) -> int:
        values = {"now": microseconds(now), "limit": DELETE_BATCH_SIZE}

        def work(connection: Connection) -> int:
            rows = connection.execute(_SQL["expired_triples"], values)
            _delete(connection, rows)
            return len(rows)

        erased = 0
        if not await self._readers.read(
            lambda connection: connection.execute(_SQL["expired_triples"], values | {"limit": 1})
        ):
            return erased  # do not take the write lock for nothing
        while count := await self._writer.erase(work):
            erased += count
        return erased

    # -- inference ---------------------------------------------------------------------------------

    async def state(self, scope: GraphScope, now: datetime) -> GraphState:
        values = _values(scope, now)

        def work(connection: Connection) -> GraphState:
            ((entities, triples, inferred),) = connection.execute(_SQL["counts"], values)
            rows = connection.execute(_SQL["state"], {"graph": scope.graph_id, "project": scope.project_id})
            own, shared, at, problem = rows[0] if rows else (None, 0, None, None)
            return GraphState(
                entities,
                triples,
                inferred,
                _generation(connection, scope),
                None if own is None else GraphGeneration(own, shared),
                optional_moment(at),
                problem,
            )

        return await self._readers.read(work)

    async def outdated_graphs(self) -> Sequence[GraphScope]:
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["outdated_graphs"]))
        return [GraphScope(project_id, graph_id) for graph_id, project_id in rows]

    async def replace_inferred(
        self,
        scope: GraphScope,
        generation: GraphGeneration,
        inferences: Sequence[Inference],
        problem: str | None,
        now: datetime,
    ) -> bool:
        graph = {"graph": scope.graph_id, "project": scope.project_id}

        def work(connection: Connection) -> bool:
            if _generation(connection, scope) != generation:
                return False
            connection.execute(_SQL["delete_inferred"], graph)
            for one in inferences:
                rests_on = json_text([*one.rests_on])
                values = graph | {
                    "id": new_id("tri"),
                    "subject": one.subject,
                    "predicate": one.predicate,
                    "object": one.object,
                    "confidence": one.confidence,
                    "source": one.source,
                    "rests_on": rests_on,
                    "now": microseconds(now),
                }
                seq = connection.insert(_SQL["add_inferred"], values)
                connection.execute(_SQL["add_premises"], {"seq": seq, "rests_on": rests_on})
            state = {"own": generation.own, "shared": generation.shared, "now": microseconds(now), "problem": problem}
            connection.execute(_SQL["set_inference_state"], graph | state)
            return True

        return await self._writer.write(work)


class _SqliteGraphReader:
    """Implements `GraphReader`; valid as long as the snapshot of the connection."""

    def __init__(self, connection: Connection, scope: GraphScope, now: datetime) -> None:
        self._connection = connection
        self._values = _values(scope, now)
        self.generation = _generation(connection, scope)

    def edges_from(
        self,
        entity_ids: Collection[str],
        predicates: Collection[str] | None,
        direction: Direction,
        *,
        min_confidence: float,
        limit: int,
    ) -> Sequence[GraphEdge]:
        values = self._values | {"ids": json_text([*entity_ids]), "min_confidence": min_confidence, "limit": limit}
        forward, query = direction == "forward", _SQL["edges_from"]
        if predicates is not None:
            values["predicates"] = json_text([*predicates])
            query = _SQL["edges_from_with_predicates"] if forward else _SQL["edges_to_with_predicates"]
        elif not forward:
            query = _SQL["edges_to"]
        return [GraphEdge(*row) for row in self._connection.execute(query, values)]

    def edges_with(self, predicates: Collection[str], *, min_confidence: float, limit: int) -> Sequence[GraphEdge]:
        values = self._values | {
            "predicates": json_text([*predicates]),
            "min_confidence": min_confidence,
            "limit": limit,
        }
        return [GraphEdge(*row) for row in self._connection.execute(_SQL["edges_with_predicates"], values)]

    def in_project(self, triple_ids: Collection[str]) -> frozenset[str]:
        values = {"ids": json_text([*triple_ids]), "project": self._values["project"]}
        return frozenset(triple_id for (triple_id,) in self._connection.execute(_SQL["ids_in_project"], values))


def _values(scope: GraphScope, now: datetime) -> dict[str, Any]:
    return {"graph": scope.graph_id, "project": scope.project_id, "now": microseconds(now)}


def _generation(connection: Connection, scope: GraphScope) -> GraphGeneration:
    rows = connection.execute(_SQL["generation"], {"graph": scope.graph_id, "project": scope.project_id})
    return GraphGeneration(*rows[0])


def _selectivity(pattern: TriplePattern) -> int:
    """Return the sort rank of a pattern: patterns that match the fewest subjects first."""
    if pattern.subject is not None:
        return 0
    if pattern.object is not None:
        return 1
    return 2 if pattern.predicate is not None else 3


def _query_for(pattern: TriplePattern) -> str:
    by_selectivity = (_SQL["match_by_subject"], _SQL["match_by_object"], _SQL["match_by_predicate"], _SQL["match_any"])
    return by_selectivity[_selectivity(pattern)]


def _store_triple(
    connection: Connection, triple: Triple, indexed: Mapping[str, IndexedEntity], *, replace: bool
) -> StoredTriple:
    values: dict[str, Any] = {
        "id": triple.id,
        "project_id": triple.project_id,
        "graph": triple.graph_id,
        "subject": triple.subject.id,
        "predicate": triple.predicate,
        "object": triple.object.id,
        "confidence": triple.confidence,
        "source": triple.source,
        "ttl": triple.ttl,
        "context": triple.context,
        "metadata": json_text(dict(triple.metadata)),
        "client": triple.client or "",
        "created_at": microseconds(triple.created_at),
        "updated_at": microseconds(triple.updated_at),
        "expires_at": optional_microseconds(triple.expires_at),
    }
    rows = connection.execute(_SQL["same_relation"], values)
    if rows:
        seq, known = rows[0][0], _triple_from(rows[0])
        if known.expires_at is not None and known.expires_at <= triple.updated_at:
            connection.execute(_SQL["delete_triple"], {"seq": seq})  # an expired triple does not count as known
        elif not replace:
            return StoredTriple(known, WriteOutcome.KNOWN)
        else:
            connection.execute(_SQL["update_triple"], values | {"seq": seq})
            changed = with_changes(
                triple,
                id=known.id,
                subject=known.subject,
                object=known.object,
                context=known.context if triple.context is None else triple.context,
                client=known.client,
                created_at=known.created_at,
            )
            return StoredTriple(changed, WriteOutcome.REPLACED)
    for entity in (triple.subject, triple.object):
        one = indexed[entity.id]
        parameters = values | {"id": entity.id, "name": entity.name, "now": values["created_at"]}
        for (seq,) in connection.execute(_SQL["add_entity"], parameters):
            _add_names(connection, seq, triple.graph_id, one.keys, one.words, None)
    connection.execute(_SQL["add_triple"], values)
    return StoredTriple(triple, WriteOutcome.ADDED)


def _add_names(
    connection: Connection, seq: int, graph_id: str, keys: Sequence[str], words: Sequence[str], alias: str | None
) -> None:
    graph = {"seq": seq, "graph": graph_id, "alias": alias}
    connection.execute_each(_SQL["add_name"], [graph | {"key": key} for key in keys])
    connection.execute_each(_SQL["add_word"], [{"seq": seq, "graph": graph_id, "word": word} for word in words])


def _delete(connection: Connection, rows: Sequence[Sequence[Any]]) -> Sequence[str]:
    """Delete triples, given as (seq, graph, project, subject, object); return ids of the entities deleted with them."""
    touched: dict[tuple[str, str | None], dict[str, None]] = defaultdict(dict)
    for seq, graph_id, project_id, subject, object_ in rows:
        connection.execute(_SQL["delete_triple"], {"seq": seq})
        touched[graph_id, project_id] |= {subject: None, object_: None}
    deleted: dict[str, None] = {}
    for (graph_id, project_id), ids in touched.items():
        graph = {"graph": graph_id, "project_id": project_id}
        unused = connection.execute(_SQL["delete_unused_entities"], graph | {"ids": json_text([*ids])})
        deleted |= {entity_id: None for (entity_id,) in unused}
        connection.execute(_SQL["increment_generation"], graph)
    return [*deleted]


def _entity(entity_id: str, name: str | None) -> Entity:
    """Return an entity; the name of one whose row is damaged is its id."""
    return Entity(id=entity_id, type=entity_id.partition(":")[0], name=name or entity_id)


def _inferred_from(connection: Connection, rows: Sequence[Sequence[Any]]) -> list[Triple]:
    premises: dict[int, list[str]] = defaultdict(list)
    for seq, triple_id in connection.execute(_SQL["premises"], {"seqs": json_text([row[0] for row in rows])}):
        premises[seq].append(triple_id)
    return [with_changes(_triple_from(row), rests_on=tuple(premises[row[0]])) for row in rows]


def _triple_from(row: Sequence[Any]) -> Triple:
    """Read a triple from a row of the query fragment `columns`."""
    (
        _,
        triple_id,
        project_id,
        graph_id,
        subject_id,
        subject_name,
        predicate,
        object_id,
        object_name,
        confidence,
        source,
        ttl,
        context,
        metadata,
        client,
        created_at,
        updated_at,
        expires_at,
    ) = row
    return Triple(
        id=triple_id,
        project_id=project_id,
        graph_id=graph_id,
        subject=_entity(subject_id, subject_name),
        predicate=predicate,
        object=_entity(object_id, object_name),
        confidence=confidence,
        source=source,
        ttl=ttl,
        context=context,
        metadata=json_value(metadata),
        client=client or None,
        created_at=moment(created_at),
        updated_at=moment(updated_at),
        expires_at=optional_moment(expires_at),
    )
