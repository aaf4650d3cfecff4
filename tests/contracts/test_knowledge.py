"""Store contract: the knowledge graph. Numbers are rows of the feature table."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import NotFound, QuotaExceeded
from scrubjay.core.policies import StorageQuota
from scrubjay.features.knowledge.models import (
    GraphEdge,
    GraphGeneration,
    GraphScope,
    Inference,
    StoredTriple,
    Triple,
    TriplePattern,
    WriteOutcome,
)
from scrubjay.features.knowledge.names import index_words, indexed_entity, name_keys, new_entity
from scrubjay.features.knowledge.store import GraphReader
from tests.contracts.samples import NOW

ALL = GraphScope()
LATER = NOW + timedelta(hours=1)


def triple(text: str, name: str = "", **fields: Any) -> Triple:
    """Return a triple from a text such as `ann reports_to bob`."""
    subject, predicate, object_ = text.split()
    plain: dict[str, Any] = {
        "id": f"tri_{name or text.replace(' ', '_')}",
        "subject": new_entity(subject),
        "predicate": predicate,
        "object": new_entity(object_),
        "source": "test",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Triple(**(plain | fields))


async def store_triples(store: Store, *triples: Triple, replace: bool = False, **more: Any) -> Sequence[StoredTriple]:
    entities = [indexed_entity(end) for one in triples for end in (one.subject, one.object)]
    return await store.knowledge.store_triples(triples, entities, replace=replace, **more)


async def edges_of(store: Store, scope: GraphScope = ALL, *starts: str) -> list[GraphEdge]:
    def work(edges: GraphReader) -> list[GraphEdge]:
        return [*edges.edges_from([*starts], None, "forward", min_confidence=0.0, limit=100)]

    return await store.knowledge.read_graph(scope, work, NOW)


async def test_086_a_triple_is_stored_completely_and_visible_to_other_processes(store: Store, other: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    complete = triple(
        "ann reports_to bob",
        project_id=project.id,
        graph_id="people",
        confidence=0.75,
        ttl=60,
        context="at lunch",
        metadata={"a": [1, None]},
        client="ada",
        expires_at=NOW + timedelta(seconds=60),
    )
    assert await store_triples(store, complete) == [StoredTriple(complete, WriteOutcome.ADDED)]
    scope = GraphScope(project.id, "people")
    assert await other.knowledge.triple(scope, complete.id, NOW) == complete
    for elsewhere in (ALL, GraphScope(project.id), GraphScope(None, "people")):
        assert await other.knowledge.triple(elsewhere, complete.id, NOW) is None
        assert await other.knowledge.entities_by_key(elsewhere, ["ann"], NOW) == {}
        assert await edges_of(other, elsewhere, "entity:ann") == []
        assert (await other.knowledge.match(elsewhere, [TriplePattern()], 10, NOW)).subjects == []
        assert await other.knowledge.search(elsewhere, "ann", 0, 10, NOW) == ([], 0)
        assert (await other.knowledge.relationships(elsewhere, "entity:ann", 10, NOW)).outgoing == []
        assert (await other.knowledge.forget_triple(elsewhere, complete.id)).triples == []
    with pytest.raises(NotFound):
        await store_triples(store, triple("a b c", project_id="prj_none"))


async def test_086_a_known_relation_is_replaced_or_left_and_never_stored_twice(store: Store) -> None:
    first = triple("ann knows bob", context="once", client="ada")
    await store_triples(store, first)
    again = triple("ann knows bob", "2", confidence=0.5, source="later", metadata={"n": 2}, updated_at=LATER)
    assert await store_triples(store, again) == [StoredTriple(first, WriteOutcome.KNOWN)]
    ((changed, keeping),) = [(one.triple, one.outcome) for one in await store_triples(store, again, replace=True)]
    assert (changed.id, changed.confidence, changed.source, changed.metadata) == (first.id, 0.5, "later", {"n": 2})
    assert (changed.context, changed.client, changed.created_at, changed.updated_at) == ("once", "ada", NOW, LATER)
    assert keeping is WriteOutcome.REPLACED
    assert await store.knowledge.triple(ALL, first.id, NOW) == changed
    other_graph = triple("ann knows bob", "3", graph_id="other")
    assert [one.outcome for one in await store_triples(store, other_graph)] == [WriteOutcome.ADDED]
    assert [edge.triple_id for edge in await edges_of(store, ALL, "entity:ann")] == [first.id]


async def test_086_a_batch_of_triples_is_stored_atomically(store: Store) -> None:
    too_many = [triple("a r b", client="ada"), triple("a r c", client="ada")]
    with pytest.raises(QuotaExceeded):
        await store_triples(store, *too_many, allowance=StorageQuota("ada", 1))
    assert await edges_of(store, ALL, "entity:a") == []
    assert await store.knowledge.entities_by_key(ALL, ["a", "b"], NOW) == {}


async def test_086_expired_triples_are_invisible_and_can_be_erased(store: Store) -> None:
    brief = triple("ann knows bob", ttl=60, expires_at=NOW + timedelta(seconds=60))
    await store_triples(store, brief, triple("bob knows carol"))
    generation = (await store.knowledge.state(ALL, NOW)).generation
    follows = Inference(
        subject="entity:bob",
        predicate="known_by",
        object="entity:ann",
        confidence=1.0,
        source="inference:test",
        rests_on=[brief.id],
    )
    assert await store.knowledge.replace_inferred(ALL, generation, [follows], None, NOW)
    at = NOW + timedelta(seconds=60)
    before = NOW + timedelta(seconds=59)
    for now, visible in ((before, 1), (at, 0)):
        assert len(await store.knowledge.entities_by_key(ALL, ["ann"], now)) == visible
        assert ((await store.knowledge.entity(ALL, "entity:ann", now)) is not None) == bool(visible)
        assert len(await store.knowledge.triples(ALL, [brief.id], now)) == visible
        known = await store.knowledge.relationships(ALL, "entity:bob", 10, now)
        assert (len(known.incoming), known.incoming_total) == (visible, visible)
        assert [one.predicate for one in known.outgoing] == ["knows", "known_by"][: 1 + visible]
        assert (await store.knowledge.search(ALL, "ann", 0, 10, now))[1] == visible
        assert (
            len((await store.knowledge.match(ALL, [TriplePattern(object="entity:bob")], 10, now)).subjects) == visible
        )
        state = await store.knowledge.state(ALL, now)
        assert (state.triples, state.inferred, state.entities) == (1 + visible, visible, 2 + visible)
        assert len(await store.knowledge.similar_entities(ALL, index_words("Ann"), 10, now)) == 2 + visible
    again = triple("ann knows bob", "again", created_at=at, updated_at=at)
    assert [one.triple.id for one in await store_triples(store, again)] == ["tri_again"], (
        "an expired triple does not count as known"
    )
    await store_triples(store, triple("dan knows eve", ttl=1, expires_at=NOW + timedelta(seconds=1)))
    assert await store.knowledge.forget_expired(NOW) == 0
    assert await store.knowledge.forget_expired(at) == 1
    assert await store.knowledge.entity(ALL, "entity:dan", NOW) is None
    assert (await store.check()).problems == []


async def test_087_entities_are_found_by_their_names_and_by_words_they_share(store: Store) -> None:
    await store_triples(store, triple("AuthService uses postgres"), triple("auth-gateway uses node_1"))
    found = await store.knowledge.entities_by_key(ALL, ["auth-service", "authservice", "nothing"], NOW)
    assert {key: [one.name for one in entities] for key, entities in found.items()} == {
        "auth-service": ["AuthService"],
        "authservice": ["AuthService"],
    }
    alike = await store.knowledge.similar_entities(ALL, index_words("auth gateways"), 10, NOW)
    assert alike[0].name == "auth-gateway"
    assert {one.name for one in alike} == {"auth-gateway", "AuthService", "postgres", "node_1"}
    assert [one.name for one in await store.knowledge.similar_entities(ALL, index_words("postgresql"), 1, NOW)] == [
        "postgres"
    ]
    assert await store.knowledge.add_alias(ALL, "entity:postgres", "PG", name_keys("PG"), index_words("PG"), NOW)
    assert not await store.knowledge.add_alias(ALL, "entity:none", "x", ["x"], ["x"], NOW)
    assert await store.knowledge.aliases(ALL, "entity:postgres") == ["PG"]
    assert [one.id for one in (await store.knowledge.entities_by_key(ALL, ["pg"], NOW))["pg"]] == ["entity:postgres"]


async def test_086_a_project_sees_its_own_and_global_triples_as_one_graph(store: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    await store_triples(store, triple("ann reports_to bob"))
    await store_triples(store, triple("ann manages dan", project_id=project.id))
    scope = GraphScope(project.id)
    assert {edge.object for edge in await edges_of(store, scope, "entity:ann")} == {"entity:bob", "entity:dan"}
    assert {edge.object for edge in await edges_of(store, ALL, "entity:ann")} == {"entity:bob"}
    assert [one.id for one in (await store.knowledge.entities_by_key(scope, ["ann"], NOW))["ann"]] == ["entity:ann"]
    state = await store.knowledge.state(scope, NOW)
    assert (state.entities, state.triples) == (3, 2)

    def own(edges: GraphReader) -> frozenset[str]:
        return edges.in_project(["tri_ann_reports_to_bob", "tri_ann_manages_dan"])

    assert await store.knowledge.read_graph(scope, own, NOW) == {"tri_ann_manages_dan"}


async def test_088_edges_are_followed_in_both_directions_by_predicate_confidence_and_limit(store: Store) -> None:
    await store_triples(store, triple("a r b"), triple("a r c", confidence=0.5), triple("a s b"), triple("c r b"))

    def work(edges: GraphReader) -> list[list[str]]:
        return [
            sorted(
                edge.object for edge in edges.edges_from(["entity:a"], ["r"], "forward", min_confidence=0.5, limit=9)
            ),
            [edge.object for edge in edges.edges_from(["entity:a"], ["r"], "forward", min_confidence=0.51, limit=9)],
            sorted(
                edge.subject
                for edge in edges.edges_from(["entity:b"], ["r", "s"], "backward", min_confidence=0, limit=9)
            ),
            sorted(
                edge.subject for edge in edges.edges_from(["entity:b"], None, "backward", min_confidence=0, limit=9)
            ),
            ["x"] * len(edges.edges_from(["entity:a", "entity:c"], None, "forward", min_confidence=0, limit=2)),
            [edge.subject for edge in edges.edges_with(["r"], min_confidence=0.6, limit=9)],
            ["x"] * len(edges.edges_with(["r", "s"], min_confidence=0, limit=3)),
        ]

    assert await store.knowledge.read_graph(ALL, work, NOW) == [
        ["entity:b", "entity:c"],
        ["entity:b"],
        ["entity:a", "entity:a", "entity:c"],
        ["entity:a", "entity:a", "entity:c"],
        ["x", "x"],
        ["entity:a", "entity:c"],
        ["x", "x", "x"],
    ]


async def test_088_subjects_must_match_all_patterns(store: Store) -> None:
    await store_triples(store, triple("a uses x"), triple("a owns y"), triple("b uses x"), triple("c owns y"))
    uses, owns = TriplePattern(predicate="uses", object="entity:x"), TriplePattern(predicate="owns")
    both = await store.knowledge.match(ALL, [owns, uses], 10, NOW)
    assert (both.subjects, both.total, both.complete) == (["entity:a"], 2, True)
    assert {one.id for one in both.triples} == {"tri_a_uses_x", "tri_a_owns_y"}
    assert (await store.knowledge.match(ALL, [uses], 1, NOW)).total == 3
    anything = await store.knowledge.match(ALL, [TriplePattern()], 10, NOW)
    assert sorted(anything.subjects) == ["entity:a", "entity:b", "entity:c"]
    of_c = TriplePattern(subject="entity:c", predicate="owns", object="entity:y")
    assert (await store.knowledge.match(ALL, [of_c, owns], 10, NOW)).subjects == ["entity:c"]
    assert (await store.knowledge.match(ALL, [of_c, uses], 10, NOW)).subjects == []


async def test_086_triples_are_found_by_a_part_of_a_name_or_predicate(store: Store) -> None:
    await store_triples(store, triple("PostgreSQL runs_on db-host"), triple("ann likes tea", confidence=0.4))
    for text, count in {"gresq": 1, "db-ho": 1, "runs-on": 1, "tea": 0, "%": 0, "like": 0}.items():
        triples, total = await store.knowledge.search(ALL, text, 0.5, 10, NOW)
        assert (len(triples), total) == (count, count), text
    assert (await store.knowledge.search(ALL, "tea", 0.4, 10, NOW))[1] == 1


async def test_086_forgetting_a_triple_deletes_entities_that_no_other_triple_names(store: Store) -> None:
    await store_triples(store, triple("a r b"), triple("b r c"))
    forgotten = await store.knowledge.forget_triple(ALL, "tri_a_r_b")
    assert (forgotten.triples, forgotten.entities) == (["tri_a_r_b"], ["entity:a"])
    assert await store.knowledge.entity(ALL, "entity:b", NOW) is not None
    forgotten = await store.knowledge.forget_entity(ALL, "entity:c")
    assert (forgotten.triples, sorted(forgotten.entities)) == (["tri_b_r_c"], ["entity:b", "entity:c"])
    assert (await store.knowledge.forget_entity(ALL, "entity:c")).triples == []
    state = await store.knowledge.state(ALL, NOW)
    assert (state.entities, state.triples) == (0, 0)


def inference(rests_on: str, text: str = "b r a") -> Inference:
    subject, predicate, object_ = text.split()
    return Inference(
        subject=f"entity:{subject}",
        predicate=predicate,
        object=f"entity:{object_}",
        confidence=0.9,
        source="inference:symmetric:x",
        rests_on=[rests_on],
    )


@pytest.mark.parametrize("how", ["forgotten", "changed", "entity forgotten"])
async def test_089_inferred_triples_are_deleted_when_a_premise_is_deleted_or_changed(
    store: Store, other: Store, how: str
) -> None:
    await store_triples(store, triple("a r b"), triple("c r d"))
    generation = (await store.knowledge.state(ALL, NOW)).generation
    both = [inference("tri_a_r_b"), inference("tri_c_r_d", "d r c")]
    assert await store.knowledge.replace_inferred(ALL, generation, both, "not all", NOW)
    (known,) = (await other.knowledge.relationships(ALL, "entity:a", 10, NOW)).incoming
    assert (known.rests_on, known.inferred, known.source) == (("tri_a_r_b",), True, "inference:symmetric:x")
    assert (known.subject.name, known.object.name) == ("b", "a")
    assert await other.knowledge.triple(ALL, known.id, NOW) == known
    state = await other.knowledge.state(ALL, NOW)
    assert (state.inferred, state.up_to_date, state.problem, state.inferred_at) == (2, True, "not all", NOW)
    assert await other.knowledge.outdated_graphs() == []
    match how:
        case "forgotten":
            await store.knowledge.forget_triple(ALL, "tri_a_r_b")
        case "changed":
            await store_triples(store, triple("a r b", confidence=0.1), replace=True)
        case _:
            await store.knowledge.forget_entity(ALL, "entity:a")
    assert await other.knowledge.triple(ALL, known.id, NOW) is None
    state = await other.knowledge.state(ALL, NOW)
    assert (state.inferred, state.up_to_date) == (1, False)
    assert await other.knowledge.outdated_graphs() == [ALL]
    assert (await store.check()).problems == []


async def test_089_inferences_from_an_outdated_state_are_not_stored(store: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    scope = GraphScope(project.id)
    await store_triples(store, triple("a r b"), triple("b r c", project_id=project.id))
    generation = (await store.knowledge.state(scope, NOW)).generation
    assert generation == GraphGeneration(1, 1)
    await store_triples(store, triple("x r y"))
    assert not await store.knowledge.replace_inferred(scope, generation, [inference("tri_a_r_b")], None, NOW)
    assert (await store.knowledge.state(scope, NOW)).inferred == 0
    assert {*await store.knowledge.outdated_graphs()} == {ALL, scope}
    fresh = (await store.knowledge.state(scope, NOW)).generation
    assert await store.knowledge.replace_inferred(scope, fresh, [inference("tri_a_r_b")], None, NOW)
    assert await store.knowledge.outdated_graphs() == [ALL], "only the global graph is outdated"
    assert (await store.knowledge.state(ALL, NOW)).inferred == 0, "a project's inferences are its own"
