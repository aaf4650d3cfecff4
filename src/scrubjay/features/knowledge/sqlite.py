"""How things are related, in SQLite."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace as with_changes
from datetime import datetime
from typing import Any, TypeVar

from scrubjay.core.ids import new_id
from scrubjay.core.policies import Allowance
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import (
    json_text,
    json_value,
    microseconds,
    moment,
    optional_microseconds,
    optional_moment,
)
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.knowledge.models import (
    Direction,
    Edge,
    Entity,
    Generation,
    GraphScope,
    GraphState,
    Inference,
    Keeping,
    Kept,
    Matched,
    NamedEntity,
    Pattern,
    Relationships,
    Triple,
)
from scrubjay.features.knowledge.store import Edges, Forgotten
from scrubjay.features.projects.rows import refuse_unknown_project

T = TypeVar("T")

_SQL = load_queries(__file__)
# A word that so many names have tells none of them apart.
COMMON_WORD = 2_000
# So many subjects of one pattern are held against the next.
MOST_SUBJECTS = 20_000
# So many expired triples are erased at once, so that nobody waits long for the writer.
ERASED_AT_ONCE = 1_000


class SqliteKnowledge:
    """Satisfies `storage.knowledge.KnowledgeStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    # -- entities ----------------------------------------------------------------------------------

    async def named(self, scope: GraphScope, keys: Collection[str], now: datetime) -> Mapping[str, Sequence[Entity]]:
        values = _values(scope, now) | {"keys": json_text([*keys])}

        def work(connection: Connection) -> Mapping[str, Sequence[Entity]]:
            found: dict[str, dict[str, Entity]] = defaultdict(dict)
            for key, entity_id, name in connection.execute(_SQL["named"], values):
                found[key].setdefault(entity_id, _entity(entity_id, name))
            return {key: [*entities.values()] for key, entities in found.items()}

        return await self._readers.read(work)

    async def entity(self, scope: GraphScope, entity_id: str, now: datetime) -> Entity | None:
        values = _values(scope, now) | {"id": entity_id}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["entity"], values))
        return _entity(*rows[0]) if rows else None

    async def alike(self, scope: GraphScope, words: Collection[str], limit: int, now: datetime) -> Sequence[Entity]:
        values = _values(scope, now)

        def work(connection: Connection) -> Sequence[Entity]:
            shared: Counter[int] = Counter()
            for word in words:
                asked = {"word": word, "graph": scope.graph_id, "limit": COMMON_WORD}
                rows = connection.execute(_SQL["with_word"], asked)
                if len(rows) < COMMON_WORD:
                    shared.update(seq for (seq,) in rows)
            best = json_text([seq for seq, _ in shared.most_common(4 * limit)])
            rows = connection.execute(_SQL["chosen"], values | {"seqs": best})
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
            places: list[tuple[int]] = connection.execute(_SQL["places_of"], values)
            for (seq,) in places:
                _call(connection, seq, scope.graph_id, keys, words, alias)
            return bool(places)

        return await self._writer.write(work)

    async def aliases(self, scope: GraphScope, entity_id: str) -> Sequence[str]:
        values = {"graph": scope.graph_id, "project": scope.project_id, "id": entity_id}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["aliases"], values))
        return [alias for (alias,) in rows]

    # -- triples -----------------------------------------------------------------------------------

    async def keep(
        self,
        triples: Sequence[Triple],
        entities: Sequence[NamedEntity],
        *,
        replace: bool,
        allowance: Allowance | None = None,
    ) -> Sequence[Kept]:
        named = {one.entity.id: one for one in entities}

        def work(connection: Connection) -> Sequence[Kept]:
            for project_id in {triple.project_id for triple in triples}:
                refuse_unknown_project(connection, project_id)
            kept = [_keep(connection, triple, named, replace=replace) for triple in triples]
            for graph_id, project_id in {
                (one.triple.graph_id, one.triple.project_id) for one in kept if one.keeping is not Keeping.KNOWN
            }:
                connection.execute(_SQL["changed"], {"graph": graph_id, "project_id": project_id})
            if allowance is not None:
                own: int = connection.value(_SQL["of_client"], {"client": allowance.client})
                allowance.refuse_beyond(own, "triples")
            return kept

        return await self._writer.write(work)

    async def triple(self, scope: GraphScope, triple_id: str, now: datetime) -> Triple | None:
        found = await self.triples(scope, [triple_id], now)
        return found[0] if found else None

    async def triples(self, scope: GraphScope, triple_ids: Collection[str], now: datetime) -> Sequence[Triple]:
        values = _values(scope, now) | {"ids": json_text([*triple_ids])}

        def work(connection: Connection) -> Sequence[Triple]:
            stored = [_triple_from(row) for row in connection.execute(_SQL["by_ids"], values)]
            inferred = _inferred_from(connection, connection.execute(_SQL["inferred_by_ids"], values))
            found = {one.id: one for one in (*stored, *inferred)}
            return [found[triple_id] for triple_id in triple_ids if triple_id in found]

        return await self._readers.read(work)

    async def relationships(
        self, scope: GraphScope, entity_id: str, limit: int, now: datetime, *, least: float = 0.0
    ) -> Relationships:
        values = _values(scope, now) | {"id": entity_id, "limit": limit, "least": least}

        def one_way(connection: Connection, stated: str, following: str) -> Sequence[Triple]:
            stored = [_triple_from(row) for row in connection.execute(stated, values)]
            inferred = _inferred_from(connection, connection.execute(following, values))
            return [*stored, *inferred][:limit]

        def work(connection: Connection) -> Relationships:
            return Relationships(
                one_way(connection, _SQL["outgoing"], _SQL["inferred_outgoing"]),
                one_way(connection, _SQL["incoming"], _SQL["inferred_incoming"]),
                connection.value(_SQL["count_outgoing"], values),
                connection.value(_SQL["count_incoming"], values),
            )

        return await self._readers.read(work)

    async def find(
        self, scope: GraphScope, text: str, least: float, limit: int, now: datetime
    ) -> tuple[Sequence[Triple], int]:
        values = _values(scope, now) | {"key": text, "predicate": text.replace("-", "_"), "least": least}

        def work(connection: Connection) -> tuple[Sequence[Triple], int]:
            rows = connection.execute(_SQL["find"], values | {"limit": limit})
            return [_triple_from(row) for row in rows], connection.value(_SQL["count_found"], values)

        return await self._readers.read(work)

    async def match(self, scope: GraphScope, patterns: Sequence[Pattern], limit: int, now: datetime) -> Matched:
        values = _values(scope, now)

        def work(connection: Connection) -> Matched:
            subjects: list[str] | None = None
            complete = True
            for pattern in sorted(patterns, key=_breadth):
                asked = values | {
                    "subject": pattern.subject,
                    "predicate": pattern.predicate,
                    "object": pattern.object,
                    "limit": MOST_SUBJECTS + 1,
                }
                if subjects is None:
                    rows = connection.execute(_query_for(pattern), asked)
                    complete = len(rows) <= MOST_SUBJECTS
                else:
                    rows = connection.execute(_SQL["among"], asked | {"among": json_text(subjects)})
                subjects = [subject for (subject,) in rows[:MOST_SUBJECTS]]
            fitting = values | {"ids": json_text(subjects or [])}
            rows = connection.execute(_SQL["said_of"], fitting | {"limit": limit})
            total: int = connection.value(_SQL["count_said"], fitting)
            return Matched(subjects or [], [_triple_from(row) for row in rows], total, complete)

        return await self._readers.read(work)

    async def walk(self, scope: GraphScope, work: Callable[[Edges], T], now: datetime) -> T:
        return await self._readers.read(lambda connection: work(_Edges(connection, scope, now)))

    # -- forgetting --------------------------------------------------------------------------------

    async def forget_triple(self, scope: GraphScope, triple_id: str) -> Forgotten:
        return await self._forget(scope, _SQL["of_id"], triple_id)

    async def forget_entity(self, scope: GraphScope, entity_id: str) -> Forgotten:
        return await self._forget(scope, _SQL["of_entity"], entity_id)

    async def _forget(self, scope: GraphScope, which: str, named: str) -> Forgotten:
        values = {"graph": scope.graph_id, "project": scope.project_id, "id": named}

        def work(connection: Connection) -> Forgotten:
            rows = connection.execute(which, values)
            gone = _erase(connection, [(seq, scope.graph_id, *others) for seq, _, *others in rows])
            return Forgotten([triple_id for _, triple_id, *_ in rows], gone)

        return await self._writer.erase(work)

    async def forget_expired(self, now: datetime) -> int:
        values = {"now": microseconds(now), "limit": ERASED_AT_ONCE}

        def work(connection: Connection) -> int:
            rows = connection.execute(_SQL["expired"], values)
            _erase(connection, rows)
            return len(rows)

        erased = 0
        if not await self._readers.read(lambda connection: connection.execute(_SQL["expired"], values | {"limit": 1})):
            return erased  # nobody needs the writer for nothing
        while count := await self._writer.erase(work):
            erased += count
        return erased

    # -- what follows ------------------------------------------------------------------------------

    async def state(self, scope: GraphScope, now: datetime) -> GraphState:
        values = _values(scope, now)

        def work(connection: Connection) -> GraphState:
            ((entities, triples, inferred),) = connection.execute(_SQL["counts"], values)
            rows = connection.execute(_SQL["state"], {"graph": scope.graph_id, "project": scope.project_id})
            own, everybody, at, problem = rows[0] if rows else (None, 0, None, None)
            return GraphState(
                entities,
                triples,
                inferred,
                _generation(connection, scope),
                None if own is None else Generation(own, everybody),
                optional_moment(at),
                problem,
            )

        return await self._readers.read(work)

    async def behind(self) -> Sequence[GraphScope]:
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["behind"]))
        return [GraphScope(project_id, graph_id) for graph_id, project_id in rows]

    async def keep_inferred(
        self,
        scope: GraphScope,
        made_of: Generation,
        inferences: Sequence[Inference],
        problem: str | None,
        now: datetime,
    ) -> bool:
        whose = {"graph": scope.graph_id, "project": scope.project_id}

        def work(connection: Connection) -> bool:
            if _generation(connection, scope) != made_of:
                return False
            connection.execute(_SQL["withdraw"], whose)
            for one in inferences:
                rests_on = json_text([*one.rests_on])
                values = whose | {
                    "id": new_id("tri"),
                    "subject": one.subject,
                    "predicate": one.predicate,
                    "object": one.object,
                    "confidence": one.confidence,
                    "source": one.source,
                    "rests_on": rests_on,
                    "now": microseconds(now),
                }
                seq = connection.insert(_SQL["infer"], values)
                connection.execute(_SQL["rest_on"], {"seq": seq, "rests_on": rests_on})
            noted = {"own": made_of.own, "everybody": made_of.everybody, "now": microseconds(now), "problem": problem}
            connection.execute(_SQL["inferred_of"], whose | noted)
            return True

        return await self._writer.write(work)


class _Edges:
    """Satisfies `storage.knowledge.Edges`, as long as the snapshot lasts."""

    def __init__(self, connection: Connection, scope: GraphScope, now: datetime) -> None:
        self._connection = connection
        self._values = _values(scope, now)
        self.generation = _generation(connection, scope)

    def around(
        self,
        entity_ids: Collection[str],
        predicates: Collection[str] | None,
        direction: Direction,
        *,
        least: float,
        limit: int,
    ) -> Sequence[Edge]:
        values = self._values | {"ids": json_text([*entity_ids]), "least": least, "limit": limit}
        forward, query = direction == "forward", _SQL["around_forward"]
        if predicates is not None:
            values["predicates"] = json_text([*predicates])
            query = _SQL["around_forward_by"] if forward else _SQL["around_backward_by"]
        elif not forward:
            query = _SQL["around_backward"]
        return [Edge(*row) for row in self._connection.execute(query, values)]

    def every(self, predicates: Collection[str], *, least: float, limit: int) -> Sequence[Edge]:
        values = self._values | {"predicates": json_text([*predicates]), "least": least, "limit": limit}
        return [Edge(*row) for row in self._connection.execute(_SQL["every"], values)]

    def own(self, triple_ids: Collection[str]) -> frozenset[str]:
        values = {"ids": json_text([*triple_ids]), "project": self._values["project"]}
        return frozenset(triple_id for (triple_id,) in self._connection.execute(_SQL["own"], values))


def _values(scope: GraphScope, now: datetime) -> dict[str, Any]:
    return {"graph": scope.graph_id, "project": scope.project_id, "now": microseconds(now)}


def _generation(connection: Connection, scope: GraphScope) -> Generation:
    rows = connection.execute(_SQL["generation"], {"graph": scope.graph_id, "project": scope.project_id})
    return Generation(*rows[0])


def _breadth(pattern: Pattern) -> int:
    """Those that fit fewest come first."""
    if pattern.subject is not None:
        return 0
    if pattern.object is not None:
        return 1
    return 2 if pattern.predicate is not None else 3


def _query_for(pattern: Pattern) -> str:
    by_breadth = (_SQL["of_subject"], _SQL["of_object"], _SQL["of_predicate"], _SQL["of_anything"])
    return by_breadth[_breadth(pattern)]


def _keep(connection: Connection, triple: Triple, named: Mapping[str, NamedEntity], *, replace: bool) -> Kept:
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
    rows = connection.execute(_SQL["known"], values)
    if rows:
        seq, known = rows[0][0], _triple_from(rows[0])
        if known.expires_at is not None and known.expires_at <= triple.updated_at:
            connection.execute(_SQL["erase"], {"seq": seq})  # what has expired is not known, and this is new
        elif not replace:
            return Kept(known, Keeping.KNOWN)
        else:
            connection.execute(_SQL["replace"], values | {"seq": seq})
            changed = with_changes(
                triple,
                id=known.id,
                subject=known.subject,
                object=known.object,
                context=known.context if triple.context is None else triple.context,
                client=known.client,
                created_at=known.created_at,
            )
            return Kept(changed, Keeping.REPLACED)
    for entity in (triple.subject, triple.object):
        one = named[entity.id]
        asked = values | {"id": entity.id, "name": entity.name, "now": values["created_at"]}
        for (seq,) in connection.execute(_SQL["refresh_entity"], asked):
            _call(connection, seq, triple.graph_id, one.keys, one.words, None)
    connection.execute(_SQL["add"], values)
    return Kept(triple, Keeping.ADDED)


def _call(
    connection: Connection, seq: int, graph_id: str, keys: Sequence[str], words: Sequence[str], alias: str | None
) -> None:
    whose = {"seq": seq, "graph": graph_id, "alias": alias}
    connection.execute_each(_SQL["add_name"], [whose | {"key": key} for key in keys])
    connection.execute_each(_SQL["add_word"], [{"seq": seq, "graph": graph_id, "word": word} for word in words])


def _erase(connection: Connection, rows: Sequence[Sequence[Any]]) -> Sequence[str]:
    """Erase triples, given with graph, project, subject and object; the entities that went with them."""
    touched: dict[tuple[str, str | None], dict[str, None]] = defaultdict(dict)
    for seq, graph_id, project_id, subject, object_ in rows:
        connection.execute(_SQL["erase"], {"seq": seq})
        touched[graph_id, project_id] |= {subject: None, object_: None}
    gone: dict[str, None] = {}
    for (graph_id, project_id), ids in touched.items():
        whose = {"graph": graph_id, "project_id": project_id}
        unnamed = connection.execute(_SQL["erase_unnamed"], whose | {"ids": json_text([*ids])})
        gone |= {entity_id: None for (entity_id,) in unnamed}
        connection.execute(_SQL["changed"], whose)
    return [*gone]


def _entity(entity_id: str, name: str) -> Entity:
    return Entity(id=entity_id, type=entity_id.partition(":")[0], name=name)


def _inferred_from(connection: Connection, rows: Sequence[Sequence[Any]]) -> list[Triple]:
    rests: dict[int, list[str]] = defaultdict(list)
    for seq, triple_id in connection.execute(_SQL["rests"], {"seqs": json_text([row[0] for row in rows])}):
        rests[seq].append(triple_id)
    return [with_changes(_triple_from(row), rests_on=tuple(rests[row[0]])) for row in rows]


def _triple_from(row: Sequence[Any]) -> Triple:
    """The triple in a row of the query fragment `columns` in `knowledge.sql`."""
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
